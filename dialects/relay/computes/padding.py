"""Padding of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim


def padded(
    build: TopiBuilder, value: SSAValue, before: Callable[[Body], Sequence[IndexLike]], axes: Sequence[bool]
) -> SSAValue:
    """Reads the first operand inside its bounds; outside, `value` or the element specified by the mode.

    `before` returns the width before each axis; `axes` specifies which axes are padded.
    """
    data, mode = build.operand(0), build.text("pad_mode")
    shape, element = build.shape(data), build.element(data)

    def fill(b: Body) -> SSAValue:
        at = [index - b.expr(start) for index, start in zip(b.spatial, before(b), strict=True)]
        if mode != "constant":
            bring = _nearest if mode == "edge" else _mirrored
            return b.read(data, *(bring(b, i, n) if out else i for i, n, out in zip(at, shape, axes, strict=True)))
        inside = b.in_bounds(at, shape)
        zeros = [0] * len(shape_of(value))
        return b.guard(inside, element, lambda: b.read(data, *at), lambda: b.read(value, *zeros))

    return build.compute("nn_pad", build.result_shape, element, fill)


def _nearest(b: Body, at: AffineExpr, extent: Dim) -> AffineExpr:
    """Clamps an index to the axis."""
    index = IndexType()
    above = b.maximum(b.index(at), b.constant(0, index))
    return b.as_index(b.minimum(above, b.size(extent - 1, index)))


def _mirrored(b: Body, at: AffineExpr, extent: Dim) -> AffineExpr:
    """Reflects an index, less than `extent` outside, at the outermost elements."""
    above = b.as_index(b.maximum(b.index(at), b.index(at * -1)))
    return b.as_index(b.minimum(b.index(above), b.index(above * -1 + b.expr(2 * (extent - 1)))))
