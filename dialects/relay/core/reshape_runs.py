"""Runs of adjacent axes with as many elements in the shapes before and after a reshape."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.index_algebra.dims import Dim, DimExpr, Shape, terms_of


def divides_by_names(target: Shape, source: Shape) -> bool:
    """Returns whether the index of an element in `source` is a quotient by a named dimension, of an index in `target`.

    From (n, c, h, w) to (n, c, h * w), the index of the row is a quotient by `w`; to (n, 2, c floordiv 2, h, w), no
    index is a quotient by a named dimension.
    """
    if all(isinstance(extent, int) for extent in source):
        return False
    for _, sources in matching_runs(target, source):
        extents = [source[axis] for axis in sources if source[axis] != 1]
        if any(isinstance(extent, DimExpr) for extent in extents[1:]):
            return True
    return False


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
    """Returns whether to extend the first of two products: it is not known to be greater than the other.

    Names are taken as at least 1: `2 * n` is greater than `n`.
    """
    terms = terms_of(left - right)
    return sum(terms.values()) <= 0 or any(factor < 0 for monomial, factor in terms.items() if monomial)


def _only_units_left(target: Sequence[Dim], i: int, source: Sequence[Dim], j: int) -> bool:
    """Returns whether one shape is exhausted and the other has only extents of 1 left, which join the last run."""
    rest = [*target[i:], *source[j:]]
    return bool(rest) and (i == len(target) or j == len(source)) and all(extent == 1 for extent in rest)
