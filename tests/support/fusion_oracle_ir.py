"""Builds the forward graph of a function as Relay's visitor does, for `fusion_oracle`.

The function is read as an expression: only values that its results use are visited, in any block. A `relay.let` is a
binding and a variable. The results of branches and of closure bodies are external, as parameters are; a closure itself
is no node. The code is recursive and independent of `xrelay.passes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, OpResult, SSAValue

from support.fusion_oracle import BROADCAST, ELEM_WISE, INJECTIVE, OPAQUE, TUPLE, Node, OracleGraph
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import shape_of

SIMPLE_CONSTANTS = ("i1", "i32", "i64", "f32", "f64")


def unknown_dims(type: Attribute) -> int:
    return sum(not isinstance(dim, int) for dim in shape_of(type)) if isinstance(type, TensorType) else 0


def argument_count(type: Attribute) -> int:
    """The arguments of a kernel for one parameter: itself, and if extents are unknown, these and its strides."""
    unknown = unknown_dims(type)
    return 1 + (unknown + len(shape_of(type)) if unknown else 0)


class OracleBuilder:
    """Visits expressions; `nodes` holds the values reached so far, `order` the nodes in post-DFS order."""

    def __init__(self) -> None:
        self.nodes: dict[SSAValue, Node] = {}
        self.order: list[Node] = []
        self.visited: set[SSAValue] = set()
        self.uses: list[tuple[Node, Node, int]] = []
        self.feeds: list[tuple[Node, SSAValue]] = []

    def build(self, block: Block) -> OracleGraph:
        self.function(block.args, block)
        numbers = {id(node): number for number, node in enumerate(self.order)}
        for producer, consumer, pattern in self.uses:
            if id(producer) in numbers:
                producer.outputs.append((numbers[id(consumer)], pattern))
        for consumer, value in self.feeds:
            node = self.nodes[value]
            if id(node) in numbers and not is_variable(value):
                consumer.arguments.append(numbers[id(node)])
        return self.order

    def update(self, value: SSAValue, consumer: Node | None, pattern: int = OPAQUE) -> None:
        node = self.nodes.setdefault(value, Node(OPAQUE))
        if consumer is None:
            node.extern = True
        else:
            self.uses.append((node, consumer, pattern))

    def function(self, parameters: Sequence[SSAValue], block: Block) -> None:
        for value in parameters:
            self.update(value, None)
        for value in results_of(block):
            self.update(value, None)
        for value in parameters:
            self.visit(value)
        self.visit_block(block)

    def visit_block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, LetOp):
                for value in (op.result, op.value):
                    self.update(value, None)
                for value in (op.result, op.value):
                    self.visit(value)
        for value in results_of(block):
            self.visit(value)

    def visit(self, value: SSAValue) -> None:
        if value in self.visited:
            return
        self.visited.add(value)
        node = self.nodes.setdefault(value, Node(OPAQUE))
        op = value.op if isinstance(value, OpResult) else None
        if isinstance(op, FnOp):
            self.function(op.body.block.args, op.body.block)
            return
        if op is not None and not isinstance(op, LetOp):
            node.label = op
        if op is None or isinstance(op, LetOp):
            node.own = argument_count(value.type)
        elif isinstance(op, ConstantOp):
            scalar = not op.result.type.get_shape() and str(op.result.type.element_type) in SIMPLE_CONSTANTS
            node.pattern = ELEM_WISE if scalar else OPAQUE
        elif isinstance(op, TupleOp):
            node.pattern = TUPLE
            for operand in op.operands:
                self.update(operand, node if isinstance(operand.type, TensorType) else None, INJECTIVE)
            self.takes(node, op.operands)
        elif isinstance(op, TupleGetItemOp):
            type = op.data.type
            of_tensors = isinstance(type, TupleType) and all(isinstance(t, TensorType) for t in type.types)
            node.pattern = INJECTIVE if of_tensors else OPAQUE
            self.update(op.data, node if of_tensors else None, INJECTIVE)
            self.visit(op.data)
        elif isinstance(op, IfOp):
            branches = [region.block for region in (op.true_region, op.false_region)]
            for operand in (op.condition, *(result for block in branches for result in results_of(block))):
                self.update(operand, None)
            self.visit(op.condition)
            for block in branches:
                self.visit_block(block)
        elif isinstance(op, (InvokeOp, FusedOp, CallOp)):
            self.call(node, list(op.operands), OPAQUE, value.type, [op.callee] if isinstance(op, InvokeOp) else [])
        else:
            assert isinstance(op, RelayOp), op
            self.call(node, list(op.operands), int(op.PATTERN), value.type, [])
        self.order.append(node)

    def call(
        self, node: Node, operands: list[SSAValue], pattern: int, result: Attribute, extern: list[SSAValue]
    ) -> None:
        node.pattern, node.extra_results = pattern, unknown_dims(result)
        for operand in extern:
            self.update(operand, node)
            self.update(operand, None)
        arguments = operands[len(extern) :]
        for operand in arguments:
            keeps = pattern == BROADCAST and shape_of(operand.type) == shape_of(result)
            self.update(operand, node, ELEM_WISE if keeps else pattern)
        for operand in extern:
            self.visit(operand)
        self.takes(node, arguments)

    def takes(self, node: Node, operands: Iterable[SSAValue]) -> None:
        """Visits the operands, and counts those that are arguments of the kernel."""
        for operand in operands:
            self.visit(operand)
            if is_variable(operand) or isinstance(operand.owner, TupleGetItemOp):
                node.own += argument_count(operand.type)
            self.feeds.append((node, operand))


def is_variable(value: SSAValue) -> bool:
    return not isinstance(value, OpResult) or isinstance(value.op, LetOp)


def results_of(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    return [last.value] if isinstance(last, YieldOp) else [] if last is None else list(last.operands)


def oracle_graph(function: FuncOp) -> OracleGraph:
    """The forward graph of a function with one block."""
    return OracleBuilder().build(function.body.block)
