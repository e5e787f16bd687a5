"""The choice of the size of a register tile.

Sizes follow from an analytical model of accumulators, loads and partial tiles. A step of the inner loop multiplies
`positions` broadcast scalars (columns of one or more rows) with `vectors` vectors of weights into `positions * vectors`
accumulators. A multiply-add takes four cycles and two start in each cycle, so eight accumulators keep a core busy. A
vector of weights is used once per position and comes from the L2 cache, which delivers one in about four and a half
cycles, the time of nine multiply-adds: tiles with fewer positions wait for it. A scalar serves `vectors` multiply-adds
and comes from the L1 cache. The constants were fitted to kernels of this shape, measured on Zen 4, Zen 5 and Sapphire
Rapids (14×2: 94 to 97 % of the peak, 13×2: 97 %, 7×2: 70 to 83 %, 28×1: 80 %, 14×1: 36 %, 7×4: spills).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from xrelay.target.cpus import MIN_POSITIONS

MIN_GAIN = 1e-3
"""The relative gain that a candidate or a larger tile must have over those before it."""

MIN_ACCUMULATORS = 10
"""The least number of independent chains of multiply-adds that hides their latency."""

ENOUGH_ACCUMULATORS = 8
"""The number of chains that reaches nearly the peak, so that more do not pay for the rest of a row."""

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


def fits(positions: int, vectors: int, registers: int, *, shares_broadcasts: bool = True) -> bool:
    """Whether the accumulators, one step's weights and its data fit into the registers.

    The data is a broadcast, or without `shares_broadcasts` (depthwise) a vector for each vector of weights, and one
    more that LLVM loads ahead: on 16 registers, 14 accumulators were spilled.
    """
    data = 1 if shares_broadcasts else vectors + 1
    return positions * vectors + vectors + data <= registers


def efficiency(positions: int, vectors: int) -> float:
    """Returns the share of the peak that full tiles of this size are expected to reach."""
    latency = min(1.0, positions * vectors / MIN_ACCUMULATORS)
    streaming = min(1.0, positions / MIN_POSITIONS)
    time = 1.0 + WEIGHT_LOAD / positions + SCALAR_LOAD / vectors
    alone = SINGLE_VECTOR_PENALTY if vectors == 1 and positions > 1 else 1.0
    return min(latency, streaming) / time * alone


def depthwise_efficiency(positions: int, vectors: int) -> float:
    """Like `efficiency`, for vectors that each have their own data; their few weights stay in the L1 cache."""
    return min(1.0, positions * vectors / MIN_ACCUMULATORS) / (1.0 + WEIGHT_LOAD / positions)


TILES = 3
"""The maximum number of tiles to rank."""


@cache
def rank_tiles(
    width: int,
    blocks: int,
    registers: int,
    *,
    height: int = 1,
    vectors_per_block: int = 1,
    shares_broadcasts: bool = True,
    max_blocks: int | None = None,
    max_columns: int | None = None,
) -> tuple[RegisterTile, ...]:
    """Returns the best tiles, each with another number of blocks, the best first.

    The sums are `height` rows of `width` columns, and `blocks` blocks of `vectors_per_block` vectors. If a tile does
    not divide the number of columns, rows or blocks, a partial tile remains, which runs at its own efficiency. Without
    `shares_broadcasts` (depthwise), a tile has one block, since vectors share no scalars. `max_blocks`
    and `max_columns` limit the number of blocks and of columns in a tile.
    """
    found: list[RegisterTile] = []
    limit = blocks if max_blocks is None else max_blocks
    for count in range(1, limit + 1) if shares_broadcasts else [1]:
        if not fits(1, count * vectors_per_block, registers, shares_broadcasts=shares_broadcasts):
            break
        best = RegisterTile(1, count, 0.0)
        for rows, columns in _tile_shapes(width, height):
            if max_columns is not None and columns > max_columns:
                continue
            if not fits(rows * columns, count * vectors_per_block, registers, shares_broadcasts=shares_broadcasts):
                break
            speed = _blocked_speed(blocks, count, vectors_per_block, shares_broadcasts)
            tile = RegisterTile(columns, count, _image_efficiency(width, height, rows, columns, speed), rows)
            if tile.efficiency > best.efficiency * (1 + MIN_GAIN):
                best = tile
        found.append(best)
    found = found if found else [RegisterTile(1, 1, efficiency(1, vectors_per_block))]
    first = 0
    for index, tile in enumerate(found):
        if tile.efficiency > found[first].efficiency * (1 + MIN_GAIN):
            first = index
    others = sorted(found[:first] + found[first + 1 :], key=lambda tile: -tile.efficiency)
    return (found[first], *others[: TILES - 1])


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
    model = efficiency if shares_broadcasts else depthwise_efficiency

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


SHORT_SUM = 16
"""With at most so many terms, a core computes two sums of a tile of few filters at once."""

PARTIAL_TILE = 0.7
"""The factor of the efficiency if the tile does not divide the number of filters of a group."""


MOST_ROWS, LEAST_ROWS = 8, 4
"""The maximum number of rows in a tile of few filters, and the minimum that saves more loads than it costs in code."""

MOST_SUMS = 24
"""The maximum number of sums in a tile of several rows."""


@dataclass(frozen=True)
class FilterTile:
    """A tile of sums of `filters` that share each of the `vectors` of a row, and the expected share of the peak.

    Its rows share vectors, too: windows of neighbouring rows overlap.
    """

    filters: int
    vectors: int
    efficiency: float
    rows: int = 1


@cache
def rank_filters(
    filters: int, registers: int, terms: int, vectors: int = 1, *, height: int = 1, taps: int = 1
) -> tuple[FilterTile, ...]:
    """Returns the best tiles of filters and vectors of a row, best first. There is an accumulator for each pair.

    The filters are chosen out of `filters` that read the same channels. A divisor of `filters` is preferred. The sums
    of neighbouring tiles overlap if they have few `terms`. A tile of few filters has up to `vectors` vectors; if there
    are no more filters, it has a vector of several of `height` rows, if their windows have several `taps` below each
    other.
    """
    chains = MIN_ACCUMULATORS if terms > SHORT_SUM else MIN_ACCUMULATORS / 2

    def tile(count: int) -> FilterTile:
        fitting = (number for number in range(vectors, 1, -1) if fits(count, number, registers))
        wide = min(next(fitting, 1), -(-ENOUGH_ACCUMULATORS // count))
        rows = _rows_of_tile(height, MOST_SUMS // count) if taps > 1 and filters < ENOUGH_ACCUMULATORS else 1
        wide, loads = (wide, 1.0) if rows == 1 else (1, (rows + taps - 1) / (rows * taps))
        tiles = -(-filters // count)
        useful = 1.0 if tiles * count == filters else PARTIAL_TILE * filters / (tiles * count)
        speed = useful * min(1.0, count * wide * rows / chains) / (1.0 + WEIGHT_LOAD * loads / count)
        return FilterTile(count, wide, speed, rows)

    counts = takewhile(lambda count: count == 1 or fits(count, 1, registers), range(1, filters + 1))
    return tuple(sorted(map(tile, counts), key=lambda tile: -tile.efficiency)[:TILES])


def _rows_of_tile(height: int, most: int) -> int:
    """Returns the number of rows of a tile of few filters: a divisor of `height` if there is one, 1 for few rows."""
    limit = min(MOST_ROWS, most, height)
    divisors = (rows for rows in range(limit, LEAST_ROWS - 1, -1) if height % rows == 0)
    return next(divisors, LEAST_ROWS if limit >= LEAST_ROWS else 1)
