"""Convolution on plain channels: rows of columns in lanes, several filters in registers."""

from __future__ import annotations

from xrelay.dialects.loop import BlockOp, LoadOp
from xrelay.index_algebra.affine_bounds import stride
from xrelay.lowering.topi_to_loop.schedules.common_steps import MIN_LANES, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.plan import Plan, memref_type, source_of
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of, fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.register_tile import TiledAxis, tile_products
from xrelay.lowering.topi_to_loop.schedules.tiles import choose_filters

SOURCE = "topi.conv2d_nchw"
FILTERS, COLUMNS, DEPTH = 1, 3, 4
"""Positions among the variables of the sum: batch, filter, row, column, then channel and taps."""


def schedule_conv2d_nchw(plan: Plan) -> bool:
    """Takes kernels with one convolution on N×C×H×W images, which stay so where no pass has changed the layout.

    ```
    for n, c, h, w: for k, y, x: …    →    parallel for n_c_o_h: for w_o:
                                             for k, y, x: for c in 8: for w in lanes: acc += image * weight
    ```

    Lanes run along the columns where the stride is 1; otherwise the sums stay scalar. The filters of a tile are of one
    group, since they share the vectors of the image.
    """
    found = [block for block in plan.blocks() if block.is_reduction and source_of(block) == SOURCE]
    if len(found) != 1 or len(found[0].spatial) != 4:
        return False
    name = found[0].block_name
    lanes = min(plan.lanes(found[0]), found[0].extents[COLUMNS])
    if not _has_unit_stride(found[0]) or lanes < MIN_LANES:
        plan.because("columns are not lanes: their stride is not 1, or there are too few")
        fold_at_consumer(plan, name)
    elif (consumer := consumer_of(plan, name)) is not None:
        block = plan.block(name)
        filters = choose_filters(_filters_of_group(block), plan.target.vector_registers)
        axes = [TiledAxis(FILTERS, filters), TiledAxis(COLUMNS, lanes, lanes=True)]
        refused = tile_products(plan, name, consumer.block_name, axes)
        shape = f"{filters} filters x {lanes} columns"
        plan.because(shape if refused is None else f"no register tile: {refused}")
    schedule_remaining(plan)
    return True


def _filters_of_group(block: BlockOp) -> int:
    """How many filters read the same channels: all, or those of one group."""
    column, filters, depth = block.variables[COLUMNS], block.extents[FILTERS], block.extents[DEPTH]
    reads = [op for op in block.body.walk() if isinstance(op, LoadOp) and op.memref not in block.writes]
    shapes = [memref_type(op.memref).get_shape() for op in reads if column in op.index_operands]
    groups = shapes[0][1] // depth if shapes and len(shapes[0]) == len(block.spatial) else 1
    return max(1, filters // max(1, groups))


def _has_unit_stride(block: BlockOp) -> bool:
    """Whether neighbouring columns of the result read neighbouring elements of the image."""
    column = block.variables[COLUMNS]
    reads = [op.index for op in block.body.walk() if isinstance(op, LoadOp) and column in op.index_operands]
    return all(stride(index.exprs[-1], index.operands.index(column)) == 1 for index in reads)
