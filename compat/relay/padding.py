"""`relay.nn.pad` as in Relay: negative widths are allowed, and the fill value may be a vector of one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import IntegerType, TensorType

from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import ConstraintError
from xrelay.relay.dynamic_arguments import apply_operator, known_attribute
from xrelay.relay.expr import Expr, ExprLike, as_value, call
from xrelay.relay.slices import FAR

Pairs: TypeAlias = "list[tuple[int, int]]"
"""The numbers of elements before and after each axis."""


def pad(
    data: ExprLike, pad_width: Sequence[Sequence[int]] | Expr, pad_value: ExprLike = 0.0, pad_mode: str = "constant"
) -> Expr:
    """`nn.pad` with Relay's order of arguments: the fill value comes after the widths.

    A negative width removes elements, as `strided_slice` does: before padding if the mode is `constant`, after padding
    if the mode pads with elements of the data. Raises `ConstraintError` if an axis has fewer elements. A Python float
    with an integral value, such as 2.0, also pads integer tensors.
    """
    value = _number(data, pad_value)
    widths = known_attribute(pad_width)
    pairs = None if isinstance(widths, Expr) else _pairs(widths)
    if pairs is None or all(min(pair) >= 0 for pair in pairs):
        return apply_operator(PadOp, (data, value), {"pad_width": widths, "pad_mode": pad_mode})
    grown = [(max(before, 0), max(after, 0)) for before, after in pairs]
    if pad_mode == "constant":
        return call(PadOp, _cut(data, pairs), value, pad_width=grown, pad_mode=pad_mode)
    return _cut(call(PadOp, data, value, pad_width=grown, pad_mode=pad_mode), pairs)


def _pairs(widths: object) -> Pairs | None:
    """Returns widths as pairs; None if they are not a list of pairs of integers, which the operator rejects."""
    rows = list(cast("Sequence[object]", widths)) if isinstance(widths, list | tuple) else []
    pairs: Pairs = []
    for row in rows:
        numbers = tuple(cast("Sequence[object]", row)) if isinstance(row, list | tuple) else ()
        if len(numbers) != 2 or not all(isinstance(number, int) for number in numbers):
            return None
        pairs.append(cast("tuple[int, int]", numbers))
    return pairs


def _cut(data: ExprLike, pairs: Pairs) -> Expr:
    """Removes the elements that negative widths cut off."""
    value = as_value(data)
    for extent, pair in zip(shape_of(value.type) if is_complete(value.type) else (), pairs, strict=False):
        removed = -sum(min(width, 0) for width in pair)
        if isinstance(extent, int) and extent < removed:
            raise ConstraintError(PadOp.name, "C1", f"{removed} elements are removed from an axis of extent {extent}")
    begin = [max(-before, 0) for before, _ in pairs]
    end = [after if after < 0 else FAR for _, after in pairs]
    return call(StridedSliceOp, value, begin=begin, end=end, strides=[1] * len(pairs))


def _number(data: ExprLike, value: ExprLike) -> ExprLike:
    """Converts a vector of one number to a scalar, and an integral Python number to int for integer data."""
    if isinstance(value, int | float):
        type = as_value(data).type
        is_integral = isinstance(type, TensorType) and isinstance(type.element_type, IntegerType)
        return int(value) if is_integral and float(value).is_integer() else value
    given = as_value(value)
    is_vector = is_complete(given.type) and shape_of(given.type) == (1,)
    return call(ReshapeOp, given, newshape=()) if is_vector else value
