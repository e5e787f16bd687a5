"""Index spaces that move elements: reads at an index for each axis, at the same row-major index, and with padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.scalars import row_major
from xrelay.dialects.relay.core.reshape_runs import matching_runs
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim, product

Place = Callable[[Body, int, AffineExpr], IndexLike]
"""Maps an axis of the data and the result's index along it to the index of the data."""


def moved(build: TopiBuilder, label: str, place: Place) -> Sequence[SSAValue]:
    """Builds a compute that reads at an index for each axis of the data; leading axes of the result are ignored."""
    data, target = build.operand(0), build.result_shape
    rank = len(shape_of(data))

    def read(b: Body) -> SSAValue:
        own = b.spatial[len(target) - rank :]
        return b.read(data, *(place(b, axis, index) for axis, index in enumerate(own)))

    return [build.compute(label, variables("i", target), element_of(data), read)]


def tiled(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds a compute that repeats the data along each axis: it reads at the remainder of the index."""
    shape, target = shape_of(build.operand(0)), build.result_shape
    own = target[len(target) - len(shape) :]
    return moved(build, "tile", lambda b, axis, i: i if own[axis] == shape[axis] else b.remainder(i, shape[axis]))


def reshaped(build: TopiBuilder) -> SSAValue:
    """Reads the element at the same row-major index; an empty operand is never read."""
    data = build.operand(0)
    source, target = shape_of(data), build.result_shape

    def fill(b: Body) -> SSAValue:
        if 0 in source:
            return b.constant(0, element_of(data))
        return b.read(data, *reshaped_indices(b, b.spatial, target, source))

    return build.compute("reshape", variables("i", target), element_of(data), fill)


def reshaped_indices(
    b: Body, at: Sequence[AffineExpr], target: Sequence[Dim], source: Sequence[Dim]
) -> list[IndexLike]:
    """Returns the indices in shape `source` with the same row-major index as `at` in shape `target`.

    Axes are matched in runs with equal products, so unchanged axes need no division.
    """
    indices: list[IndexLike] = []
    for targets, sources in matching_runs(target, source):
        linear = row_major(b, [at[axis] for axis in targets], [target[axis] for axis in targets])
        extents = [source[axis] for axis in sources]
        indices.extend(_delinearize(b, linear, extents))
    return indices


def _delinearize(b: Body, linear: AffineExpr, extents: Sequence[Dim]) -> list[IndexLike]:
    indices: list[IndexLike] = []
    for axis, extent in enumerate(extents):
        inner = product(extents[axis + 1 :])
        index = linear if inner in (0, 1) else b.quotient(linear, inner)
        # The first axis of the run needs no remainder, because the index is within the run.
        indices.append(index if axis == 0 else 0 if extent in (0, 1) else b.remainder(index, extent))
    return indices


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
            return read_borders(b, data, at, axes, bring)
        inside = b.in_bounds(at, shape)
        zeros = [0] * len(shape_of(value))
        return b.guard(inside, element, lambda: b.read(data, *at), lambda: b.read(value, *zeros))

    return build.compute("nn_pad", build.result_shape, element, fill)


def read_borders(
    b: Body,
    data: SSAValue,
    at: Sequence[AffineExpr],
    axes: Sequence[bool],
    bring: Callable[[Body, AffineExpr, Dim], AffineExpr],
) -> SSAValue:
    """Reads `data` at indices that may be outside along `axes`; `bring` maps these, and keeps an index inside.

    Along a last axis of known extent, a branch separates indices inside, so that a schedule may cut the borders off a
    row. Without a cut, for which a named extent is not known well enough, the branch would only slow the loop down.
    """
    rows = list(zip(at, shape_of(data), axes, strict=True))
    brought = [bring(b, index, extent) if is_padded else index for index, extent, is_padded in rows[:-1]]
    row, extent, is_padded = rows[-1] if rows else (None, 0, False)
    if row is None or not is_padded:
        return b.read(data, *brought, *at[-1:])

    def outside() -> SSAValue:
        return b.read(data, *brought, bring(b, row, extent))

    if not isinstance(extent, int):
        return outside()
    inside = b.in_bounds([row], [extent])
    return b.guard(inside, element_of(data), lambda: b.read(data, *brought, row), outside)


def _nearest(b: Body, at: AffineExpr, extent: Dim) -> AffineExpr:
    """Clamps an index to the axis."""
    index = IndexType()
    above = b.maximum(b.index(at), 0)
    return b.as_index(b.minimum(above, b.size(extent - 1, index)))


def _mirrored(b: Body, at: AffineExpr, extent: Dim) -> AffineExpr:
    """Reflects an index, less than `extent` outside, at the outermost elements."""
    above = b.as_index(b.maximum(b.index(at), b.index(at * -1)))
    return b.as_index(b.minimum(b.index(above), b.index(above * -1 + b.expr(2 * (extent - 1)))))
