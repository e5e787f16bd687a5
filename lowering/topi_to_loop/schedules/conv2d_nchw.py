"""Convolution on plain channels: columns in lanes, several filters in registers."""

from __future__ import annotations

from xrelay.dialects.topi.named.conv import Conv1dNcwOp, Conv2dNchwOp, Conv3dNcdhwOp
from xrelay.lowering.topi_to_loop.schedules.common_steps import MIN_LANES, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.kernel_view import ProductView, Role
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of, fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.register_tile import TiledAxis, tile_products
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tiles import choose_filters

MIN_PRODUCTS = 4
"""With fewer filters and channels, scalar sums are unrolled completely, which is faster than gathered lanes."""


def schedule_conv2d_nchw(draft: ScheduleDraft) -> bool:
    """Schedules kernels with one convolution on plain images: N×C×H×W, N×C×W or N×C×D×H×W.

    ```
    for n, c, h, w: for k, y, x: …    →    parallel for n_c_o_h: for w_o:
                                             for k, y, x: for c in 8: for w in lanes: acc += image * weight
    ```

    Lanes run along the columns. If their stride is not 1, they are gathered once for all filters of a tile; sums of few
    products stay scalar. The filters of a tile belong to one group, since they share the vectors of the image.
    """
    plain = (Conv2dNchwOp, Conv1dNcwOp, Conv3dNcdhwOp)
    found = ((op, ProductView.only(draft.blocks(), op)) for op in plain)
    op, product = next((pair for pair in found if pair[1] is not None), (Conv2dNchwOp, None))
    if product is None or len(product.block.spatial) != 2 + len(op.AXES):
        return False
    lanes = min(draft.lanes(product.block), product.extent(Role.COLUMNS))
    filters = choose_filters(product.filters_of_group, draft.target.vector_registers)
    few = max(product.filters_of_group, product.extent(Role.DEPTH)) < MIN_PRODUCTS
    if lanes < MIN_LANES or (few and not product.has_unit_stride):
        draft.because("columns are not lanes: there are too few, or of another stride than 1 for few products")
        fold_at_consumer(draft, product.name)
    elif (consumer := consumer_of(draft, product.name, read_elsewhere=True)) is not None:
        axes = [
            TiledAxis(product.positions[Role.CHANNELS], filters),
            TiledAxis(product.positions[Role.COLUMNS], lanes, lanes=True),
        ]
        refused = tile_products(draft, product.name, consumer.block_name, axes)
        shape = f"{filters} filters x {lanes} columns"
        draft.because(shape if refused is None else f"no register tile: {refused}")
    schedule_remaining(draft)
    return True
