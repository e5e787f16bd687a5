"""Sizes and costs of the tiles that an instruction multiplies, for products of bytes, or of parts in bf16.

The sums of a tile of the consumer stay in tile registers for all terms. They are then stored to a buffer on the stack,
which the consumer reads row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from xrelay.index_algebra.divisors import largest_divisor
from xrelay.lowering.topi_to_loop.schedules.kernel_view import ProductView, Role
from xrelay.lowering.topi_to_loop.schedules.tile_model import RegisterTile
from xrelay.passes.loop.primitives.tile_products import MIN_STEPS
from xrelay.target.cpus import UNITS
from xrelay.target.instructions import GROUP_BYTES, TileProduct

PRODUCT_CYCLES = 16.0
"""Cycles of an instruction with 16 rows, whatever the number of its terms."""

NEAR_LOAD, ROWS_LOAD, WEIGHT_LOAD = 6.0, 16.0, 21.0
"""Cycles to load a tile from the L1 cache, rows of the data from the L2 cache, and a tile of the weight from there."""

STORE_CYCLES = 40.0
"""Cycles to zero a tile of sums, to store it, and to read it again."""

MAX_VECTORS = 4
"""The maximum number of vectors of columns in a tile: each is a stream of the packed weight."""


STREAMED = 1 / 8
"""The part of the L2 cache from which on the weights are likely to be read from the L3 cache or memory in each run."""

VECTORS_EFFICIENCY = 0.5
"""The share of the peak of vectors that the rest of the rows reaches: its sums may not fit into the registers."""

PARTIAL_TILE = 1.1
"""The factor of the cost of tiles if the last is partial: threads then share the columns only."""


@dataclass(frozen=True)
class TiledSums:
    """Sums of `depth` groups of terms each, by the instruction `product`."""

    product: TileProduct
    depth: int
    pairs: int
    """The number of products of pairs of parts: 1, or 3 if each factor has two parts."""

    @staticmethod
    def of(view: ProductView, product: TileProduct) -> TiledSums:
        """Returns the sums of a product by an instruction."""
        return TiledSums(product, view.extent(Role.DEPTH), view.extent(Role.PAIR))

    @property
    def parts(self) -> int:
        """The number of parts of a factor."""
        return 1 if self.pairs == 1 else 2

    @property
    def group(self) -> int:
        """The number of groups of terms in an instruction."""
        return largest_divisor(self.depth, self.product.steps)

    def widest(self, tiles: int) -> int:
        """Returns the maximum number of vectors of a tile of the consumer with `tiles` tiles of rows.

        The factors of pairs of parts share the loads of a part, so all tiles of a part are in registers at once.
        """
        free = self.product.registers - tiles
        return free // (tiles + 1) if self.parts > 1 else (free - 1) // tiles


def tile_sizes(rows: int, blocks: int, sums: TiledSums, *, l1: int, is_dynamic: bool) -> list[RegisterTile]:
    """Returns the sizes of tiles for a product of `rows` x `blocks` vectors.

    A tile has the rows of an instruction, or up to twice as many. If the number of rows is dynamic, the rest is a full
    tile. Returns none if there are too few rows, blocks or steps. `l1` is the size of the L1 cache in bytes.
    """
    if rows < sums.product.rows or blocks < 1 or sums.group < MIN_STEPS:
        return []
    data = NEAR_LOAD if 2 * rows * sums.parts * sums.depth * GROUP_BYTES <= l1 else ROWS_LOAD
    heights = _tile_heights(rows, sums.product, is_dynamic=is_dynamic)
    return [_tile_of(height, blocks, rows, data, sums) for height in heights]


def _tile_heights(rows: int, product: TileProduct, *, is_dynamic: bool) -> list[int]:
    """Returns the candidates for the rows of a tile: those of an instruction, and up to twice as many.

    The larger number is twice the rows of an instruction if that divides all rows, or else the one for which the last
    tile has enough rows for an instruction.
    """
    single, double = product.rows, 2 * product.rows
    if is_dynamic or (rows % single == 0 and rows % double != 0):
        return [single]
    heights = [double] if rows % double == 0 else range(min(rows, double), single, -1)
    fitting = [each for each in heights if rows % each == 0 or rows % each >= single]

    def cost(height: int) -> float:
        return _row_tiles(rows, height, product) * (1.0 if rows % height == 0 else PARTIAL_TILE)

    return [single, *([min(fitting, key=cost)] if fitting else [])]


def _tile_of(height: int, blocks: int, rows: int, data: float, sums: TiledSums) -> RegisterTile:
    """Returns the widest tile of `height` rows whose sums and factors fit into the registers.

    A tile with one vector less is better if only that divides the columns. A load of the data takes `data` cycles. The
    panel of the weight is in the L1 cache for all tiles but the first.
    """
    tiles = ceil(height / sums.product.rows)
    width = min(blocks, sums.widest(tiles), MAX_VECTORS)
    if width == MAX_VECTORS and blocks % width != 0 and blocks % (width - 1) == 0:
        width -= 1
    weight = NEAR_LOAD + (WEIGHT_LOAD - NEAR_LOAD) * height / rows
    loads = sums.parts / sums.pairs * (tiles * data + width * weight) / (tiles * width)
    return RegisterTile(height, width, PRODUCT_CYCLES / (PRODUCT_CYCLES + loads))


def _row_tiles(rows: int, height: int, product: TileProduct) -> int:
    """Returns the number of instructions for the rows of a vector of columns, in tiles of `height` rows.

    A rest with fewer rows than an instruction is computed by vectors.
    """
    full, rest = divmod(rows, height)
    return full * ceil(height / product.rows) + (ceil(rest / product.rows) if rest >= product.rows else 0)


def tile_cycles(rows: int, vectors: int, tile: RegisterTile, sums: TiledSums) -> float:
    """Returns the cycles of the sums of `rows` x `vectors`, in tiles of this size."""
    count = _row_tiles(rows, tile.columns, sums.product)
    steps, rest = sums.pairs * sums.depth / sums.group, rows % tile.columns
    by_vectors = rest * sums.pairs * sums.depth / UNITS / VECTORS_EFFICIENCY if rest < sums.product.rows else 0
    return vectors * (count * (steps * PRODUCT_CYCLES / tile.efficiency + STORE_CYCLES) + by_vectors)
