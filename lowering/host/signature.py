"""Rewrites functions on tensors to functions on buffers: signatures and destinations of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, MemRefType, NoneType, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.loop import WeightOp
from xrelay.dialects.loop.list_ops import ListType
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import NUM_OUTPUTS, PRIMITIVE
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import (
    ClosureType,
    OptionalType,
    SequenceType,
    element_of_any_rank,
    function_type,
    shape_of,
)
from xrelay.dialects.topi import NamedOp
from xrelay.dialects.topi.shapes import bit_width
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import ANY
from xrelay.passes.infra.conversion import dispose
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs, set_result_attrs

MAX_BYTES = (1 << 63) - 1
"""The size of the largest buffer: offsets of elements are signed 64-bit numbers."""


def memref_of(type: Attribute, place: Operation) -> MemRefType:
    """Returns the type of the buffer that holds a tensor, with `?` for named dimensions.

    Raises `LoweringError` for an unnamed dynamic extent, or for more bytes than can be addressed.
    """
    if not isa(type, TensorType) or ANY in (shape := shape_of(type)):
        raise LoweringError(
            f"{type} has no buffer: the loop level requires known or named extents",
            location=describe_location(place),
            help="use static shapes in the model",
        )
    size = prod(dim for dim in shape if isinstance(dim, int)) * ceil(bit_width(type.element_type) / 8)
    if size > MAX_BYTES:
        raise LoweringError(
            f"{type} takes {size} bytes, the limit for a buffer is {MAX_BYTES}",
            location=describe_location(place),
            help="use smaller shapes in the model",
        )
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
        raise LoweringError(
            f"{type} is not a sequence or optional of tensors",
            location=describe_location(place),
            help="run the program in the interpreter",
        )
    found = ListType(element)
    for _ in range(depth - 1):
        found = ListType(found)
    return found


@dataclass(frozen=True)
class ReturnedResult:
    """A result that a function returns: its number among all results, its buffer and extents, and its attributes."""

    number: int
    values: Sequence[SSAValue]
    attributes: Mapping[str, Attribute]


class FunctionRewriting:
    """The rewriting of a function in place: a new block is filled from the old one, op by op."""

    def __init__(self, function: func.FuncOp):
        """Starts with an empty block. Raises `LoweringError` for a function that does not end in `func.return`."""
        last = function.body.block.last_op
        if not isinstance(last, func.ReturnOp):
            raise LoweringError("a function does not end in func.return", location=describe_location(function))
        self.function = function
        self.last = last
        self.inputs = list(function.body.block.args)
        self.block = Block()
        self.buffers: dict[SSAValue, SSAValue] = {}
        """The buffer or list that holds each value."""

    @property
    def ops(self) -> list[Operation]:
        """The ops to lower, in order, without the last."""
        return [op for op in self.function.body.block.ops if op is not self.last]

    def add_arguments(self, written: Sequence[SSAValue]) -> list[SSAValue]:
        """Adds arguments for the inputs, and after them for the results `written`; returns the latter."""
        for value in (*self.inputs, *written):
            argument = self.block.insert_arg(holder_of(value.type, self.last), len(self.block.args))
            argument.name_hint = value.name_hint
        self.buffers.update(zip(self.inputs, self.block.args, strict=False))
        return list(self.block.args[len(self.inputs) :])

    def assign_destinations(
        self, written: Sequence[SSAValue], outputs: Sequence[SSAValue], takes_destination: Callable[[SSAValue], bool]
    ) -> list[tuple[SSAValue, SSAValue]]:
        """Assigns output buffers to results; returns the other results as `(value, output)`, to copy.

        `takes_destination` is whether the lowering of a result can write it into any buffer.
        """
        copied: list[tuple[SSAValue, SSAValue]] = []
        for value, output in zip(written, outputs, strict=True):
            if takes_destination(value) and value not in self.buffers:
                self.buffers[value] = output
            else:
                copied.append((value, output))
        return copied

    def finish(self, num_outputs: int, returned: Sequence[ReturnedResult] = ()) -> None:
        """Replaces the body, the type and the attributes of arguments and results."""
        function = self.function
        values = [value for each in returned for value in each.values]
        self.block.add_op(func.ReturnOp(*values))
        # The attributes of results, such as their names, move to the buffers that hold them.
        named = [dict(each.data) for each in function.res_attrs] if function.res_attrs is not None else []
        if not named:
            named = [dict[str, Attribute]() for _ in self.last.operands]
        numbers = {each.number: each for each in returned}
        outputs = [attrs for number, attrs in enumerate(named) if number not in numbers]
        inputs = argument_attrs(function)[: len(self.inputs)]
        extents = len(self.block.args) - len(self.inputs) - num_outputs
        dispose(function.detach_region(function.body))
        function.add_region(Region(self.block))
        function.function_type = function_type(list(self.block.arg_types), [value.type for value in values])
        set_argument_attrs(function, [*inputs, *outputs, *({} for _ in range(extents))])
        results: list[dict[str, Attribute]] = []
        for number, each in numbers.items():
            results += [{**named[number], **each.attributes}, *({} for _ in each.values[1:])]
        set_result_attrs(function, results)
        function.attributes.pop(PRIMITIVE, None)
        function.attributes[NUM_OUTPUTS] = IntegerAttr(num_outputs, i64)


def weight_of(op: ConstantOp) -> WeightOp:
    """Returns the `loop.weight` for a constant."""
    weight = WeightOp(op.value, memref_of(op.result.type, op))
    weight.result.name_hint = op.result.name_hint
    return weight


def conversion_error(op: Operation) -> LoweringError:
    """Returns the error for an op without a form at the loop level."""
    if isinstance(op, NamedOp):
        return LoweringError(
            f"'{op.name}' is a named op", location=describe_location(op), help="run topi-expand-named before"
        )
    return LoweringError(f"failed to convert {op.name} to loop", location=describe_location(op))
