"""Sums of products in a register tile, for convolutions and matrix products, and the choice of the tile's size.

A *consumer* stores the results, after the epilogue. Its loops are split into tiles. The sums are computed at the
innermost loop around a tile, in a local buffer that becomes registers.

Sizes follow from an analytical model of accumulators, loads and partial tiles. A step of the inner loop multiplies
`positions` broadcast scalars (columns of one or more rows) with `vectors` vectors of weights into `positions * vectors`
accumulators. A multiply-add takes four cycles and two start in each cycle, so eight accumulators keep a core busy. A
vector of weights is used once per position and comes from the L2 cache, which delivers one in about four and a half
cycles, the time of nine multiply-adds: tiles with fewer positions wait for it. A scalar serves `vectors` multiply-adds
and comes from the L1 cache. The constants were fitted to kernels of this shape, measured on Zen 4, Zen 5 and Sapphire
Rapids (14×2: 94 to 97 % of the peak, 13×2: 97 %, 7×2: 70 to 83 %, 28×1: 80 %, 14×1: 36 %, 7×4: spills).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from xrelay.dialects.loop.schedule import ComputeAt, Contract, DisableUnroll, Reorder, Split, Unroll, Vectorize
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer
from xrelay.lowering.topi_to_loop.schedules.kernel_view import folded_loops, loop_of_variable, points
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft


class TiledAxis(NamedTuple):
    """One loop of the consumer, and the number of its iterations in a tile."""

    position: int
    """The position of the variable, which is the same in the consumer and the sum."""
    tile: int


def _split_consumer(draft: ScheduleDraft, consumer: str, axes: Sequence[TiledAxis]) -> tuple[list[str], list[str]]:
    """Splits the consumer's loops and moves the tile inside; returns the loops outside and inside the tile.

    The order of `axes` is that of the loops inside the tile, lanes last. Other loops stay outside.
    """
    block = draft.block(consumer)
    names = [loop_of_variable(block, position) for position in range(len(block.kinds))]
    inner: list[str] = []
    for axis in axes:
        loop = names[axis.position]
        if loop is None:
            continue
        if draft.is_longer(loop, axis.tile):
            outer, tile = f"{loop}_o", f"{loop}_i"
            if axis.tile > 1:
                draft.do(Split(loop, axis.tile, names=(outer, tile)))
                names[axis.position] = outer
                inner.append(tile)
        else:
            names[axis.position] = None
            inner.append(loop)
    outside = [loop for loop in names if loop is not None]
    if not outside:
        outside, inner = around_tile(draft, inner)
    if len(outside) + len(inner) > 1:
        draft.do(Reorder((*outside, *inner)))
    return outside, inner


def around_tile(draft: ScheduleDraft, inner: Sequence[str]) -> tuple[list[str], list[str]]:
    """Adds a loop of one iteration around a tile that covers all loops; returns the loops outside and inside."""
    if not inner:
        return [], []
    first, *others = inner
    draft.do(Split(first, draft.extent(first), names=(f"{first}_all", f"{first}_tile")))
    return [f"{first}_all"], [f"{first}_tile", *others]


def tile_products(
    draft: ScheduleDraft, name: str, consumer: str, axes: Sequence[TiledAxis], *, terms: str | None = None
) -> str | None:
    """Computes the sums of block `name` in a register tile at `consumer`; returns the reason if that is not possible.

    `axes` are as in `_split_consumer`. `terms` is the loop over contiguous products; it goes inside the lanes.
    """
    block = draft.block(name)
    own = [loop_of_variable(block, position) for position in range(len(block.kinds))]
    reduction, work = folded_loops(block), points(block)
    outside, inner = _split_consumer(draft, consumer, axes)
    if not outside:
        return f"{consumer} is a single element"
    if (refused := draft.attempt(ComputeAt(name, outside[-1]))) is not None:
        return refused
    tile = [loop for axis in axes if (loop := own[axis.position]) is not None and draft.extent(loop) > 1]
    schedule_sums(draft, name, reduction, tile, own[axes[-1].position], terms)
    unroll_tile(draft, consumer, inner, inner[-1] if inner else None)
    parallelize_outer(draft, outside, work)
    draft.mark_done(name, consumer)
    return None


def schedule_sums(
    draft: ScheduleDraft,
    name: str,
    reduction: Sequence[str],
    tile: Sequence[str],
    lanes: str | None,
    terms: str | None,
) -> None:
    """Orders the loops of sums: the reduction outside, the unrolled tile inside, the vectorised loop `lanes` innermost.

    The loop `terms` of the reduction, if given, goes inside the lanes: each lane adds up its products.
    """
    reduction = [loop for loop in reduction if loop != terms]
    order = (*reduction, *tile, *([] if terms is None else [terms]))
    if len(order) > 1:
        draft.do(Reorder(order))
    unroll_tile(draft, name, tile, lanes, terms=terms)
    for loop in reduction:
        draft.do(DisableUnroll(loop))


def unroll_tile(
    draft: ScheduleDraft, block: str, tile: Sequence[str], lanes: str | None, *, terms: str | None = None
) -> None:
    """Vectorises the loop `lanes` of a tile, if that is legal, and unrolls the others."""
    vectorized = None
    if lanes is not None and lanes in tile:
        refused = draft.attempt(Vectorize(lanes) if terms is None else Contract(terms, lanes))
        if refused is not None and terms is None:
            refused = draft.attempt(Vectorize(lanes, access="masked"))
        if refused is None:
            vectorized = lanes
        else:
            draft.because(f"{block} is not vectorized: {refused}")
    for loop in tile:
        if loop != vectorized:
            draft.do(Unroll(loop))


MIN_ACCUMULATORS = 10
"""The least number of independent chains of multiply-adds that hides their latency."""

MIN_POSITIONS = 9
"""The least number of multiply-adds for each vector of weights at which the L2 cache is not the bottleneck."""

WEIGHT_LOAD, SCALAR_LOAD = 0.3, 0.1
"""The additional time of a multiply-add that loads an operand which no other multiply-add uses."""

SINGLE_VECTOR_PENALTY = 0.6
"""The factor of the efficiency if each broadcast serves one vector: there are as many loads as multiply-adds."""

PARTIAL_TILE_CODE = 1
"""The additional cost of a partial tile, in positions, since it has a copy of the code."""


@dataclass(frozen=True)
class RegisterTile:
    """A tile of `rows` × `columns` × `blocks` sums, and the expected utilisation (0 to 1) of the multiply-add units.

    There is more than one row only if a row has no more columns than the tile.
    """

    columns: int
    blocks: int
    efficiency: float
    rows: int = 1

    @property
    def positions(self) -> int:
        """The number of positions of the image in a tile."""
        return self.rows * self.columns


def fits(positions: int, vectors: int, registers: int) -> bool:
    """Whether the accumulators, one step's weights and a broadcast fit into the registers."""
    return positions * vectors + vectors + 1 <= registers


