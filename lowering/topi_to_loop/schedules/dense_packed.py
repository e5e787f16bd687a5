"""Matrix products: rows × vectors of columns in registers, with the packed weight read one panel at a time."""

from __future__ import annotations

from xrelay.dialects.topi.named.matmul import MatmulOp
from xrelay.lowering.topi_to_loop.schedules.batch_matmul import schedule_plain_product, shared_stacks
from xrelay.lowering.topi_to_loop.schedules.common_steps import MIN_LANES, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.kernel_view import ProductView, Role
from xrelay.lowering.topi_to_loop.schedules.matrix_tile import rows_from_stack, tile_matrix_product
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of, fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tiles import largest_divisor


def schedule_dense(draft: ScheduleDraft) -> bool:
    """Schedules kernels with one matrix product, with or without an epilogue.

    ```
    for i, j: for k: t += A[i, k] * B[j / 16, k, j % 16]  →  parallel for j_o:
    for i, j: epilogue                                         for i_o:
                                                                 acc[6, 4, 16] = 0
                                                                 for k: for i in 6: for j in 4 × lanes: acc += …
                                                                 epilogue on the tile, stored
    ```

    The loop over columns is outside, so that a panel of the weight stays in the cache for all rows. An unpacked weight
    is scheduled like any transposed right operand (`schedule_plain_product`).
    """
    product = ProductView.only(draft.blocks(), MatmulOp)
    if product is None:
        return False
    lanes = _lanes(draft, product)
    if product.packed_columns is None:
        schedule_plain_product(draft, product)
    elif lanes is None:
        draft.because(f"blocks of {product.packed_columns} columns are too few for lanes: the terms of a sum are lanes")
        fold_at_consumer(draft, product.name)
    elif (consumer := consumer_of(draft, product.name)) is not None:
        weight = product.factors_along(Role.COLUMNS)[0]
        product, shared = rows_from_stack(product, shared_stacks(product, weight))
        tile_matrix_product(draft, product, consumer, lanes, shared=shared)
    schedule_remaining(draft)
    return True


def _lanes(draft: ScheduleDraft, product: ProductView) -> int | None:
    """Returns the number of columns in a vector: a divisor of the block of the packed weight, or None."""
    packed = product.packed_columns
    if packed is None:
        return None
    lanes = largest_divisor(packed, draft.lanes(product.block))
    return lanes if lanes >= MIN_LANES else None
