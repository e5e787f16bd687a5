"""Conversion of tensors between layouts, and indices in layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import Body, IndexLike, TopiBuilder
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.errors import LoweringError


def relayout(build: TopiBuilder, data: SSAValue, source: Layout, target: Layout) -> SSAValue:
    """Converts `data` from layout `source` to `target`; padding elements are zero."""
    extents = source.primal_extents(build.shape(data))
    shape = target.shape_from(extents)
    element = build.element(data)
    padded = target.primal_extents(shape) != extents

    def fill(b: Body) -> SSAValue:
        at = primal_indices(target, b.spatial)

        def read() -> SSAValue:
            return b.read(data, *layout_indices(source, at))

        if not padded:
            return read()
        letters = list(extents)
        inside = b.in_bounds([at[letter] for letter in letters], [extents[letter] for letter in letters])
        return b.guard(inside, element, read, 0)

    return build.compute("layout_transform", shape, element, fill)


def in_layout(build: TopiBuilder, data: SSAValue, source: Layout, target: Layout) -> SSAValue:
    """Returns `data` in layout `target`, converted if `source` differs."""
    return data if source == target else relayout(build, data, source, target)


def arrange(axes: Sequence[int], indices: Sequence[IndexLike]) -> list[IndexLike]:
    """Returns indices in the order of axes, where index k is that along axis `axes[k]`."""
    return [index for _, index in sorted(zip(axes, indices, strict=True), key=lambda pair: pair[0])]


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
