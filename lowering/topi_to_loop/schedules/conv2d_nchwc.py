"""Convolution on blocked channels: output columns × channel blocks in registers, all other loops around them."""

from __future__ import annotations

from math import ceil

from xrelay.dialects.loop import BlockOp
from xrelay.dialects.topi.named.conv import Conv2dNchwcOp
from xrelay.dialects.topi.named.conv_terms import Conv2dNchwcTermsOp
from xrelay.lowering.topi_to_loop.schedules.common_steps import schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.kernel_view import ProductView, Role
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of
from xrelay.lowering.topi_to_loop.schedules.register_tile import TiledAxis, tile_products
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tiles import choose_tile


def schedule_conv2d_nchwc(draft: ScheduleDraft) -> bool:
    """Schedules kernels with one convolution on blocked channels, with or without padding and an epilogue.

    ```
    pad                                            parallel for n_c_h: pad a row, in lanes
    for n, co, h, w, ci:                           parallel for n_co_o_h:
      for ko, y, x, ki:                   →          for w_o:
        conv += pad * weight                           acc[2, 14, 16] = 0
    for n, co, h, w, ci: epilogue                      for ko, y, x, ki:
                                                         for co in 2: for w in 14: for ci in lanes: acc += …
                                                       epilogue on the tile, stored
    ```

    The rows, columns and blocks of a tile follow from the number of registers (`tiles.choose_tile`): if a row of the
    image is short, several rows share the weights. The padded image is computed in a nest before. If terms are
    contiguous, each lane adds up the products of four bytes at once.
    """
    product = ProductView.only(draft.blocks(), Conv2dNchwcOp, Conv2dNchwcTermsOp)
    if product is None or len(product.block.spatial) != 5:
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
    rows = product.extent(Role.BATCH) * product.extent(Role.ROWS)
    tile = choose_tile(
        product.extent(Role.COLUMNS),
        product.extent(Role.CHANNELS),
        draft.target.vector_registers,
        height=product.extent(Role.ROWS) if not depthwise else 1,
        vectors_per_block=vectors_per_block,
        shares_broadcasts=not depthwise,
        max_blocks=max(1, product.extent(Role.CHANNELS) // 2) if rows == 1 else None,
    )
    axes = [
        TiledAxis(product.positions[Role.ROWS], tile.rows),
        TiledAxis(product.positions[Role.COLUMNS], tile.columns),
        TiledAxis(product.positions[Role.CHANNELS], tile.blocks),
        TiledAxis(product.positions[Role.LANE], lanes, lanes=True),
    ]
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
