"""Convolutions: a tile of positions and filters in registers, on blocked or plain channels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import ceil, prod

from xrelay.dialects.loop import IterKind
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal, Refusal
from xrelay.lowering.topi_to_loop.schedules.common_steps import schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.conv2d_tiles import conv_tile_candidates
from xrelay.lowering.topi_to_loop.schedules.cost_model import (
    MAX_UNROLLED_VECTORS,
    MIN_LANES,
    Cost,
    fold_cost,
    products_cost,
)
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    BLOCKED_CONVOLUTIONS,
    PLAIN_CONVOLUTIONS,
    KernelView,
    ProductView,
    Role,
    buffer_bytes,
    expected_extent,
    expected_shape,
    loop_of_variable,
    loops_of_kind,
    points,
    reduction_loops,
)
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_at_points, fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.register_tile import TiledAxis, prefetch_weight, tile_products
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ITERATIONS_PER_THREAD, ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.shared_axis import SharedAxis
from xrelay.lowering.topi_to_loop.schedules.tile_model import FilterTile, RegisterTile, rank_filters, rank_tiles
from xrelay.target.cpus import UNITS


def propose_conv2d_nchwc(view: KernelView) -> list[Proposal]:
    """Proposes schedules for kernels with one convolution on blocked channels, with or without padding and an epilogue.

    The image has one, two or three axes.

    ```
    pad                                            parallel for n_c_h: pad a row, in lanes
    for n, co, h, w, ci:                           parallel for n_co_o_h:
      for ko, y, x, ki:                   →          for w_o:
        conv += pad * weight                           acc[2, 14, 16] = 0
    for n, co, h, w, ci: epilogue                      for ko, y, x, ki:
                                                         for co in 2: for w in 14: for ci in lanes: acc += …
                                                       epilogue on the tile, stored
    ```

    Several threads share pieces of the rows instead if the image is larger than the weights: `parallel for h_p: for
    co_o: for h_r: …` (`_shared_rows`), and so do they when they pad.

    The rows, columns and blocks of a tile follow from the number of registers (`rank_tiles`): if a row of the
    image is short, several rows share the weights. The padded image is computed in a nest before. If terms are
    contiguous, each lane adds up the products of four bytes at once.
    """
    product = ProductView.only(view.blocks(), *BLOCKED_CONVOLUTIONS)
    if product is None or Role.BATCH not in product.positions:
        return []
    rows = product.extent(Role.BATCH) * product.extent(Role.PLANES) * product.extent(Role.ROWS)
    is_split = _splits_blocks(view, product)
    vectors = _vectors_per_block(view, product)
    blocks = vectors if is_split else product.extent(Role.CHANNELS)
    tiles = rank_tiles(
        _columns(view, product),
        blocks,
        view.target.vector_registers,
        height=1 if product.is_depthwise else product.extent(Role.ROWS),
        vectors_per_block=1 if is_split else vectors,
        shares_broadcasts=not product.is_depthwise,
        max_blocks=max(1, blocks // 2) if rows == 1 and not is_split else None,
    )
    found = [_blocked_candidate(view, product, tile) for tile in tiles if not is_split or blocks % tile.blocks == 0]
    return [*conv_tile_candidates(view, product), *found]


def _splits_blocks(view: KernelView, product: ProductView) -> bool:
    """Whether a tile has some vectors of one block of filters, because a block for tiles of bytes has several.

    Depthwise filters have the blocks of the convolutions around.
    """
    lanes, block = view.lanes(product.block), product.extent(Role.LANE)
    has_blocks_of_tiles = Role.TERM in product.positions or product.is_depthwise
    return has_blocks_of_tiles and block > lanes and block % lanes == 0


def _columns(view: KernelView, product: ProductView) -> int:
    """Returns the columns to choose a tile for: those of a row, but few if a depthwise row has a dynamic length."""
    loop, columns = product.loop(Role.COLUMNS), product.extent(Role.COLUMNS)
    is_dynamic = loop is not None and view.is_dynamic(loop)
    return min(columns, DYNAMIC_COLUMNS) if is_dynamic and product.is_depthwise else columns


DYNAMIC_COLUMNS = 12
"""The columns of a depthwise tile in a row of dynamic length: enough sums in registers, and a short partial tile."""


def _vectors_per_block(view: KernelView, product: ProductView) -> int:
    return ceil(product.extent(Role.LANE) / view.lanes(product.block))


def _blocked_candidate(view: KernelView, product: ProductView, tile: RegisterTile) -> Candidate:
    """Returns the candidate with this tile."""
    rows = f"{tile.rows} rows x " if tile.rows > 1 else ""
    name = f"{rows}{tile.columns} columns x {tile.blocks} {'vectors' if _splits_blocks(view, product) else 'blocks'}"

    def estimate() -> Cost:
        vectors = points(product.block) / product.extent(Role.LANE) * _vectors_per_block(view, product)
        cycles = vectors / product.extent(Role.TERM) / UNITS / tile.efficiency
        return products_cost(view, product, cycles, _tiles(product, _sizes(view, product, tile)))

    return Candidate(
        name,
        f"tiles at {tile.efficiency:.0%} of the peak",
        estimate,
        partial(_tile, product, tile),
        frozenset({product.name}),
        partial(_decisions, view, product, tile),
    )


def _sizes(view: KernelView, product: ProductView, tile: RegisterTile) -> dict[Role, int]:
    """Returns the iterations of each axis in a tile, in the order of its loops; the lanes are last."""
    sizes = {Role.ROWS: tile.rows, Role.COLUMNS: tile.columns}
    if _splits_blocks(view, product):
        return {**sizes, Role.LANE: tile.blocks * view.lanes(product.block)}
    return {**sizes, Role.CHANNELS: tile.blocks, Role.LANE: product.extent(Role.LANE)}


def _tiles(product: ProductView, sizes: Mapping[Role, int]) -> int:
    """Returns the number of tiles of these sizes."""
    roles = (Role.BATCH, Role.CHANNELS, Role.PLANES, Role.ROWS, Role.COLUMNS, Role.LANE)
    return prod(ceil(product.extent(role) / sizes.get(role, 1)) for role in roles)


def _tile(product: ProductView, tile: RegisterTile, draft: ScheduleDraft) -> None:
    product = product.of(draft)
    depthwise, is_split = product.is_depthwise, _splits_blocks(draft, product)
    shared, moved, is_streamed = _decisions(draft, product, tile)
    lanes = draft.lanes(product.block) if is_split else product.extent(Role.LANE)
    vectors_per_block = 1 if is_split else _vectors_per_block(draft, product)
    consumer = consumer_at_points(draft, product.name)
    sizes = _sizes(draft, product, tile)
    axes = [TiledAxis(product.positions[role], size) for role, size in sizes.items() if role in product.positions]
    terms, reduction = product.loop(Role.TERM), reduction_loops(product.block)
    tile_products(
        draft, product.name, consumer.block_name, axes, terms=terms, lanes=lanes if is_split else None, shared=moved
    )
    kind = "depthwise, " if depthwise else ""
    rows_text = f"{tile.rows} rows x " if tile.rows > 1 else ""
    parts = "vectors" if is_split else "blocks"
    draft.record_reason(
        f"{kind}{rows_text}{tile.columns} columns x {tile.blocks} {parts} of {lanes} channels = "
        f"{tile.positions * tile.blocks * vectors_per_block} accumulators of {draft.target.vector_registers} "
        f"registers, expected at {tile.efficiency:.0%} of the peak"
    )
    if is_streamed:
        prefetch_weight(draft, reduction)
    schedule_remaining(draft, shared)


def _decisions(
    view: KernelView, product: ProductView, tile: RegisterTile
) -> tuple[SharedAxis | None, SharedAxis | None, bool]:
    """Returns the axis that threads share, the axis to move out, and whether the weight is prefetched."""
    if product.is_depthwise:
        return None, None, False
    shared = _shared_rows(view, product, tile.rows)
    moved = _moved_axis(view, product, tile) if shared is None else shared
    return shared, moved, _is_streamed(view, product)


def _is_streamed(view: KernelView, product: ProductView) -> bool:
    """Whether a weight of floats is larger than the L1 cache, so that each tile reads it from another cache.

    Kernels with dynamic extents have equal schedules, whatever the number of channels.
    """
    if Role.TERM in product.positions:
        return False
    is_dynamic = any(map(view.is_dynamic, loops_of_kind(product.block, IterKind.SPATIAL)))
    return is_dynamic or max(map(buffer_bytes, product.factors_along(Role.LANE))) > view.target.l1


RESULTS_PER_ELEMENT = 4
"""The results per element of the image from which moving the image between caches does not count."""


def _shared_rows(view: KernelView, product: ProductView, rows_of_tile: int = 1) -> SharedAxis | None:
    """Returns the rows, or planes, as the axis that threads share, if that moves less data between their caches.

    If threads share the filters, each reads the whole image, and other threads have written parts of it. If they share
    the rows, each reads all weights.
    """
    role = Role.PLANES if Role.PLANES in product.positions else Role.ROWS
    wanted = view.target.threads * ITERATIONS_PER_THREAD
    height = product.extent(role) // (rows_of_tile if role is Role.ROWS else 1)
    if view.target.threads < 2 or height < wanted or product.extent(Role.BATCH) >= wanted:
        return None
    image, weights = (
        max([prod(expected_shape(op.memref)) for op in product.factors_along(axis)], default=0)
        for axis in (role, Role.CHANNELS)
    )
    results = points(product.block) // max(1, product.terms)
    if image < max(weights, results // RESULTS_PER_ELEMENT):
        return None
    return SharedAxis(product.positions[role], product.positions[Role.CHANNELS], len(product.block.spatial), wanted)


PIECE_OF_IMAGE = 0.4
"""The part of the L2 cache that a piece of the image may fill; the weight may fill as much."""


def _moved_axis(view: KernelView, product: ProductView, tile: RegisterTile) -> SharedAxis | None:
    """Returns an axis to move out if that moves less data between the caches; the order is batch, filters, rows.

    - Pieces of rows, before the filters, stay in the L2 cache for all filters if an image is larger than the cache. The
      filters of each tile would read the whole image from the L3 cache or memory.
    - Filters, before the batch, are read once for all images instead of for each of them.
    """
    is_dynamic = any(map(view.is_dynamic, loops_of_kind(product.block, IterKind.SPATIAL)))
    if is_dynamic or Role.PLANES in product.positions or product.extent(Role.CHANNELS) <= tile.blocks:
        return None
    images, weight = (max(map(buffer_bytes, product.factors_along(role))) for role in (Role.BATCH, Role.LANE))
    batch, limit = product.extent(Role.BATCH), PIECE_OF_IMAGE * view.target.l2
    panels, pieces = product.extent(Role.CHANNELS) // tile.blocks, ceil(images / batch / limit)
    if weight <= limit and 1 < pieces <= product.extent(Role.ROWS) // tile.rows:
        position, before, count = Role.ROWS, Role.CHANNELS, pieces
    elif weight > limit and weight * (batch - 1) > images * (panels if images > limit else 1):
        position, before, count = Role.CHANNELS, Role.BATCH, panels
    else:
        return None
    return SharedAxis(product.positions[position], product.positions[before], len(product.block.spatial), count)


GATHERED_LANE, GATHERED_VECTOR = 1.4, 6.5
"""Cycles to read elements at a stride: for each lane, and for a vector that one filter uses alone.

