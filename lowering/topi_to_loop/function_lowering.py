"""Common lowering of kernels and graph functions: buffers for tensors, and the new signature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import FunctionType, IntegerAttr, MemRefType, NoneType, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.loop import WeightOp
from xrelay.dialects.loop.list_ops import ListType
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import NUM_OUTPUTS, PRIMITIVE
from xrelay.dialects.shared.container_types import ClosureType, OptionalType, SequenceType
from xrelay.dialects.shared.locations import describe_place
from xrelay.dialects.shared.types import element_of_any_rank, shape_of
from xrelay.dialects.topi import NamedOp
from xrelay.dialects.topi.shapes import bit_width
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import ANY
from xrelay.passes.infra.disposal import dispose
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs, set_result_attrs

MAX_BYTES = (1 << 63) - 1
"""The size of the largest buffer: offsets of elements are signed 64-bit numbers."""


def memref_of(type: Attribute, place: Operation) -> MemRefType:
    """Returns the type of the buffer that holds a tensor, with `?` for named dimensions.

    Raises `LoweringError` for an unnamed dynamic extent, or for more bytes than can be addressed.
    """
    if not isa(type, TensorType) or ANY in (shape := shape_of(type)):
        raise LoweringError(f"{type} has no buffer: the loop level needs extents that are known or named",
                            location=describe_place(place), help="give the model static shapes")  # fmt: skip
    size = prod(dim for dim in shape if isinstance(dim, int)) * ceil(bit_width(type.element_type) / 8)
    if size > MAX_BYTES:
        raise LoweringError(f"{type} takes {size} bytes, a buffer can have {MAX_BYTES}",
                            location=describe_place(place), help="give the model smaller shapes")  # fmt: skip
    return buffer_type(type.element_type, type.get_shape())


def is_container(type: Attribute) -> bool:
    """Whether `type` is that of a sequence, an optional or a closure."""
    return isinstance(type, SequenceType | OptionalType | ClosureType)


def holder_of(type: Attribute, place: Operation) -> MemRefType | ListType:
    """Returns the type that holds a value: a buffer for a tensor, a list for a sequence, optional or closure.

    Raises `LoweringError` at `place` for other types.
    """
    if isinstance(type, ClosureType):
        return ListType(NoneType())
    depth = 0
    inner = type
    while isinstance(inner, SequenceType | OptionalType):
        inner, depth = inner.element, depth + 1
    if not depth:
        return memref_of(type, place)
    element = element_of_any_rank(inner)
    if element is None:
        raise LoweringError(f"{type} is no sequence or optional of tensors", location=describe_place(place),
                            help="interpret the program")  # fmt: skip
    for _ in range(depth):
        element = ListType(element)
    assert isinstance(element, ListType), "it is at least one list deep"
    return element


@dataclass(frozen=True)
class Returned:
    """A result that a function returns: its number among all results, its buffer and extents, and its attributes."""

    number: int
    values: Sequence[SSAValue]
    attributes: Mapping[str, Attribute]


class FunctionLowering(ABC):
    """Rewrites one function in place: a new block is filled from the old one, op by op.

    A subclass specifies the ops that compute a value into any buffer (`MADE_HERE`), lowers them (`lower`), and copies
    results that are an input, a constant or another result (`copy`).
    """

    MADE_HERE: tuple[type[Operation], ...] = ()

    def __init__(self, function: func.FuncOp):
        """Initialises the rewriting of `function`."""
        self._function = function
        self._old, self._new = function.body.block, Block()
        self._num_inputs = len(self._old.args)
        self._buffers: dict[SSAValue, SSAValue] = {}

    def lower(self, op: Operation) -> None:
        """Adds the lowering of an op to the new block; raises `LoweringError` if it has no form at the loop level."""
        match op:
            case func.CallOp():
                arguments = [self._buffers[operand] for operand in op.operands]
                arguments += [self._buffer(value, op) for value in op.results]
                self._add(func.CallOp(op.callee, arguments, []), op)
            case ConstantOp():
                weight = WeightOp(op.value, memref_of(op.result.type, op))
                weight.result.name_hint = op.result.name_hint
                self._buffers[op.result] = self._add(weight, op).results[0]
            case NamedOp():
                raise LoweringError(f"'{op.name}' is still named", location=describe_place(op),
                                    help="run topi-expand-named before")  # fmt: skip
            case _:
                raise LoweringError(f"failed to convert {op.name} to loop", location=describe_place(op))

    @abstractmethod
    def copy(self, value: SSAValue, output: SSAValue, place: Operation) -> None:
        """Adds a copy of the buffer of `value` to `output`."""

    def run(self) -> None:
        """Rewrites the function."""
        last = self._old.last_op
        if not isinstance(last, func.ReturnOp):
            raise LoweringError("a function does not end in func.return", location=describe_place(self._function))
        written = [value for value in last.operands if self._is_written(value)]
        outputs = self._make_arguments(last, written)
        copied = self._assign_destinations(written, outputs)
        for op in self._old.ops:
            if op is not last:
                self.lower(op)
        for value, output in copied:
            self.copy(value, output, last)
        self._finish(last, len(outputs), self._returned(last))

    def _is_written(self, value: SSAValue) -> bool:
        """Whether the caller passes a buffer for a result of the function, rather than receiving one."""
        return True

    def _returned(self, last: func.ReturnOp) -> Sequence[Returned]:
        """Returns the returned values for each of the other results."""
        return ()

    def _make_arguments(self, last: func.ReturnOp, written: Sequence[SSAValue]) -> list[SSAValue]:
        """Adds arguments for the inputs, and after them for the results `written`; returns the latter."""
        inputs = list(self._old.args)
        for value in (*inputs, *written):
            argument = self._new.insert_arg(holder_of(value.type, last), len(self._new.args))
            argument.name_hint = value.name_hint
        self._buffers.update(zip(inputs, self._new.args, strict=False))
        return list(self._new.args[len(inputs) :])

    def _assign_destinations(
        self, written: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> list[tuple[SSAValue, SSAValue]]:
        """Assigns output buffers to results computed here; returns the other results as `(value, output)`, to copy."""
        copied: list[tuple[SSAValue, SSAValue]] = []
        for value, output in zip(written, outputs, strict=True):
            if self._is_made_here(value) and value not in self._buffers:
                self._buffers[value] = output
            else:
                copied.append((value, output))
        return copied

    def _is_made_here(self, value: SSAValue) -> bool:
        """Whether `value` is computed by an op that can write to any buffer."""
        return isinstance(value.owner, (*self.MADE_HERE, func.CallOp))

    def _buffer(self, value: SSAValue, op: Operation) -> SSAValue:
        """Returns the destination of a result: an output of the function, or a new buffer."""
        if value not in self._buffers:
            alloc = self._alloc(value, op)
            alloc.memref.name_hint = value.name_hint
            self._buffers[value] = self._add(alloc, op).results[0]
        return self._buffers[value]

    @abstractmethod
    def _alloc(self, value: SSAValue, op: Operation) -> memref.AllocOp:
        """Returns the allocation of a buffer for a result of `op`."""

    def _add(self, new: Operation, source: Operation) -> Operation:
        new.location = source.location
        self._new.add_op(new)
        return new

    def _finish(self, last: func.ReturnOp, num_outputs: int, returned: Sequence[Returned]) -> None:
        function = self._function
        values = [value for each in returned for value in each.values]
        self._new.add_op(func.ReturnOp(*values))
        # The attributes of results, such as their names, move to the buffers that hold them.
        named = [dict(each.data) for each in function.res_attrs] if function.res_attrs is not None else []
        if not named:
            named = [dict[str, Attribute]() for _ in last.operands]
        numbers = {each.number: each for each in returned}
        outputs = [attrs for number, attrs in enumerate(named) if number not in numbers]
        inputs = argument_attrs(function)[: self._num_inputs]
        dispose(function.detach_region(function.body))
        function.add_region(Region(self._new))
        function.function_type = FunctionType.from_lists(list(self._new.arg_types), [value.type for value in values])
        extents = len(self._new.args) - self._num_inputs - num_outputs
        set_argument_attrs(function, [*inputs, *outputs, *({} for _ in range(extents))])
        set_result_attrs(function, [
            attrs for number, each in numbers.items()
            for attrs in ({**named[number], **each.attributes}, *({} for _ in each.values[1:]))
        ])  # fmt: skip
        function.attributes.pop(PRIMITIVE, None)
        function.attributes[NUM_OUTPUTS] = IntegerAttr(num_outputs, i64)
