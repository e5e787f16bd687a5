"""The graph of a fused module: a node for each call of a kernel, with the ops in the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.passes.infra.verify import walk_ops
from xrelay.tools.explore.linked_text import names_of

KERNEL, INPUT, OUTPUT, OP = "kernel", "input", "output", "op"
_DIALECT = "relay."


@dataclass(frozen=True)
class GraphNode:
    """A call of a kernel, an op outside of kernels, an input, or the output of a program."""

    kind: str
    name: str
    nodes: tuple[str, ...] = ()
    """The nodes of the model, and the kernel as `@name`."""
    ops: tuple[str, ...] = ()
    """The operators in the kernel, in order."""


@dataclass
class FusedGraph:
    """Nodes, and edges as triples of two positions in `nodes` and the type of the value."""

    nodes: list[GraphNode] = field(default_factory=list[GraphNode])
    edges: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])


def fused_graph(module: ModuleOp) -> FusedGraph:
    """Returns the graph of the functions of a fused module that call kernels."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks}
    kernels = {name: function for name, function in functions.items() if PRIMITIVE in function.attributes}
    builder = _Builder({name: tuple(_operators(function)) for name, function in kernels.items()})
    for name, function in functions.items():
        if name not in kernels:
            builder.add_function(function)
    return builder.graph


def _operators(kernel: FuncOp) -> Iterable[str]:
    """Yields the operators of a kernel, without its constants."""
    for op in walk_ops(kernel):
        if op.name.startswith(_DIALECT) and not isinstance(op, ConstantOp):
            yield op.name.removeprefix(_DIALECT)


class _Builder:
    """Adds functions to a graph."""

    def __init__(self, kernels: Mapping[str, tuple[str, ...]]):
        self.graph = FusedGraph()
        self._kernels = kernels
        self._makers: dict[SSAValue, int] = {}

    def add_function(self, function: FuncOp) -> None:
        """Adds the inputs, ops and the output of a function. Constants have no node."""
        for argument in function.args:
            self._makers[argument] = self._add(GraphNode(INPUT, argument.name_hint or f"#{argument.index}"))
        for op in walk_ops(function):
            if op is function or isinstance(op, ConstantOp) or (not op.results and not isinstance(op, ReturnOp)):
                continue
            self._add_op(op)

    def _add(self, node: GraphNode) -> int:
        self.graph.nodes.append(node)
        return len(self.graph.nodes) - 1

    def _add_op(self, op: Operation) -> None:
        number = self._add(self._node(op))
        for operand in op.operands:
            maker = self._makers.get(operand)
            if maker is not None:
                self.graph.edges.append((maker, number, str(operand.type)))
        inner = [argument for region in op.regions for block in region.blocks for argument in block.args]
        self._makers.update(dict.fromkeys([*op.results, *inner], number))

    def _node(self, op: Operation) -> GraphNode:
        names = names_of(op.location)
        if isinstance(op, ReturnOp):
            return GraphNode(OUTPUT, "outputs")
        if isinstance(op, CallOp) and (callee := op.callee.string_value()) in self._kernels:
            return GraphNode(KERNEL, callee, (*names, f"@{callee}"), self._kernels[callee])
        name = op.get_attr_or_prop("name")
        label = op.name.removeprefix(_DIALECT)
        return GraphNode(OP, f"{label} {name.data}" if isinstance(name, StringAttr) else label, names)