def efficiency(positions: int, vectors: int) -> float:
    """Returns the share of the peak that full tiles of this size are expected to reach."""
    latency = min(1.0, positions * vectors / MIN_ACCUMULATORS)
    streaming = min(1.0, positions / MIN_POSITIONS)
    time = 1.0 + WEIGHT_LOAD / positions + SCALAR_LOAD / vectors
    alone = SINGLE_VECTOR_PENALTY if vectors == 1 and positions > 1 else 1.0
    return min(latency, streaming) / time * alone


def _depthwise_efficiency(positions: int, vectors: int) -> float:
    """Like `efficiency`, for vectors that each have their own data; their few weights stay in the L1 cache."""
    return min(1.0, positions * vectors / MIN_ACCUMULATORS) / (1.0 + WEIGHT_LOAD / positions)


@cache
def choose_tile(
    width: int,
    blocks: int,
    registers: int,
    *,
    height: int = 1,
    vectors_per_block: int = 1,
    shares_broadcasts: bool = True,
    max_blocks: int | None = None,
    max_columns: int | None = None,
) -> RegisterTile:
    """Returns the best tile for `height` rows of `width` columns, and `blocks` blocks of `vectors_per_block` vectors.

    If the tile does not divide the number of columns, rows or blocks, a partial tile remains, which has another
    efficiency. Without `shares_broadcasts` (depthwise), a tile has one block, since vectors share no scalars.
    `max_blocks` and `max_columns` limit the number of blocks and of columns in a tile.
    """
    best = RegisterTile(1, 1, 0.0)
    limit = blocks if max_blocks is None else max_blocks
    for count in range(1, limit + 1) if shares_broadcasts else [1]:
        if not fits(1, count * vectors_per_block, registers):
            break
        for rows, columns in _tile_shapes(width, height):
            if max_columns is not None and columns > max_columns:
                continue
            if not fits(rows * columns, count * vectors_per_block, registers):
                break
            speed = _blocked_speed(blocks, count, vectors_per_block, shares_broadcasts)
            tile = RegisterTile(columns, count, _image_efficiency(width, height, rows, columns, speed), rows)
            if tile.efficiency > best.efficiency * (1 + TIE):
                best = tile
    return best


