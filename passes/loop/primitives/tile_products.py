"""Nests of loops that multiply matrices of bytes or bf16, which `tensorize` marks for instructions on tiles."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, LoopKind
from xrelay.dialects.loop.extents import expression_of
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.divisors import largest_divisor
from xrelay.passes.loop.nest_queries import only_op
from xrelay.passes.loop.primitives.dot_products import DotStep, dot_step
from xrelay.target.instructions import TileProduct

Stride: TypeAlias = Callable[[LoadOp, ForOp], int | None]
"""Returns the distance in elements of the reads of consecutive iterations; see `ElementStrides`."""

MIN_STEPS = 4
"""The minimum number of steps of an instruction: with fewer, the loads of the tiles take longer than on vectors."""

MIN_ROWS = 4
"""The minimum number of rows of a tile: with fewer, an instruction waits for the instruction before it."""


@dataclass(frozen=True)
class TileNest:
    """The product of a matrix of `rows` and one of `vectors` x `lanes` columns, with the loops of their axes.

    `loop` is outermost, and its iterations add up.
    """

    step: DotStep
    loop: ForOp
    rows: tuple[ForOp, ...]
    """The loops over rows, the outermost first. The rows of a tile are iterations of the last one."""
    vectors: tuple[ForOp, ...]
    lanes: ForOp
    terms: ForOp
    parts: tuple[ForOp, ...]
    """The loops over products of parts of the factors, which add up, too."""
    depth: int
    """The number of iterations of `loop` in an instruction, which divides their number."""

    @property
    def loops(self) -> tuple[ForOp, ...]:
        """All loops, in no particular order."""
        return (self.loop, *self.parts, *self.rows, *self.vectors, self.lanes, self.terms)

    def rows_of_tile(self, product: TileProduct) -> int:
        """The number of rows of a tile."""
        return min(product.rows, self.rows[-1].extent or 0)

    def row_starts(self, product: TileProduct) -> list[tuple[int, ...]]:
        """Returns the indices of the first row of each tile. If the rows are no multiple, the last tile overlaps.

        Both tiles then have the same sums of the common rows.
        """
        count, height = self.rows[-1].extent or 0, self.rows_of_tile(product)
        starts = list(range(0, count - height + 1, height))
        starts = starts if count % height == 0 else [*starts, count - height]
        return list(itertools.product(*(range(each.extent or 0) for each in self.rows[:-1]), starts))

    def vector_starts(self) -> list[tuple[int, ...]]:
        """Returns the indices of each vector of columns."""
        return list(itertools.product(*(range(each.extent or 0) for each in self.vectors)))

    def part_indices(self) -> list[tuple[int, ...]]:
        """Returns the indices of each product of parts."""
        return list(itertools.product(*(range(each.extent or 0) for each in self.parts)))


def loops_inside(loop: ForOp) -> list[ForOp]:
    """Returns the loops of the perfect nest inside of `loop`, the outermost first."""
    found: list[ForOp] = []
    while isinstance(inner := only_op(loop), ForOp):
        found.append(loop := inner)
    return found


def tile_nest(loop: ForOp, product: TileProduct, stride: Stride) -> TileNest | str:
    """Returns the product of matrices that the loops inside of `loop` compute, or the reason why they do not.

    These are unrolled loops over rows and vectors of columns, and loops that `contract` has marked. Unrolled loops
    outside of them may add up products of parts of the factors.
    """
    *outer, lanes, terms = [None, None, *loops_inside(loop)]
    if lanes is None or terms is None or lanes.kind is not LoopKind.VECTORIZED or terms.kind is not LoopKind.CONTRACTED:
        return "it does not contain a contracted loop"
    body = only_op(terms)
    step = dot_step(body.body.block if isinstance(body, BlockOp) else terms.body.block)
    if step is None or str(step.sum.result.type) != product.sum_type:
        return f"it does not contain exactly one product of {product.name}"
    tiles = [each for each in outer if each is not None]
    rows = tuple(each for each in tiles if stride(step.weight, each) == 0)
    vectors = tuple(each for each in tiles if stride(step.data, each) == 0)
    parts = tuple(each for each in tiles if stride(step.sum, each) == 0)
    if not rows or len(tiles) != len(parts) + len(rows) + len(vectors) or parts != tuple(tiles[: len(parts)]):
        return "the loops inside are not those over the rows and columns of a product of two matrices"
    count = _count_factor(loop)
    depth = largest_divisor(count, product.steps) if count > 0 else 0
    nest = TileNest(step, loop, rows, vectors, lanes, terms, parts, depth)
    return _size_problem(nest, product) or _stride_problem(nest, stride) or nest


def _count_factor(loop: ForOp) -> int:
    """Returns the number of iterations of a loop, or the largest number that divides it whatever the extents."""
    if loop.dynamic_extent is None:
        return loop.extent or 0
    form = linear_form(expression_of(loop.dynamic_extent).exprs[0])
    return gcd(form.constant, *(coefficient for _, coefficient in form.terms))


def _size_problem(nest: TileNest, product: TileProduct) -> str | None:
    rows, lanes = nest.rows_of_tile(product), nest.lanes.extent
    if nest.depth < MIN_STEPS:
        count = "iterations" if nest.loop.extent is None else f"{nest.loop.extent} iterations"
        return f"its {count} are no multiple of a number from {MIN_STEPS} to {product.steps}"
    if rows < MIN_ROWS or lanes != product.columns:
        least = f"at least {MIN_ROWS} x {product.columns}"
        return f"there are {rows} rows and {lanes} lanes, a tile has {least}"
    tiles, vectors = len(nest.row_starts(product)), len(nest.vector_starts())
    if tiles * vectors + tiles + (vectors if nest.parts else 1) > product.registers:
        return f"{tiles} x {vectors} tiles of sums do not fit into {product.registers} registers"
    return None


def _stride_problem(nest: TileNest, stride: Stride) -> str | None:
    """Returns why factors are in another order than in tiles, whose rows may be any distance apart, or None."""
    terms = nest.step.terms
    wanted = (
        ("sums", nest.step.sum, {nest.loop: 0, nest.lanes: 1, nest.terms: 0}),
        ("data", nest.step.data, {nest.loop: terms, nest.lanes: 0, nest.terms: 1}),
        ("weights", nest.step.weight, {nest.lanes: terms, nest.terms: 1}),
    )
    for name, load, strides in wanted:
        found = {each: stride(load, each) for each in nest.loops if each not in nest.parts}
        if None in found.values() or any(found[each] != step for each, step in strides.items()):
            steps = tuple(found[each] for each in (nest.loop, nest.lanes, nest.terms))
            return f"the {name} are {steps} elements apart in the loop, in lanes and in terms"
    return None
