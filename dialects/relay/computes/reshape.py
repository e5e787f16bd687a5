"""Elements read at the same row-major index in another shape."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.scalars import row_major
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim, is_positive, product


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
        indices.extend(_delinearized(b, linear, extents))
    return indices


def matching_runs(target: Sequence[Dim], source: Sequence[Dim]) -> list[tuple[list[int], list[int]]]:
    """Returns the shortest runs of adjacent axes of two shapes with provably equal numbers of elements."""
    runs: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(target) or j < len(source):
        run: tuple[list[int], list[int]] = ([], [])
        left: Dim = 1
        right: Dim = 1
        while not (run[0] or run[1]) or left != right or _only_units_left(target, i, source, j):
            if i < len(target) and (_goes_on(left, right) or j >= len(source)):
                left, i = left * target[i], i + 1
                run[0].append(i - 1)
            elif j < len(source):
                right, j = right * source[j], j + 1
                run[1].append(j - 1)
            else:
                break
        runs.append(run)
    return runs


def _goes_on(left: Dim, right: Dim) -> bool:
    """Returns whether to extend the first of two products: it is not known to be greater than the other."""
    return left <= right if isinstance(left, int) and isinstance(right, int) else not is_positive(left - right)


def _only_units_left(target: Sequence[Dim], i: int, source: Sequence[Dim], j: int) -> bool:
    """Returns whether one shape is exhausted and the other has only extents of 1 left, which join the last run."""
    rest = [*target[i:], *source[j:]]
    return bool(rest) and (i == len(target) or j == len(source)) and all(extent == 1 for extent in rest)


def _delinearized(b: Body, linear: AffineExpr, extents: Sequence[Dim]) -> list[IndexLike]:
    indices: list[IndexLike] = []
    for axis, extent in enumerate(extents):
        inner = product(extents[axis + 1 :])
        index = linear if inner in (0, 1) else b.quotient(linear, inner)
        # The first axis of the run needs no remainder, because the index is within the run.
        indices.append(index if axis == 0 else 0 if extent in (0, 1) else b.remainder(index, extent))
    return indices
