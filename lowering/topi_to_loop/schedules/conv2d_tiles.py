"""Convolutions of bytes on tiles: an instruction multiplies neighbouring columns of the image by blocks of filters.

A tile of sums has up to 16 columns of one row of the image, and 16 filters. Its sums stay in a tile register for all
taps and channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil, prod

from xrelay.dialects.loop import BlockOp, IterKind
from xrelay.dialects.loop.schedule import Reorder
from xrelay.index_algebra.divisors import divisors, largest_divisor
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.cost_model import Cost, products_cost
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    ProductView,
    Role,
    buffer_bytes,
    expected_extent,
    loop_of_variable,
    points,
)
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_at_points
from xrelay.lowering.topi_to_loop.schedules.register_tile import TiledAxis, tile_products, unroll_tile
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.shared_axis import SharedAxis
from xrelay.lowering.topi_to_loop.schedules.tile_products import ROWS_LOAD, STORE_CYCLES, STREAMED, WEIGHT_LOAD
from xrelay.passes.loop.nest_queries import enclosing_loops
from xrelay.passes.loop.primitives.tile_products import MIN_ROWS, MIN_STEPS
from xrelay.target.instructions import TileProduct

LATENCY = 52.0
"""Cycles until the sums of an instruction can be used by the next one on the same tile."""

PIECE = 0.4
"""The part of the L2 cache that the parts of a piece of an image may fill; the weight may fill as much."""

CANDIDATES = 3
"""The maximum number of tiles to propose."""


@dataclass(frozen=True)
class ConvTile:
    """A tile of the consumer: `rows` x `columns` of the image, and `vectors` of filters."""

    rows: int
    columns: int
    vectors: int
    in_parts: bool = False
    """Whether the factors are parts of floats; the vectors are then blocks of filters."""

    def heights(self, product: TileProduct) -> tuple[int, int]:
        """Returns the number of tiles along the positions, and the rows of each: columns of the image."""
        return self.rows * ceil(self.columns / product.rows), min(self.columns, product.rows)

    def fits(self, product: TileProduct) -> bool:
        """Whether the sums and the factors of a step fit into the registers."""
        tiles, _ = self.heights(product)
        factors = tiles + self.vectors if self.in_parts else 1 + (tiles if self.vectors > 1 else 1)
        return tiles * self.vectors + factors <= product.registers

    def sizes(self, product: TileProduct) -> dict[Role, int]:
        """Returns the iterations of each axis in a tile, in the order of its loops."""
        image = {Role.ROWS: self.rows, Role.COLUMNS: self.columns}
        if self.in_parts:
            return {**image, Role.CHANNELS: self.vectors, Role.LANE: product.columns}
        return {**image, Role.LANE: self.vectors * product.columns}


def conv_tile_candidates(view: KernelView, product: ProductView) -> list[Candidate]:
    """Returns candidates whose sums an instruction on tiles computes, the best first; none if the target has none.

    ```
    for n, co, h, w, ci:                             parallel for n_co_h_o:
      for ko, t, kq, y, x: conv += data * weight  →    for w_o: for ci_o:
    for n, co, h, w, ci: epilogue                        acc[1, 28, 2, 16] = 0
                                                         for ko, y, x: tensorized kq:
                                                           for w in 28: for ci_v in 2: for ci in lanes: for t in 4: …
                                                         epilogue on the tile, stored
    ```

    The columns and rows of a tile divide those of the image, so that all tiles of the kernel have the same shape. A
    tile has one row if their number is dynamic. If that of the columns is, a tile has the rows of an instruction.
    """
    instruction = view.target.tile_product(product.sum_type)
    block, positions = product.block, product.positions
    if instruction is None or not {Role.TERM, Role.COLUMNS, Role.LANE} <= positions.keys():
        return []
    if not isinstance(block.extents[positions[Role.LANE]], int):
        return []
    if Role.PAIR not in positions and _is_dynamic(product, Role.COLUMNS):
        return []  # The padded image has no columns for the rest of a tile.
    if product.extent(Role.LANE) % instruction.columns or _depth(product, instruction) < MIN_STEPS:
        return []
    tiles = sorted(_tiles(product, instruction), key=lambda tile: _cycles(product, tile, instruction))
    return [_candidate(view, product, tile, instruction) for tile in tiles[:CANDIDATES]]


def _steps(product: ProductView) -> int:
    """Returns the position of the axis that an instruction covers: the groups of terms in a block of channels.

    With one group, such as in an image of up to four channels, it is the last axis of the taps: neighbouring columns of
    the image follow each other.
    """
    if product.extent(Role.GROUP) > 1:
        return product.positions[Role.GROUP]
    return max(position for position, kind in enumerate(product.block.kinds) if kind is IterKind.REDUCE)


def _depth(product: ProductView, instruction: TileProduct) -> int:
    """Returns the number of groups of terms in an instruction."""
    return largest_divisor(expected_extent(product.block.extents[_steps(product)]), instruction.steps)


def _tiles(product: ProductView, instruction: TileProduct) -> Iterator[ConvTile]:
    """Yields the tiles that divide the image and the filters, and fit into the registers."""
    in_parts = Role.PAIR in product.positions
    vectors = product.extent(Role.CHANNELS) if in_parts else product.extent(Role.LANE) // instruction.columns
    any_columns, any_rows = (_is_dynamic(product, role) for role in (Role.COLUMNS, Role.ROWS))
    for columns in (instruction.rows,) if any_columns else divisors(product.extent(Role.COLUMNS)):
        for rows in (1,) if any_columns or any_rows else divisors(product.extent(Role.ROWS)):
            for count in divisors(vectors):
                tile = ConvTile(rows, columns, count, in_parts)
                if columns >= MIN_ROWS and tile.fits(instruction):
                    yield tile


def _is_dynamic(product: ProductView, role: Role) -> bool:
    """Whether the extent of an axis is dynamic."""
    return role in product.positions and not isinstance(product.block.extents[product.positions[role]], int)


def _cycles(product: ProductView, tile: ConvTile, instruction: TileProduct) -> float:
    """Returns the cycles of the sums in tiles of this size."""
    tiles, height = tile.heights(instruction)
    steps = product.terms / instruction.terms / _depth(product, instruction)
    loads = tiles * ROWS_LOAD * height / instruction.rows + tile.vectors * WEIGHT_LOAD
    step = max(tiles * tile.vectors * height, LATENCY) + loads
    columns = product.extent(Role.COLUMNS)
    rows = points(product.block) / product.terms / columns
    count = rows * ceil(columns / tile.columns) / (tile.rows * tile.vectors * instruction.columns)
    return count * (steps * step + tiles * tile.vectors * STORE_CYCLES)


def _candidate(view: KernelView, product: ProductView, tile: ConvTile, instruction: TileProduct) -> Candidate:
    """Returns the candidate with this tile."""
    name = f"{tile.rows} rows x {tile.columns} columns x {tile.vectors} vectors by {instruction.name}"

    def estimate() -> Cost:
        sizes = tile.sizes(instruction)
        count = prod(
            ceil(product.extent(role) / sizes.get(role, 1))
            for role in (Role.BATCH, Role.CHANNELS, Role.PLANES, Role.ROWS, Role.COLUMNS, Role.LANE)
        )
        return products_cost(view, product, _cycles(product, tile, instruction), count)

    def decisions() -> tuple[bool, bool]:
        return tile.in_parts and _pieces(view, product, tile) is not None, _is_streamed(view, product)

    return Candidate(
        name,
        f"tiles of {tile.heights(instruction)[1]} x {instruction.columns}",
        estimate,
        partial(_apply, product, tile, instruction),
        frozenset({product.name}),
        decisions,
    )


def _apply(product: ProductView, tile: ConvTile, instruction: TileProduct, draft: ScheduleDraft) -> None:
    product = product.of(draft)
    consumer = consumer_at_points(draft, product.name)
    parts = next(iter(_writers(draft, product)), None) if tile.in_parts else None
    shared = None if parts is None else _pieces(draft, product, tile)
    sizes = tile.sizes(instruction).items()
    axes = [TiledAxis(product.positions[role], size) for role, size in sizes if role in product.positions]
    tile_products(
        draft,
        product.name,
        consumer.block_name,
        axes,
        terms=product.loop(Role.TERM),
        lanes=instruction.columns,
        instruction=instruction,
        steps=loop_of_variable(product.block, _steps(product)),
        unrolled=product.loop(Role.PAIR),
        shared=shared,
        staged=None if shared is None or parts is None else parts.block_name,
        prefetches=_is_streamed(draft, product),
    )
    draft.record_reason(
        f"{tile.rows} rows x {tile.columns} columns x {tile.vectors} vectors = tiles of {instruction.name}"
    )
    if parts is not None:
        _schedule_parts(draft, parts.block_name)
    schedule_remaining(draft)


def _writers(draft: ScheduleDraft, product: ProductView) -> list[BlockOp]:
    """Returns the blocks that compute factors of the product."""
    return [block for block in draft.blocks() if any(result in product.block.reads for result in block.writes)]


def _pieces(view: KernelView, product: ProductView, tile: ConvTile) -> SharedAxis | None:
    """Returns the pieces of rows that are split and then multiplied by all filters, or None if one image is a piece.

    The parts of a piece stay in the L2 cache. There are pieces if the image is larger, unless reading the weight for
    each of them moves more data than reading the image for all filters, or the number of rows is dynamic: a piece would
    then be a row, whose parts are computed again for the taps in other rows.
    """
    if _is_dynamic(product, Role.ROWS):
        return None
    (data, *_), (weight, *_) = (
        list(map(buffer_bytes, product.factors_along(role))) for role in (Role.ROWS, Role.CHANNELS)
    )
    image, panels = data // product.extent(Role.BATCH), product.extent(Role.CHANNELS) // tile.vectors
    count = max(ceil(image / (PIECE * view.target.l2)), 1)
    most = product.extent(Role.ROWS) // tile.rows
    if count == 1 or count > most or weight * count * 2 > image * panels:
        return None
    count = min(max(count, view.target.threads), most)
    return SharedAxis(product.positions[Role.ROWS], product.positions[Role.CHANNELS], len(product.block.spatial), count)


def _schedule_parts(draft: ScheduleDraft, name: str) -> None:
    """Computes both parts of a vector of the image at once, and the vectors of a pixel one after the other."""
    block = draft.block(name)
    names = [loop.loop_name for loop in enclosing_loops(block)]
    part, row = (loop_of_variable(block, block.spatial[position]) for position in (0, -1))
    if part is None or row is None:
        return
    loops = names[names.index(part) + 1 : names.index(row)]
    vectors = draft.split(row, draft.lanes(block), outer="v", inner="l")
    draft.do(Reorder((*loops, vectors[0], part, vectors[1])))
    unroll_tile(draft, name, [vectors[0], part, vectors[1]], vectors[1])
    parallelize_outer(draft, loops, points(block))
    draft.mark_done(name)


def _is_streamed(view: KernelView, product: ProductView) -> bool:
    """Whether the filters of a convolution are so large that other kernels displace them from the L2 cache."""
    weights = [buffer_bytes(load) for load in product.factors_along(Role.LANE)]
    return max(weights, default=0) >= STREAMED * view.target.l2
