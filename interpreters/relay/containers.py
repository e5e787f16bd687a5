"""Sequences and optionals, represented as tuples of values, and `relay.fail`."""

from __future__ import annotations

from typing import cast

import numpy as np

from xrelay.dialects.relay.structure.failure import FailOp
from xrelay.dialects.relay.structure.optionals import OptionalConstructOp, OptionalGetElementOp, OptionalHasElementOp
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
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import OptionalValue, SequenceValue, Value, evaluates


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
