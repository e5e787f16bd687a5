"""Sizes and costs of the tiles that an instruction multiplies, for products of bytes.

The sums of a tile of the consumer stay in tile registers for all terms. They are then stored to a buffer on the stack,
which the consumer reads row by row.
"""

from __future__ import annotations

from math import ceil

from xrelay.lowering.topi_to_loop.schedules.tile_model import RegisterTile, largest_divisor
from xrelay.passes.loop.primitives.tile_products import MIN_STEPS
from xrelay.target.instructions import TileProduct

PRODUCT_CYCLES = 16.0
"""Cycles of an instruction with 16 rows, whatever the number of its terms."""

LOAD_CYCLES = 12.0
"""Cycles to load a tile: one from the L1 cache takes 8, one from the L2 cache 21."""

STORE_CYCLES = 40.0
"""Cycles to zero a tile of sums, to store it, and to read it again."""


def tile_sizes(rows: int, blocks: int, depth: int, product: TileProduct, *, is_dynamic: bool) -> list[RegisterTile]:
    """Returns the sizes of tiles for a product of `rows` x `blocks` vectors, with `depth` steps in each sum.

    If the number of rows is dynamic, a tile has the rows of an instruction: the rest is computed in vectors, in tiles
    of a third of the rows. Returns none if there are too few rows or steps.
    """
    steps = largest_divisor(depth, product.steps)
    if rows < product.rows or steps < MIN_STEPS:
        return []
    heights = [product.rows] if is_dynamic or rows == product.rows else [min(rows, 2 * product.rows), product.rows]
    found: list[RegisterTile] = []
    for height in heights:
        tiles = ceil(height / product.rows)
        width = min(blocks, (product.registers - 1 - tiles) // tiles, MAX_VECTORS)
        loads = (tiles + width) / (tiles * width) * LOAD_CYCLES
        found.append(RegisterTile(height, width, PRODUCT_CYCLES / (PRODUCT_CYCLES + loads)))
    return found


MAX_VECTORS = 4
"""The maximum number of vectors of columns in a tile: each is a stream of the packed weight."""


def tile_cycles(rows: int, vectors: int, depth: int, tile: RegisterTile, product: TileProduct) -> float:
    """Returns the cycles of the sums of `rows` x `vectors` with `depth` steps, in tiles of this size."""
    full, rest = divmod(rows, tile.columns)
    count = vectors * (full * ceil(tile.columns / product.rows) + ceil(rest / product.rows))
    steps = depth / largest_divisor(depth, product.steps)
    return count * (steps * PRODUCT_CYCLES / tile.efficiency + STORE_CYCLES)