TIE = 1e-3
"""The relative gain in efficiency that a larger tile must have over a smaller one."""

Speed = Callable[[int], float]
"""Maps the number of positions in a tile to the share of the peak."""


def _tile_shapes(width: int, height: int) -> Iterator[tuple[int, int]]:
    """Yields rows and columns of the candidate tiles, the smallest first: a part of a row, or several whole rows.

    There is a candidate for each number of rows and columns of the image. They are generated lazily, because the caller
    stops at the first tile that does not fit into the registers.
    """
    yield from ((1, columns) for columns in range(1, width + 1))
    yield from ((rows, width) for rows in range(2, height + 1))


def _blocked_speed(blocks: int, count: int, vectors_per_block: int, shares_broadcasts: bool) -> Speed:
    """Returns the speed over all blocks, `count` at a time; the last group may be smaller."""
    full, rest = divmod(blocks, count)
    model = efficiency if shares_broadcasts else _depthwise_efficiency

    def speed(positions: int) -> float:
        time = full * count / model(positions, count * vectors_per_block)
        if rest and shares_broadcasts:
            time += rest / model(positions, rest * vectors_per_block) + PARTIAL_TILE_CODE / positions
            return blocks / time
        return full * count / time

    return speed


def _image_efficiency(width: int, height: int, rows: int, columns: int, speed: Speed) -> float:
    """Returns the useful work per unit of time over an image: full tiles, then a partial tile with its code's cost."""
    if rows > 1:
        return _efficiency_along(height, rows, lambda count: speed(count * width))
    return _efficiency_along(width, columns, speed)


def _efficiency_along(extent: int, tile: int, speed: Speed) -> float:
    full, rest = divmod(extent, tile)
    time = full * tile / speed(tile) + (rest / speed(rest) + PARTIAL_TILE_CODE if rest else 0)
    return extent / time


PARTIAL_TILE = 0.7
"""The factor of the efficiency if the tile does not divide the number of filters of a group."""


@cache
def choose_filters(filters: int, registers: int) -> int:
    """Returns the number of filters that share one vector of a row, out of `filters` that read the same channels.

    There is an accumulator for each of these filters. A divisor of `filters` is preferred.
    """

    def speed(count: int) -> float:
        tiles = -(-filters // count)
        useful = 1.0 if tiles * count == filters else PARTIAL_TILE * filters / (tiles * count)
        return useful * min(1.0, count / MIN_ACCUMULATORS) / (1.0 + WEIGHT_LOAD / count)

    counts = takewhile(lambda count: count == 1 or fits(count, 1, registers), range(1, filters + 1))
    return max(counts, key=speed)


def largest_divisor(number: int, limit: int) -> int:
    """Returns the largest divisor of `number` that is at most `limit`."""
    return next((d for d in range(min(number, limit), 0, -1) if number % d == 0), 1)
