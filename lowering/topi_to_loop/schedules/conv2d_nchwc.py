"""Convolution on blocked channels: output columns × channel blocks in registers, everything else around them."""

from __future__ import annotations

from math import ceil

from xrelay.dialects.loop import BlockOp, LoadOp
from xrelay.lowering.topi_to_loop.schedules.common_steps import schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.plan import Plan, source_of
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of
from xrelay.lowering.topi_to_loop.schedules.register_tile import TiledAxis, tile_products
from xrelay.lowering.topi_to_loop.schedules.tiles import choose_tile

SOURCE = "topi.conv2d_nchwc"
BATCH, CHANNELS, ROWS, COLUMNS, LANES = range(5)
"""Positions among the variables, which are: batch, block of channels, row, column, channel in the block."""


def schedule_conv2d_nchwc(plan: Plan) -> bool:
    """Takes kernels with one convolution on blocked channels, with or without padding before and epilogue after it.

    ```
    pad                                            parallel for n_c_h: pad a row, in lanes
    for n, co, h, w, ci:                           parallel for n_co_o_h:
      for ko, y, x, ki:                   →          for w_o:
        conv += pad * weight                           acc[2, 14, 16] = 0
    for n, co, h, w, ci: epilogue                      for ko, y, x, ki:
                                                         for co in 2: for w in 14: for ci in lanes: acc += …
                                                       epilogue on the tile, stored
    ```

    Rows, columns and blocks of a tile follow from the registers (`tiles.choose_tile`): where a row of the image is
    short, several of them share the weights. The padded image is a nest before.
    """
    found = [block for block in plan.blocks() if block.is_reduction and source_of(block) == SOURCE]
    if len(found) != 1 or len(found[0].kinds) < LANES + 1:
        return False
    name = found[0].block_name
    consumer = consumer_of(plan, name)
    if consumer is not None:
        _tile(plan, plan.block(name), consumer)
    schedule_remaining(plan)
    return True


def _tile(plan: Plan, block: BlockOp, consumer: BlockOp) -> None:
    extents = block.extents
    vectors_per_block = ceil(extents[LANES] / plan.lanes(block))
    depthwise = is_depthwise(block)
    rows = extents[BATCH] * extents[ROWS]
    tile = choose_tile(
        extents[COLUMNS],
        extents[CHANNELS],
        plan.target.vector_registers,
        height=extents[ROWS] if not depthwise else 1,
        vectors_per_block=vectors_per_block,
        shares_broadcasts=not depthwise,
        max_blocks=max(1, extents[CHANNELS] // 2) if rows == 1 else None,
    )
    axes = [
        TiledAxis(ROWS, tile.rows),
        TiledAxis(COLUMNS, tile.columns),
        TiledAxis(CHANNELS, tile.blocks),
        TiledAxis(LANES, extents[LANES], lanes=True),
    ]
    name = block.block_name
    refused = tile_products(plan, name, consumer.block_name, axes)
    if refused is not None:
        plan.because(f"no register tile for {name}: {refused}")
        return
    kind = "depthwise, " if depthwise else ""
    rows_text = f"{tile.rows} rows x " if tile.rows > 1 else ""
    plan.because(
        f"{kind}{rows_text}{tile.columns} columns x {tile.blocks} blocks of {extents[LANES]} channels = "
        f"{tile.positions * tile.blocks * vectors_per_block} accumulators of {plan.target.vector_registers} registers, "
        f"expected at {tile.efficiency:.0%} of the peak"
    )


def is_depthwise(block: BlockOp) -> bool:
    """Whether every channel has a filter of its own: data and weight are read at the same lane."""
    lane = block.variables[LANES]
    loads = [op for op in block.body.walk() if isinstance(op, LoadOp) and op.memref not in block.writes]
    reading = {op.memref for op in loads if lane in op.index_operands}
    return len(reading) > 1
