"""Indices of tensors in layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.topi.build import IndexLike
from xrelay.errors import LoweringError


def primal_indices(layout: Layout, indices: Sequence[AffineExpr]) -> dict[str, AffineExpr]:
    """Returns the index along each primal axis of the element at `indices` of a tensor in `layout`."""
    found: dict[str, AffineExpr] = {}
    for axis, index in zip(layout.axes, indices, strict=True):
        if axis.factor is None:
            found[axis.letter] = index * (layout.factor(axis.letter) or 1)
    for axis, index in zip(layout.axes, indices, strict=True):
        if axis.factor is not None:
            found[axis.letter] = found[axis.letter] + index
    return found


def layout_indices(layout: Layout, primal: Mapping[str, AffineExpr]) -> list[IndexLike]:
    """Returns the indices in a tensor of `layout` of the element at `primal`."""
    missing = [letter for letter in layout.primal if letter not in primal]
    if missing:
        raise LoweringError(f"layout {layout} has the axis {missing[0]}, which the other layout lacks")
    result: list[IndexLike] = []
    for axis in layout.axes:
        factor = layout.factor(axis.letter)
        whole = primal[axis.letter]
        if axis.factor is not None:
            result.append(whole % axis.factor)
        else:
            result.append(whole if factor is None else whole // factor)
    return result
