"""Convolutions: a tile of positions and filters in registers, on blocked or plain channels."""

from __future__ import annotations

from math import ceil

from xrelay.dialects.loop import BlockOp
from xrelay.lowering.topi_to_loop.schedules.common_steps import MIN_LANES, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    BLOCKED_CONVOLUTIONS,
    PLAIN_CONVOLUTIONS,
    ProductView,
    Role,
)
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of, fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.register_tile import TiledAxis, choose_filters, choose_tile, tile_products
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft


def schedule_conv2d_nchwc(draft: ScheduleDraft) -> bool:
    """Schedules kernels with one convolution on blocked channels, with or without padding and an epilogue.

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

    The rows, columns and blocks of a tile follow from the number of registers (`choose_tile`): if a row of the
    image is short, several rows share the weights. The padded image is computed in a nest before. If terms are
    contiguous, each lane adds up the products of four bytes at once.
    """
    product = ProductView.only(draft.blocks(), *BLOCKED_CONVOLUTIONS)
    if product is None or Role.BATCH not in product.positions:
        return False
    consumer = consumer_of(draft, product.name)
    if consumer is not None:
        _tile(draft, product, consumer)
    schedule_remaining(draft)
    return True


def _tile(draft: ScheduleDraft, product: ProductView, consumer: BlockOp) -> None:
    lanes = product.extent(Role.LANE)
    vectors_per_block = ceil(lanes / draft.lanes(product.block))
    depthwise = product.is_depthwise
    rows = product.extent(Role.BATCH) * product.extent(Role.PLANES) * product.extent(Role.ROWS)
    tile = choose_tile(
        _columns(draft, product),
        product.extent(Role.CHANNELS),
        draft.target.vector_registers,
        height=product.extent(Role.ROWS) if not depthwise else 1,
        vectors_per_block=vectors_per_block,
        shares_broadcasts=not depthwise,
        max_blocks=max(1, product.extent(Role.CHANNELS) // 2) if rows == 1 else None,
    )
    sizes = ((Role.ROWS, tile.rows), (Role.COLUMNS, tile.columns), (Role.CHANNELS, tile.blocks))
    axes = [TiledAxis(product.positions[role], size) for role, size in sizes if role in product.positions]
    axes.append(TiledAxis(product.positions[Role.LANE], lanes))
    refused = tile_products(draft, product.name, consumer.block_name, axes, terms=product.loop(Role.TERM))
    if refused is not None:
        draft.because(f"no register tile for {product.name}: {refused}")
        return
    kind = "depthwise, " if depthwise else ""
    rows_text = f"{tile.rows} rows x " if tile.rows > 1 else ""
    draft.because(
        f"{kind}{rows_text}{tile.columns} columns x {tile.blocks} blocks of {lanes} channels = "
        f"{tile.positions * tile.blocks * vectors_per_block} accumulators of {draft.target.vector_registers} "
        f"registers, expected at {tile.efficiency:.0%} of the peak"
    )


def _columns(draft: ScheduleDraft, product: ProductView) -> int:
    """Returns the columns to choose a tile for: those of a row, but few if a depthwise row has a dynamic length."""
    loop, columns = product.loop(Role.COLUMNS), product.extent(Role.COLUMNS)
    is_dynamic = loop is not None and draft.is_dynamic(loop)
    return min(columns, DYNAMIC_COLUMNS) if is_dynamic and product.is_depthwise else columns


DYNAMIC_COLUMNS = 12
"""The columns of a depthwise tile in a row of dynamic length: enough sums in registers, and a short partial tile."""


MIN_PRODUCTS = 4
"""The minimum number of products for gathered lanes: shorter scalar sums are unrolled completely, which is faster."""


def schedule_conv2d_nchw(draft: ScheduleDraft) -> bool:
    """Schedules kernels with one convolution on plain images: N×C×H×W, N×C×W or N×C×D×H×W.

    ```
    for n, c, h, w: for k, y, x: …    →    parallel for n_c_o_h: for w_o:
                                             for k, y, x: for c in 8: for w in lanes: acc += image * weight
    ```

    Lanes run along the columns. If the stride is not 1, lanes are gathered once for all filters of a tile, except that
    sums of few products stay scalar. The filters of a tile belong to one group, since they share the vectors of the
    image.
    """
    product = ProductView.only(draft.blocks(), *PLAIN_CONVOLUTIONS)
    if product is None or Role.BATCH not in product.positions:
        return False
    lanes = min(draft.lanes(product.block), product.extent(Role.COLUMNS))
    filters = choose_filters(product.filters_of_group, draft.target.vector_registers)
    few = max(product.filters_of_group, product.extent(Role.DEPTH)) < MIN_PRODUCTS
    if lanes < MIN_LANES or (few and not product.has_unit_stride):
        draft.because("columns are not lanes: too few columns, or too few products for a stride other than 1")
        fold_at_consumer(draft, product.name)
    elif (consumer := consumer_of(draft, product.name, read_elsewhere=True)) is not None:
        axes = [
            TiledAxis(product.positions[Role.CHANNELS], filters),
            TiledAxis(product.positions[Role.COLUMNS], lanes),
        ]
        refused = tile_products(draft, product.name, consumer.block_name, axes)
        shape = f"{filters} filters x {lanes} columns"
        draft.because(shape if refused is None else f"no register tile: {refused}")
    schedule_remaining(draft)
    return True
