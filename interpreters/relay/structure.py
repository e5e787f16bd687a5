"""Evaluation of constants, tuples, closures, sequences, optionals and extents, which have no `evaluate` of their own.

Closures are tuples of a function number and the captured values; sequences and optionals are tuples of their values.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import cast

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.relay.structure.closures import ClosureCapturedOp, ClosureConstructOp, ClosureNumberOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.relay.structure.failure import FailOp
from xrelay.dialects.relay.structure.optionals import OptionalConstructOp, OptionalGetElementOp, OptionalHasElementOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.sequences import (
    ConcatFromSequenceOp,
    SequenceAtOp,
    SequenceConstructOp,
    SequenceEmptyOp,
    SequenceEraseOp,
    SequenceInsertOp,
    SequenceLengthOp,
    SplitToSequenceOp,
)
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import MAX_EXTENT
from xrelay.interpreters.relay.registry import ClosureValue, OptionalValue, SequenceValue, Value, evaluates


@evaluates(ConstantOp)
def evaluate_constant(op: ConstantOp) -> Array:
    """Returns the array."""
    return op.array


@evaluates(TupleOp)
def evaluate_tuple(op: TupleOp, *fields: Value) -> tuple[Value, ...]:
    """Returns the fields."""
    return fields


@evaluates(TupleGetItemOp)
def evaluate_tuple_get_item(op: TupleGetItemOp, data: tuple[Value, ...]) -> Value:
    """Returns a field."""
    return data[op.index.value.data]


@evaluates(LetOp)
def evaluate_let(op: LetOp, value: Value) -> Value:
    """Returns the operand."""
    return value


@evaluates(ClosureConstructOp)
def evaluate_closure_construct(op: ClosureConstructOp, *captured: Value) -> Value:
    """Returns the function number and the operands."""
    return ClosureValue((np.array(op.number.value.data, np.int64), *captured))


@evaluates(ClosureNumberOp)
def evaluate_closure_number(op: ClosureNumberOp, data: ClosureValue) -> Value:
    """Returns the function number."""
    return data[0]


@evaluates(ClosureCapturedOp)
def evaluate_closure_captured(op: ClosureCapturedOp, data: ClosureValue) -> Value:
    """Returns a captured value."""
    index = op.index.value.data
    if index + 1 >= len(data):
        raise InterpreterError(f"a closure over {len(data) - 1} values has no value {index}")
    return data[index + 1]


@evaluates(SequenceConstructOp)
def evaluate_sequence_construct(op: SequenceConstructOp, *values: Value) -> Value:
    """Returns the operands."""
    return SequenceValue(values)


@evaluates(SequenceEmptyOp)
def evaluate_sequence_empty(op: SequenceEmptyOp) -> Value:
    """Returns an empty sequence."""
    return SequenceValue()


@evaluates(SequenceInsertOp)
def evaluate_sequence_insert(op: SequenceInsertOp, data: SequenceValue, value: Value, *at: Array) -> Value:
    """Inserts at a checked position, which may be after the last value."""
    position = _position(at[0], len(data), len(data)) if at else len(data)
    return SequenceValue((*data[:position], value, *data[position:]))


@evaluates(SequenceEraseOp)
def evaluate_sequence_erase(op: SequenceEraseOp, data: SequenceValue, *at: Array) -> Value:
    """Returns the sequence without the value at the position."""
    position = _position(at[0] if at else np.array(-1), len(data), len(data) - 1)
    return SequenceValue((*data[:position], *data[position + 1 :]))


@evaluates(SequenceAtOp)
def evaluate_sequence_at(op: SequenceAtOp, data: SequenceValue, at: Array) -> Value:
    """Returns the value at the position."""
    return data[_position(at, len(data), len(data) - 1)]


@evaluates(SequenceLengthOp)
def evaluate_sequence_length(op: SequenceLengthOp, data: SequenceValue) -> Array:
    """Returns the length."""
    return np.array(len(data), np.int64)


@evaluates(ConcatFromSequenceOp)
def evaluate_concat_from_sequence(op: ConcatFromSequenceOp, data: SequenceValue) -> Array:
    """Concatenates with `np.concatenate` or `np.stack`, which require at least one value."""
    if not data:
        raise InterpreterError("a sequence without values has nothing to concatenate")
    join = np.stack if op.new_axis.value.data else np.concatenate
    return join(cast("tuple[Array, ...]", data), axis=op.axis.value.data)


@evaluates(SplitToSequenceOp)
def evaluate_split_to_sequence(op: SplitToSequenceOp, data: Array, *split: Array) -> Value:
    """Splits with `np.split` at the ends of the slices."""
    axis = op.axis.value.data
    extent = data.shape[axis]
    sizes = split[0].reshape(-1) if split else np.ones(extent, np.int64)
    if (sizes < 0).any() or (split and split[0].ndim == 1 and sizes.sum() != extent):
        raise InterpreterError(f"[{op.name} C2] slices of {sizes.tolist()} do not add up to the extent {extent}")
    if split and split[0].ndim == 0:
        size = int(split[0])
        if size == 0:
            raise InterpreterError(f"[{op.name} C2] slices of 0 do not add up to the extent {extent}")
        sizes = np.array([min(size, extent - first) for first in range(0, extent, size)], np.int64)
    if not sizes.size:
        return SequenceValue()
    parts = np.split(data, np.cumsum(sizes)[:-1].tolist(), axis)
    dropped = not split and not op.keepdims.value.data
    return SequenceValue(part.squeeze(axis) if dropped else part for part in parts)


@evaluates(OptionalConstructOp)
def evaluate_optional_construct(op: OptionalConstructOp, *value: Value) -> Value:
    """Returns an optional with the operand, if any."""
    return OptionalValue(value)


@evaluates(OptionalHasElementOp)
def evaluate_optional_has_element(op: OptionalHasElementOp, data: OptionalValue) -> Array:
    """Returns whether there is a value."""
    return np.array(bool(data))


@evaluates(OptionalGetElementOp)
def evaluate_optional_get_element(op: OptionalGetElementOp, data: OptionalValue) -> Value:
    """Returns the value."""
    if not data:
        raise InterpreterError("the optional has no value", help="check relay.optional_has_element first")
    return data[0]


@evaluates(FailOp)
def evaluate_fail(op: FailOp) -> Value:
    """Raises the error."""
    raise InterpreterError(op.message.data)


def _position(at: Array, count: int, last: int) -> int:
    """Returns a checked position from the front; negative positions count from the end."""
    position = int(at) + count if at < 0 else int(at)
    if not 0 <= position <= last:
        raise InterpreterError(f"place {int(at)} is out of range for a sequence of {count} values")
    return position


@evaluates(ExtentsOp)
def evaluate_extents(op: ExtentsOp, data: Array) -> Array:
    """Returns the operand after checking that its elements are valid extents (C3)."""
    for index, element in enumerate(data.reshape(-1).tolist()):
        if not 0 <= element < MAX_EXTENT:
            description = op.description(index)
            message = (
                f"{description.subject} is {element}"
                if element > 0
                else description.failure.replace("{value}", str(element))
            )
            raise InterpreterError(f"[{op.name} C3] {message}", help=WANTED)
    return data


WANTED = "extents are 0 or more, and less than 2**47"


@evaluates(CutOp)
def evaluate_cut(op: CutOp, data: Array, count: Array) -> Array:
    """Slices the data; checks C4."""
    axis, length = op.axis_number, int(count)
    if not 0 <= length <= data.shape[axis]:
        raise InterpreterError(f"[{op.name} C4] the count is {length}, axis {axis} has {data.shape[axis]} elements")
    return data[(slice(None),) * axis + (slice(length),)]


def note_extents(op: Operation, value: Value, sizes: MutableMapping[str, int]) -> None:
    """Binds the names of a `relay.extents` op to the elements of its `value`; ignores other ops."""
    if isinstance(op, ExtentsOp) and not isinstance(value, tuple):
        sizes.update(zip(op.names, value.reshape(-1).tolist(), strict=False))
