"""Slices, reversals, repetitions and broadcasting."""

from __future__ import annotations

from typing import cast

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.ops.tensor_movement import (
    BroadcastToOp,
    RepeatOp,
    ReverseSequenceOp,
    StridedSliceOp,
    TileOp,
    TriluOp,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(StridedSliceOp)
def evaluate_strided_slice(op: StridedSliceOp, data: Array) -> Array:
    """Takes the indices that the op's shape rule computes for this array."""
    for axis, (first, count, step) in op.steps(Facts(op.name, op.operand_types), data.shape).items():
        data = np.take(data, cast(int, first) + step * np.arange(cast(int, count)), axis)
    return data


@evaluates(ReverseSequenceOp)
def evaluate_reverse_sequence(op: ReverseSequenceOp, data: Array, seq_lengths: Array) -> Array:
    """Reverses sequence by sequence. Lengths are not checked if there are no elements."""
    if not data.size:
        return data
    rows = np.moveaxis(data, (op.batch_axis.value.data, op.seq_axis.value.data), (0, 1)).copy()
    for row, length in zip(rows, seq_lengths.tolist(), strict=True):
        if not 0 <= length <= row.shape[0]:
            raise InterpreterError(f"seq_lengths has {length}, a sequence has {row.shape[0]} elements")
        row[:length] = row[:length][::-1].copy()
    return np.moveaxis(rows, (0, 1), (op.batch_axis.value.data, op.seq_axis.value.data))


@evaluates(TileOp)
def evaluate_tile(op: TileOp, data: Array) -> Array:
    """Uses `np.tile`."""
    return np.tile(data, ints(op.reps))


@evaluates(RepeatOp)
def evaluate_repeat(op: RepeatOp, data: Array) -> Array:
    """Uses `np.repeat`."""
    return np.repeat(data, op.repeats.value.data, op.axis.value.data)


@evaluates(BroadcastToOp)
def evaluate_broadcast_to(op: BroadcastToOp, data: Array) -> Array:
    """Broadcasts to a new array."""
    return np.broadcast_to(data, ints(op.shape)).copy()


@evaluates(TriluOp)
def evaluate_trilu(op: TriluOp, data: Array, k: Array) -> Array:
    """Selects by distance from the diagonal; the edge may be outside of the matrix."""
    right: Array = np.diff(np.indices(data.shape[-2:]), axis=0)[0]
    kept: Array = right >= k.item() if op.upper.value.data else right <= k.item()
    return np.where(kept, data, np.zeros((), data.dtype))
