"""Operators that move elements: shapes, layouts, padding, concatenation, splits and tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.meaning.layouts import from_plain, to_plain
from xrelay.dialects.relay.ops.dyn_pad import DynPadOp
from xrelay.dialects.relay.ops.tensor_join import ConcatenateOp, SplitOp
from xrelay.dialects.relay.ops.tensor_shape import (
    BatchFlattenOp,
    ExpandDimsOp,
    ReshapeOp,
    ReshapingOp,
    ReverseReshapeOp,
    SqueezeOp,
)
from xrelay.dialects.relay.ops.tensor_transform import LayoutTransformOp, PadOp, TransposeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import Shape
from xrelay.interpreters.relay.registry import Value, evaluates


@evaluates(ConstantOp)
def evaluate_constant(op: ConstantOp) -> Array:
    """Returns the array."""
    return op.array


@evaluates(ReshapeOp, ReverseReshapeOp, BatchFlattenOp, SqueezeOp, ExpandDimsOp)
def evaluate_reshape(op: ReshapingOp, data: Array) -> Array:
    """Reshapes to the shape that the op's shape rule computes for this array."""
    return data.reshape(_extents(op.result_shape(Facts(op.name, op.operand_types), data.shape)))


def _extents(shape: Shape) -> list[int]:
    return [cast(int, dim) for dim in shape]


@evaluates(TransposeOp)
def evaluate_transpose(op: TransposeOp, data: Array) -> Array:
    """Permutes the axes."""
    return data.transpose(op.permutation(data.ndim))


@evaluates(LayoutTransformOp)
def evaluate_layout_transform(op: LayoutTransformOp, data: Array) -> Array:
    """Converts to the layout without blocks, and from there to the target layout."""
    source, target = op.layouts
    return from_plain(to_plain(data, source, source.primal), source.primal, target)


@evaluates(PadOp)
def evaluate_pad(op: PadOp, data: Array, value: Array) -> Array:
    """Pads the data."""
    return _padded(data, op.pad_pairs, op.pad_mode.data, value)


@evaluates(DynPadOp)
def evaluate_dyn_pad(op: DynPadOp, data: Array, widths: Array, value: Array) -> Array:
    """Pads the data; the error for invalid widths contains axis and widths."""
    mode = op.pad_mode.data
    for axis, (extent, (before, after)) in enumerate(zip(data.shape, widths.tolist(), strict=True)):
        if min(before, after) < 0:
            raise InterpreterError(
                f"[{op.name} C2] axis {axis} is padded by {before} and {after}; none may be negative"
            )
        most = {"constant": max(before, after), "edge": before + after if extent else 0, "reflect": max(0, extent - 1)}
        if max(before, after) > most[mode]:
            raise InterpreterError(
                f"[{op.name} C4] mode {mode!r} cannot pad axis {axis} of extent {extent} by {before} and {after}"
            )
    return _padded(data, widths.tolist(), mode, value)


def _padded(data: Array, pairs: Sequence[Sequence[int]], mode: str, value: Array) -> Array:
    if not pairs:  # numpy rejects an empty list of widths
        return data
    if mode == "constant":
        return np.pad(data, pairs, constant_values=value.item())
    return np.pad(data, pairs, mode=cast(Literal["edge", "reflect"], mode))


@evaluates(ConcatenateOp)
def evaluate_concatenate(op: ConcatenateOp, data: tuple[Array, ...]) -> Array:
    """Concatenates the fields."""
    return np.concatenate(data, axis=op.axis.value.data)


@evaluates(SplitOp)
def evaluate_split(op: SplitOp, data: Array) -> tuple[Array, ...]:
    """Splits at the bounds."""
    axis = op.axis.value.data
    bounds = _extents(op.bounds(data.shape[axis]))
    return tuple(np.split(data, bounds[1:-1], axis=axis))


@evaluates(TupleOp)
def evaluate_tuple(op: TupleOp, *fields: Value) -> tuple[Value, ...]:
    """Returns the fields."""
    return fields


@evaluates(TupleGetItemOp)
def evaluate_tuple_get_item(op: TupleGetItemOp, data: tuple[Value, ...]) -> Value:
    """Returns a field."""
    return data[op.index.value.data]
