"""Nests of loops that multiply matrices of bytes, which `tensorize` marks and `convert-loop-to-scf` lowers to tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, LoopKind
from xrelay.passes.loop.nest_queries import only_op
from xrelay.passes.loop.primitives.dot_products import DotStep, dot_step
from xrelay.target.instructions import DOT_TERMS, TileProduct

Stride: TypeAlias = Callable[[LoadOp, ForOp], int | None]
"""Returns the distance in elements of the reads of consecutive iterations; `None` if it varies."""

MIN_STEPS = 4
"""The minimum number of steps of an instruction: with fewer, the loads of the tiles take longer than on vectors."""


@dataclass(frozen=True)
class TileNest:
    """The product of a matrix of `rows` and one of `vectors` x `lanes` columns, with the loops of their axes.

    `unsigned` and `signed` bytes are the factors of `step`; `loop` is outermost, and its iterations add up.
    """

    step: DotStep
    loop: ForOp
    rows: ForOp
    vectors: ForOp | None
    lanes: ForOp
    terms: ForOp
    depth: int
    """The number of iterations of `loop` in an instruction, which divides their number."""

    @property
    def loops(self) -> tuple[ForOp, ...]:
        """All loops, in no particular order."""
        nest = (self.loop, self.rows, self.lanes, self.terms)
        return nest if self.vectors is None else (*nest, self.vectors)

    def row_starts(self, product: TileProduct) -> list[int]:
        """Returns the first row of each tile. If the rows are no multiple of a tile's, the last tile overlaps another.

        Both tiles then have the same sums of the common rows.
        """
        count = self.rows.extent or 0
        full = list(range(0, count - product.rows + 1, product.rows))
        return full if count % product.rows == 0 else [*full, count - product.rows]

    @property
    def vector_count(self) -> int:
        """The number of vectors of columns."""
        return 1 if self.vectors is None else self.vectors.extent or 0


def loops_inside(loop: ForOp) -> list[ForOp]:
    """Returns the loops of the perfect nest inside of `loop`, the outermost first."""
    found: list[ForOp] = []
    while isinstance(inner := only_op(loop), ForOp):
        found.append(loop := inner)
    return found


def tile_nest(loop: ForOp, product: TileProduct, stride: Stride) -> TileNest | str:
    """Returns the product of matrices that the loops inside of `loop` compute, or the reason why they do not.

    These are unrolled loops over rows and vectors of columns, and loops that `contract` has marked.
    """
    *outer, lanes, terms = [None, None, *loops_inside(loop)]
    if lanes is None or terms is None or lanes.kind is not LoopKind.VECTORIZED or terms.kind is not LoopKind.CONTRACTED:
        return "it does not contain a contracted loop"
    body = only_op(terms)
    step = dot_step(body.body.block if isinstance(body, BlockOp) else terms.body.block)
    if step is None:
        return "it does not contain exactly one product of bytes"
    tiles = [each for each in outer if each is not None]
    rows = [each for each in tiles if stride(step.signed, each) == 0]
    vectors = [each for each in tiles if stride(step.unsigned, each) == 0]
    if len(rows) != 1 or len(vectors) > 1 or len(tiles) != 1 + len(vectors):
        return "the loops inside are not those over the rows and columns of a product of two matrices"
    extent = loop.extent or 0
    depth = next((each for each in range(product.steps, 0, -1) if extent % each == 0), 0)
    nest = TileNest(step, loop, rows[0], vectors[0] if vectors else None, lanes, terms, depth)
    return _size_problem(nest, product) or _stride_problem(nest, product, stride) or nest


def _size_problem(nest: TileNest, product: TileProduct) -> str | None:
    rows, lanes = nest.rows.extent or 0, nest.lanes.extent
    if nest.depth < MIN_STEPS or not nest.loop.extent:
        return f"its {nest.loop.extent} iterations are no multiple of a number from {MIN_STEPS} to {product.steps}"
    if rows < product.rows or lanes != product.columns:
        return f"there are {rows} rows and {lanes} lanes, a tile has {product.rows} x {product.columns}"
    tiles = len(nest.row_starts(product))
    if tiles * nest.vector_count + tiles + 1 > product.registers:
        return f"{tiles} x {nest.vector_count} tiles of sums do not fit into {product.registers} registers"
    return None


def _stride_problem(nest: TileNest, product: TileProduct, stride: Stride) -> str | None:
    row = DOT_TERMS * product.columns
    wanted = (
        ("sums", nest.step.sum, (0, 1, 0)),
        ("unsigned bytes", nest.step.unsigned, (DOT_TERMS, 0, 1)),
        ("signed bytes", nest.step.signed, (row, DOT_TERMS, 1)),
    )
    for name, load, strides in wanted:
        found = tuple(stride(load, each) for each in (nest.loop, nest.lanes, nest.terms))
        if found != strides or any(stride(load, each) is None for each in nest.loops):
            return f"the {name} are {found} elements apart in the loop, in lanes and in terms, not {strides}"
    return None
