"""Products of two matrices computed at run time: register tiles, and copies of operands with an unfavourable layout."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX

from xrelay.dialects.loop import LoadOp, ValueMap
from xrelay.dialects.loop.schedule import CacheRead
from xrelay.dialects.topi.named.batch_matmul import BatchMatmulOp
from xrelay.dialects.topi.shapes import bit_width
from xrelay.lowering.topi_to_loop.schedules.common_steps import MIN_LANES, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.expected_sizes import expected_product
from xrelay.lowering.topi_to_loop.schedules.kernel_view import ProductView, Role, memref_type
from xrelay.lowering.topi_to_loop.schedules.matrix_tile import rows_from_stack, tile_matrix_product
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of, fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft

MIN_ROWS_TRANSPOSED = 16
"""Minimum number of rows for which copying a transposed right operand pays; below, lanes are terms of a sum."""

MIN_ROWS_PACKED = 64
"""Minimum number of rows for which copying the columns of a large right operand side by side pays."""

LARGE_MATRIX = 512 * 1024
"""Minimum size in bytes of a matrix for which a few columns span more pages than the TLB has entries."""

FAR_APART = 1024
"""Minimum size in bytes of a row for which neighbouring rows share neither a page nor a prefetch."""

SAME_PLACE = 4096
"""Cache lines whose distance in bytes is a multiple of this compete for the same sets of the L1 and L2 caches."""

MANY_LINES = 256
"""Number of such lines that the L2 cache cannot hold."""

MIN_COLUMNS_STRAIGHTENED = 32
"""Minimum number of columns for which copying the left operand pays."""


def schedule_batch_matmul(draft: ScheduleDraft) -> bool:
    """Schedules kernels with one product of run-time matrices, with or without an epilogue.

    ```
    for b, i, j: for k: t += A[b, i, k] * B[b, j, k]   →   parallel for b, j_o:
    for b, i, j: epilogue                                    P[k, 64] = B[b, 64 columns, k]
                                                             for i_o:
                                                               acc[6, 4, 16] = 0
                                                               for k: for i in 6: for j in 4 × lanes: acc += A * P
                                                               epilogue on the tile, stored
    ```

    The copy P is made if the columns of the right operand are not contiguous, or if its rows are so far apart that a
    tile's columns span many pages, and if enough rows use the copy to pay for it.
    """
    product = ProductView.only(draft.blocks(), BatchMatmulOp)
    if product is None:
        return False
    schedule_plain_product(draft, product)
    schedule_remaining(draft)
    return True


def schedule_plain_product(draft: ScheduleDraft, product: ProductView) -> None:
    """Schedules a product whose right operand is not packed; both operands may be transposed."""
    right = _right(product)
    lanes = min(draft.lanes(product.block), product.extent(Role.COLUMNS))
    if right is None or lanes < MIN_LANES:
        draft.because(f"{product.extent(Role.COLUMNS)} columns are too few for lanes: the terms of a sum are the lanes")
        fold_at_consumer(draft, product.name)
        return
    load, dimension = right
    product, shared = rows_from_stack(product, shared_stacks(product, load))
    rows = product.extent(Role.ROWS) * expected_product(product.block.extents[p] for p in shared)
    transposed = dimension != len(load.index) - 1
    if transposed and rows < MIN_ROWS_TRANSPOSED:
        draft.because(f"the right operand is transposed, for {rows} rows only: the terms of a sum are the lanes")
        fold_at_consumer(draft, product.name)
        return
    _straighten_left(draft, product)
    panel = None
    if transposed:
        panel = _copied(draft, product, load, dimension)
        draft.because("the right operand is transposed: its columns are copied side by side")
    elif rows >= MIN_ROWS_PACKED and _lies_far_apart(draft, product, load, lanes):
        panel = _copied(draft, product, load, -1)
        draft.because("the right operand is large: the columns of a tile are copied side by side")
    consumer = consumer_of(draft, product.name)
    if consumer is not None:
        tile_matrix_product(draft, product, consumer, lanes, shared=shared, panel=panel)


def _straighten_left(draft: ScheduleDraft, product: ProductView) -> None:
    """Copies a transposed left operand, row by row, if the cache lines of one row compete for the same sets."""
    if product.extent(Role.DEPTH) < MANY_LINES or product.extent(Role.COLUMNS) < MIN_COLUMNS_STRAIGHTENED:
        return
    found = _only_read(product, Role.ROWS, Role.DEPTH)
    if found is None:
        return
    load, dimension = found
    inner = memref_type(load.memref).get_shape()[dimension + 1 :]
    if DYNAMIC_INDEX in inner:
        return
    pitch = prod(inner) * _bytes(load)
    if dimension != len(load.index) - 1 and pitch % SAME_PLACE == 0:
        _copied(draft, product, load, dimension)
        draft.because(f"the left operand is transposed, its lines {pitch} bytes apart: it is copied row by row")


def _copied(draft: ScheduleDraft, product: ProductView, load: LoadOp, last: int) -> str:
    """Makes the product read a copy whose innermost dimension is `last`; returns the name of the block that copies."""
    number = product.factors().index(load)
    draft.do(CacheRead(product.name, number, last=last))
    return f"{product.name}_read{number}"


def _right(product: ProductView) -> tuple[LoadOp, int] | None:
    """Returns the one load that depends on the column, and the dimension indexed by it; None for other forms."""
    return _only_read(product, Role.COLUMNS, Role.COLUMNS)


def _only_read(product: ProductView, depends: Role, along: Role) -> tuple[LoadOp, int] | None:
    """Returns the only factor that depends on axis `depends`, and the dimension indexed by `along` alone; or None."""
    if depends not in product.positions or along not in product.positions:
        return None
    loads = product.factors_along(depends)
    if len(loads) != 1:
        return None
    (load,) = loads
    variable = product.block.variables[product.positions[along]]
    found = [dimension for dimension in range(len(load.index)) if variable in load.index[dimension].operands]
    if len(found) != 1 or load.index[found[0]] != ValueMap.identity([variable]):
        return None
    return load, found[0]


def shared_stacks(product: ProductView, right: LoadOp) -> list[int]:
    """Returns the positions of the stack variables on which the right operand does not depend."""
    block = product.block
    matrix = product.positions.get(Role.ROWS), product.positions[Role.COLUMNS]
    stacks = [position for position in block.spatial if position not in matrix]
    return [position for position in stacks if block.variables[position] not in right.index_operands]


def _lies_far_apart(draft: ScheduleDraft, product: ProductView, right: LoadOp, lanes: int) -> bool:
    """Whether the columns of a tile span many pages, and there are enough tiles for every thread to copy its own."""
    row = product.extent(Role.COLUMNS) * _bytes(right)
    large = row >= FAR_APART and row * product.extent(Role.DEPTH) >= LARGE_MATRIX
    return (
        large and product.extent(Role.COLUMNS) // (lanes * draft.target.vector_registers // 8) >= draft.target.threads
    )


def _bytes(load: LoadOp) -> int:
    """Returns the size in bytes of an element of the loaded buffer."""
    return -(-bit_width(load.buffer_type.element_type) // 8)
