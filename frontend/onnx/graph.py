"""The relay function under construction: its values by ONNX name, with ops located at their source nodes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import count
from typing import Final, TypeVar

import onnx
from xdsl.dialects.builtin import NameLoc, NoneAttr, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.known_elements import KnownElements
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx.carried import CarriedTypes, convert_to_carried
from xrelay.frontend.onnx.functions import ModelFunctions
from xrelay.frontend.onnx.needed import names_read, needed_nodes
from xrelay.frontend.onnx.signature import identifier
from xrelay.frontend.onnx.tensors import TensorBytes, dense_array, tensor_array, weight_name

OpT = TypeVar("OpT", bound=Operation)

_NONE: Final = NoneAttr()


@lru_cache(maxsize=64)
def _location_of(source: str) -> NameLoc:
    """Returns the location of a node's ops; the nodes that are imported at a time share few."""
    return NameLoc(StringAttr(source), _NONE)


class GraphBuilder:
    """Appends ops to a block and keeps the value of every ONNX name."""

    block: Block
    values: ChainMap[str, SSAValue]
    """The values of this graph, then those of the enclosing graphs."""
    missing: set[str]
    """The outputs of nodes that could not be converted, and of nodes that depend on these."""
    location: str
    """The name of the model in messages."""

    functions: ModelFunctions
    calls: tuple[str, ...]
    """The functions that this graph is nested in, outermost first."""

    def __init__(
        self,
        block: Block,
        graph: onnx.GraphProto,
        location: str,
        opsets: Mapping[str, int],
        functions: ModelFunctions | None = None,
        tensors: TensorBytes | None = None,
    ):
        self.block, self.location, self.values, self.missing = block, location, ChainMap(), set()
        self.functions, self.calls = ModelFunctions() if functions is None else functions, ()
        self.tensors = TensorBytes() if tensors is None else tensors
        """The bytes of large tensors of the model."""
        self.elements = KnownElements()
        """The known elements of small integer tensors, such as shapes that the model computes."""
        self.carried = CarriedTypes()
        """The original element types of values whose type relay lacks."""
        self.iterations: tuple[SSAValue, ...] = ()
        """The iteration numbers of the loops that this graph is nested in, outermost first."""
        self.draws = count(1)
        """Numbers the nodes that draw random numbers without a seed."""
        self.inserted_reads: ChainMap[str, None] = ChainMap()
        """The names read by nodes that the importer inserted."""
        self.blocks: list[Block] = []
        """The open blocks for regions of the current node and of the nodes around it."""
        self.moves = count(1)
        """Numbers the nodes that are moved into branches."""
        self._graph, self._opsets = graph, opsets

    def inner(self, block: Block, body: onnx.GraphProto | None = None) -> GraphBuilder:
        """Returns a builder that fills `block` from `body`, a graph of a node, and sees the values of this graph."""
        graph = self._graph if body is None else body
        if block is not self.block:
            self.blocks.append(block)
        builder = GraphBuilder(block, graph, self.location, self._opsets, self.functions, self.tensors)
        builder.values, builder.missing, builder.calls = self.values.new_child(), set(self.missing), self.calls
        if body is None:
            builder.read_names, builder.inserted_reads = self.read_names, self.inserted_reads.new_child()
        return self._sharing(builder)

    def called(self, body: onnx.GraphProto, name: str, opsets: Mapping[str, int]) -> GraphBuilder:
        """Returns a builder that appends the graph of a function to this block, without access to the values here."""
        builder = GraphBuilder(self.block, body, self.location, opsets, self.functions, self.tensors)
        builder.calls = (*self.calls, name)
        return self._sharing(builder)

    def _sharing(self, builder: GraphBuilder) -> GraphBuilder:
        """Returns `builder` with the state that all graphs of a model share, and the enclosing loops."""
        builder.elements, builder.carried, builder.blocks = self.elements, self.carried, self.blocks
        builder.iterations, builder.draws, builder.moves = self.iterations, self.draws, self.moves
        return builder

    @property
    def nodes(self) -> Sequence[onnx.NodeProto]:
        """The nodes of the graph."""
        return self._graph.node

    @cached_property
    def needed_nodes(self) -> Mapping[int, onnx.NodeProto]:
        """The nodes that the graph outputs depend on, by their index in the graph, in topological order."""
        return {number: self._graph.node[number] for number in needed_nodes(self._graph)}

    @cached_property
    def read_names(self) -> frozenset[str]:
        """The names that a needed node, a body of one, or a graph output reads."""
        names = {output.name for output in self._graph.output}
        return frozenset(names.union(*map(names_read, self.needed_nodes.values())))

    def is_read(self, name: str) -> bool:
        """Returns whether a node or a graph output reads `name`."""
        return name in self.read_names or name in self.inserted_reads

    def opset(self, domain: str) -> int:
        """Returns the opset of a domain, 0 if the model does not import it; `""` and `"ai.onnx"` are the same."""
        return self._opsets.get(domain, self._opsets.get("ai.onnx", 0) if domain == "" else 0)

    def insert(self, op: OpT, source: str) -> OpT:
        """Appends `op`, located at `source`, the name of its node."""
        op.location = _location_of(source)
        self.block.add_op(op)
        return op

    def ops_after(self, last: Operation | None) -> list[Operation]:
        """Returns the ops added after `last`, in order; all ops if `last` is `None`."""
        added: list[Operation] = []
        op = self.block.first_op if last is None else last.next_op
        while op is not None:
            added.append(op)
            op = op.next_op
        return added

    def erase(self, ops: Sequence[Operation]) -> None:
        """Erases the last added ops, which have no other uses."""
        for op in reversed(ops):
            self.block.erase_op(op)

    def undo(self, last: Operation | None, begun: int) -> None:
        """Erases the ops after `last`, and those in blocks without a parent op that were begun after the first `begun`.

        The ops of a block that was erased with its parent op have no parent.
        """
        for block in reversed(self.blocks[begun:]):
            for op in reversed([op for op in block.ops if op.parent is block and block.parent is None]):
                block.erase_op(op)
        del self.blocks[begun:]
        self.erase(self.ops_after(last))

    def define(self, name: str, value: SSAValue) -> None:
        """Binds an ONNX value name, which also becomes the name hint of the SSA value if possible.

        Raises `ModelImportError` if the name is already bound: ONNX graphs are in SSA form.
        """
        if name in self.values.maps[0]:
            raise ModelImportError(
                f"value {name!r} is defined twice",
                location=self.location,
                help="every input, initializer and output of a node needs a name of its own",
            )
        self.values[name] = value
        if value.name_hint is None:
            value.name_hint = identifier(name)

    def define_weight(self, weight: onnx.TensorProto | onnx.SparseTensorProto, name: str | None = None) -> None:
        """Binds a tensor, or a sparse tensor as a dense constant, to its name, or to `name`."""
        name = weight_name(weight) if name is None else name
        if isinstance(weight, onnx.SparseTensorProto):
            self.define_constant(name, dense_array(weight, self.tensors))
            return
        try:
            self.define_constant(name, tensor_array(weight, self.tensors))
        except XRelayError as error:
            raise ModelImportError(error.message, location=f"tensor {weight.name!r}", help=error.help) from error

    def define_constant(self, name: str, array: Array) -> None:
        """Binds an ONNX name to a new constant of that name."""
        self.define(name, self.insert_constant(array, name, name))

    def insert_constant(self, array: Array, name: str, source: str) -> SSAValue:
        """Appends a constant called `name`; an array of a type that relay lacks is stored in its carrier.

        Raises `ModelImportError` for strings.
        """
        if array.dtype.hasobject:
            help = "encode strings as numbers before the model; xrelay.InferenceSession returns labels that are strings"
            raise ModelImportError("strings are not supported", help=help)
        held, dtype = convert_to_carried(array)
        value = self.insert(ConstantOp.of(held, name), source).result
        self.carried.note(value, dtype)
        return value
