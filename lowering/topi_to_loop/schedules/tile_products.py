"""Sizes and costs of the tiles that an instruction multiplies, for products of bytes.

The sums of a tile of the consumer stay in tile registers for all terms. They are then stored to a buffer on the stack,
which the consumer reads row by row.
"""

from __future__ import annotations

from math import ceil

from xrelay.lowering.topi_to_loop.schedules.tile_model import RegisterTile, largest_divisor
from xrelay.passes.loop.primitives.tile_products import MIN_STEPS
from xrelay.target.instructions import DOT_TERMS, TileProduct

PRODUCT_CYCLES = 16.0
"""Cycles of an instruction with 16 rows, whatever the number of its terms."""

NEAR_LOAD, ROWS_LOAD, WEIGHT_LOAD = 6.0, 16.0, 21.0
"""Cycles to load a tile from the L1 cache, rows of the data from the L2 cache, and a tile of the weight from there."""

STORE_CYCLES = 40.0
"""Cycles to zero a tile of sums, to store it, and to read it again."""

MAX_VECTORS = 4
"""The maximum number of vectors of columns in a tile: each is a stream of the packed weight."""


def tile_sizes(
    rows: int, blocks: int, depth: int, product: TileProduct, *, l1: int, is_dynamic: bool
) -> list[RegisterTile]:
    """Returns the sizes of tiles for a product of `rows` x `blocks` vectors, with `depth` steps in each sum.

    A tile has the rows of an instruction, or up to twice as many, so that the last tile has enough rows, too. If the
    number of rows is dynamic, the rest is computed by vectors, in tiles of a third of the rows. Returns none if there
    are too few rows or steps. `l1` is the size of the L1 cache in bytes.
    """
    steps = largest_divisor(depth, product.steps)
    if rows < product.rows or steps < MIN_STEPS:
        return []
    heights = [product.rows] if is_dynamic or rows % product.rows == 0 else []
    tall = range(product.rows + 1, min(rows, 2 * product.rows) + 1)
    if not is_dynamic and (fitting := [each for each in tall if not 0 < rows % each < product.rows]):
        heights.append(min(fitting, key=lambda height: (_row_tiles(rows, height, product), -height)))
    data = NEAR_LOAD if 2 * rows * depth * DOT_TERMS <= l1 else ROWS_LOAD
    return [_tile_of(height, blocks, rows, data, product) for height in heights]


def _tile_of(height: int, blocks: int, rows: int, data: float, product: TileProduct) -> RegisterTile:
    """Returns the widest tile of `height` rows whose sums and factors fit into the registers.

    A load of the data takes `data` cycles. The panel of the weight is in the L1 cache for all tiles but the first.
    """
    tiles = ceil(height / product.rows)
    width = min(blocks, (product.registers - 1 - tiles) // tiles, MAX_VECTORS)
    weight = NEAR_LOAD + (WEIGHT_LOAD - NEAR_LOAD) * height / rows
    loads = (tiles * data + width * weight) / (tiles * width)
    return RegisterTile(height, width, PRODUCT_CYCLES / (PRODUCT_CYCLES + loads))


def _row_tiles(rows: int, height: int, product: TileProduct) -> int:
    """Returns the number of instructions for all rows of a vector of columns, in tiles of `height` rows."""
    full, rest = divmod(rows, height)
    return full * ceil(height / product.rows) + ceil(rest / product.rows)


def tile_cycles(rows: int, vectors: int, depth: int, tile: RegisterTile, product: TileProduct) -> float:
    """Returns the cycles of the sums of `rows` x `vectors` with `depth` steps, in tiles of this size."""
    count = vectors * _row_tiles(rows, tile.columns, product)
    steps = depth / largest_divisor(depth, product.steps)
    return count * (steps * PRODUCT_CYCLES / tile.efficiency + STORE_CYCLES)
