"""`relay.strided_slice`, which accepts incomplete lists, as in Relay's Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeGuard, cast

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.relay.dynamic_arguments import apply_operator
from xrelay.relay.expr import Expr, ExprLike

FAR: Final = 2**63 - 1
"""An index after the end of every axis."""


def strided_slice(
    data: ExprLike,
    begin: Sequence[int] | Expr,
    end: Sequence[int] | Expr,
    strides: Sequence[int] | Expr | None = None,
    axes: Sequence[int] | None = None,
    slice_mode: str = "end",
) -> Expr:
    """`strided_slice`, whose lists of integers may have different lengths if `axes` is not given.

    Missing strides are 1, missing begins the first element and missing ends the end of the axis. For a negative stride,
    these defaults are the last element and 0. With `slice_mode` "size" strides are ignored.
    """
    by_size = slice_mode == "size"
    if by_size and not isinstance(strides, Expr):
        strides = None
    steps = (1,) if strides is None else strides
    if axes is None and are_numbers(begin) and are_numbers(end) and are_numbers(steps):
        begin, end, strides = completed(tuple(begin), tuple(end), tuple(steps), -1 if by_size else FAR)
    given = {"begin": begin, "end": end, "strides": strides, "slice_mode": slice_mode, "axes": axes}
    attributes = {name: value for name, value in given.items() if value is not None}
    return apply_operator(StridedSliceOp, (data,), cast("dict[str, AttributeValue | Expr]", attributes))


def are_numbers(value: object) -> TypeGuard[Sequence[int]]:
    """Returns whether a value is a list of integers."""
    return isinstance(value, list | tuple) and all(isinstance(each, int) for each in cast("Sequence[object]", value))


def completed(
    begin: tuple[int, ...], end: tuple[int, ...], strides: tuple[int, ...], last: int
) -> tuple[tuple[int, ...], ...]:
    """Returns the lists, filled up to equal length. `last` is the end that means the whole axis."""
    count = max(len(begin), len(end), len(strides) if strides != (1,) else 0)
    strides += (1,) * (count - len(strides))
    begin += tuple(0 if step > 0 else FAR for step in strides[len(begin) :])
    end += tuple(last if step > 0 else 0 for step in strides[len(end) :])
    return begin, end, strides
