"""How large a register tile should be: an analytical model of accumulators, loads and partial tiles.

A step of the inner loop multiplies `columns` broadcast scalars with `vectors` vectors of weights into
`columns * vectors` accumulators. A multiply-add takes four cycles and two start in each, so eight accumulators keep a
core busy; a weight is loaded for `columns` multiply-adds, mostly from the second cache, a scalar for `vectors`, from
the first. The constants follow kernels of this shape, measured (14×2: 94 % of the peak, 4×4: 90 to 97 %, 14×1: 36 %,
7×4: spills).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

MIN_ACCUMULATORS = 10
"""With fewer chains of multiply-adds the latency shows."""

WEIGHT_LOAD, SCALAR_LOAD = 0.3, 0.1
"""What a load that serves one multiply-add alone adds to its time."""

SINGLE_VECTOR_PENALTY = 0.4
"""A broadcast that serves one vector alone: as many loads as multiply-adds."""


@dataclass(frozen=True)
class RegisterTile:
    """`columns` × `blocks` sums, and how busy the multiply-add units are expected to be (1: always)."""

    columns: int
    blocks: int
    efficiency: float


def divisors(number: int) -> list[int]:
    """The divisors of a positive number, the smallest first."""
    return [d for d in range(1, number + 1) if number % d == 0]


def fits(columns: int, vectors: int, registers: int) -> bool:
    """Whether accumulators, one step's weights and a broadcast find room in the registers."""
    return columns * vectors + vectors + 1 <= registers


def efficiency(columns: int, vectors: int) -> float:
    """The share of the peak that full tiles of this size are expected to reach."""
    latency = min(1.0, columns * vectors / MIN_ACCUMULATORS)
    time = 1.0 + WEIGHT_LOAD / columns + SCALAR_LOAD / vectors
    return latency / time * (SINGLE_VECTOR_PENALTY if vectors == 1 and columns > 1 else 1.0)


@cache
def choose_tile(
    width: int,
    blocks: int,
    registers: int,
    *,
    vectors_per_block: int = 1,
    shares_broadcasts: bool = True,
    max_blocks: int | None = None,
) -> RegisterTile:
    """The best tile for rows of `width` columns and results of `blocks` blocks, each of so many vectors.

    The number of blocks in a tile divides `blocks`; a tile of columns that does not divide `width` leaves a partial
    one, which runs at its own efficiency. Without `shares_broadcasts` (depthwise) a tile has one block, since vectors
    do not help each other. `max_blocks` keeps some blocks for other tiles.
    """
    best = RegisterTile(1, 1, 0.0)
    limit = blocks if max_blocks is None else max_blocks
    for count in [d for d in divisors(blocks) if d <= limit] if shares_broadcasts else [1]:
        vectors = count * vectors_per_block
        for columns in range(1, width + 1):
            if not fits(columns, vectors, registers):
                break
            tile = RegisterTile(columns, count, _row_efficiency(width, columns, vectors, shares_broadcasts))
            if tile.efficiency > best.efficiency:
                best = tile
    return best


PARTIAL_TILE = 0.7
"""How well tiles of filters do that are not all of one size, or that reach into the next group's filters."""


@cache
def choose_filters(filters: int, registers: int) -> int:
    """How many filters share one vector of a row, out of `filters` that read the same channels.

    Their sums are that many accumulators; a divisor of `filters` is preferred.
    """

    def speed(count: int) -> float:
        tiles = -(-filters // count)
        useful = 1.0 if tiles * count == filters else PARTIAL_TILE * filters / (tiles * count)
        return useful * min(1.0, count / MIN_ACCUMULATORS) / (1.0 + WEIGHT_LOAD / count)

    counts = [count for count in range(1, filters + 1) if count == 1 or fits(count, 1, registers)]
    return max(counts, key=speed)


def _row_efficiency(width: int, columns: int, vectors: int, shares_broadcasts: bool) -> float:
    """Useful work per unit of time over one row: full tiles, then the partial one, which costs code besides."""
    full, rest = divmod(width, columns)

    def speed(n: int) -> float:
        alone = min(1.0, n * vectors / MIN_ACCUMULATORS) / (1.0 + WEIGHT_LOAD / n)
        return efficiency(n, vectors) if shares_broadcasts else alone

    time = full * columns / speed(columns) + (rest / speed(rest) + 1 if rest else 0)
    return width / time


def largest_divisor(number: int, limit: int) -> int:
    """The largest divisor of `number` that is at most `limit`."""
    return max((d for d in divisors(number) if d <= limit), default=1)