LLVM loads the latter by shuffles.
"""


def propose_conv2d_nchw(view: KernelView) -> list[Proposal]:
    """Proposes schedules for kernels with one convolution on plain images: N×C×H×W, N×C×W or N×C×D×H×W.

    ```
    for n, c, h, w: for k, y, x: …    →    parallel for n_c_o_h: for w_o:
                                             for k, y, x: for c in 8: for w in lanes: acc += image * weight
    ```

    Lanes run along the columns. If their stride is not 1, they are gathered once for all filters of a tile. The filters
    of a tile belong to one group, since they share the vectors of the image. A tile of few filters has several rows,
    whose windows overlap: `for k, x: for y in 7, h in 8: acc[h] += image[h + y] * weight[y]` reads 14 vectors for 56
    products. Without a tile, each sum is computed by itself, or each row of sums with accumulators in the L1 cache.
    """
    product = ProductView.only(view.blocks(), *PLAIN_CONVOLUTIONS)
    if product is None or Role.BATCH not in product.positions:
        return []
    lanes = min(view.lanes(product.block), product.extent(Role.COLUMNS))
    if lanes < MIN_LANES:
        reason = f"{product.extent(Role.COLUMNS)} columns are too few for lanes"
        return [Refusal(COLUMNS, reason), _one_by_one(view, product, reason)]
    vectors = min(product.extent(Role.COLUMNS) // lanes, MAX_UNROLLED_VECTORS) if product.has_unit_stride else 1
    height, taps = _overlapping_rows(view, product)
    registers, filters = view.target.vector_registers, product.filters_of_group
    tiles = rank_filters(filters, registers, product.terms, vectors, height=height, taps=taps)
    reason = f"{filters} filters, stride {product.column_stride}"
    return [*(_plain(view, product, lanes, tile) for tile in tiles), _one_by_one(view, product, reason)]


DYNAMIC_TAPS = 5
"""The minimum height of a window for which dynamic rows have tiles of several rows: partial tiles have code, too."""


def _overlapping_rows(view: KernelView, product: ProductView) -> tuple[int, int]:
    """Returns the number of rows of an image that a tile may have, and the height of a window; 1 if none overlap."""
    row, position = product.loop(Role.ROWS), product.row_taps
    taps = expected_extent(product.block.extents[position]) if position is not None else 1
    if row is None or (view.is_dynamic(row) and taps < DYNAMIC_TAPS):
        return 1, taps
    return product.extent(Role.ROWS), taps


COLUMNS = "columns as lanes"
"""The name of the candidates whose lanes are columns."""


def _plain(view: KernelView, product: ProductView, lanes: int, tile: FilterTile) -> Candidate:
    """Returns the candidate with this tile, whose vectors have `lanes`."""
    filters, width = tile.filters, lanes * tile.vectors
    rows = f"{tile.rows} rows x " if tile.rows > 1 else ""

    def estimate() -> Cost:
        columns = product.extent(Role.COLUMNS)
        vectors = points(product.block) / columns * ceil(columns / width) * tile.vectors
        cycles = vectors / UNITS / tile.efficiency
        if not product.has_unit_stride:
            cycles += vectors / filters * (GATHERED_VECTOR if filters == 1 else GATHERED_LANE * lanes)
        sizes = {Role.CHANNELS: filters, Role.ROWS: tile.rows, Role.COLUMNS: width}
        return products_cost(view, product, cycles, _tiles(product, sizes))

    def apply(draft: ScheduleDraft) -> None:
        own = product.of(draft)
        consumer = consumer_at_points(draft, own.name, read_elsewhere=True)
        sizes = ((Role.CHANNELS, filters), (Role.ROWS, tile.rows), (Role.COLUMNS, width))
        axes = [TiledAxis(own.positions[role], size) for role, size in sizes if role in own.positions]
        shared = _shared_rows(draft, own, tile.rows)
        taps = loop_of_variable(own.block, own.row_taps) if own.row_taps is not None and tile.rows > 1 else None
        tile_products(draft, own.name, consumer.block_name, axes, lanes=lanes, shared=shared, unrolled=taps)
        draft.record_reason(f"{filters} filters x {rows}{width} columns")
        schedule_remaining(draft, shared)

    gathered = "" if product.has_unit_stride else ", gathered once for each tile"
    name = f"{COLUMNS}, {filters} filters x {rows}{width} columns"
    reason = f"tiles at {tile.efficiency:.0%} of the peak{gathered}"
    return Candidate(name, reason, estimate, apply, frozenset({product.name}))


def _one_by_one(view: KernelView, product: ProductView, reason: str) -> Candidate:
    """Returns the candidate that computes each sum, or a row of them, by itself."""

    def apply(draft: ScheduleDraft) -> None:
        draft.record_reason(f"columns are not lanes of a tile: {reason}")
        fold_at_consumer(draft, product.name)
        schedule_remaining(draft)

    cost = partial(fold_cost, view, product.block)
    return Candidate("no tile", reason, cost, apply, frozenset({product.name}))
