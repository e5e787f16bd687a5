"""Matrix products: a tile of rows × vectors of columns in registers, computed where a consumer stores it.

Packed weights are read one panel at a time. Operands that are computed at run time are copied if their layout is
unfavourable.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp, ValueMap
from xrelay.dialects.loop.schedule import CacheRead, ComputeAt, Reorder, Split
from xrelay.dialects.topi.named.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.topi.shapes import bit_width
from xrelay.lowering.topi_to_loop.schedules.common_steps import (
    MIN_LANES,
    TRANSPOSED_ROW,
    parallelize_outer,
    schedule_remaining,
    tile_transposed,
    vectorize_row,
)
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    ProductView,
    Role,
    expected,
    expected_product,
    loop_of_variable,
    loops_of_kind,
    memref_type,
    points,
)
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of, fold_at_consumer, share_terms
from xrelay.lowering.topi_to_loop.schedules.register_tile import (
    RegisterTile,
    around_tile,
    choose_tile,
    largest_divisor,
    schedule_sums,
    unroll_tile,
)
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft


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
        draft.because(
            f"blocks of {product.packed_columns} columns are too few for lanes; lanes run along the terms of a sum"
        )
        fold_at_consumer(draft, product.name)
    else:
        weight = product.factors_along(Role.COLUMNS)[0]
        product, shared = rows_from_stack(product, shared_stacks(product, weight))
        product, shared, has_parts = _with_parts(draft, product, shared, lanes)
        consumer = consumer_of(draft, product.name, read_elsewhere=has_parts)
        if consumer is not None:
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


MIN_ROWS_TRANSPOSED = 16
"""The minimum number of rows for which a transposed right operand is copied.

For fewer rows, lanes run along the terms of a sum.
"""

MIN_ROWS_PACKED = 64
"""The minimum number of rows for which the columns of a large right operand are copied side by side."""

LARGE_MATRIX = 512 * 1024
"""Minimum size in bytes of a matrix for which a few columns span more pages than the TLB has entries."""

FAR_APART = 1024
"""The minimum size in bytes of a row such that neighbouring rows share neither a page nor a prefetch."""

SAME_PLACE = 4096
"""Cache lines whose distance in bytes is a multiple of this compete for the same sets of the L1 and L2 caches."""

MANY_LINES = 256
"""Number of such lines that the L2 cache cannot hold."""

MIN_COLUMNS_STRAIGHTENED = 32
"""The minimum number of columns for which a transposed left operand is copied."""


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
    tile's columns span many pages, and if enough rows use the copy.
    """
    product = ProductView.only(draft.blocks(), BatchMatmulOp)
    if product is None:
        return False
    schedule_plain_product(draft, product)
    schedule_remaining(draft)
    return True


def schedule_plain_product(draft: ScheduleDraft, product: ProductView) -> None:
    """Schedules a product whose right operand is not packed; both operands may be transposed."""
    right = _only_read(product, Role.COLUMNS, Role.COLUMNS)
    lanes = min(draft.lanes(product.block), product.extent(Role.COLUMNS))
    if right is None or lanes < MIN_LANES:
        draft.because(
            f"{product.extent(Role.COLUMNS)} columns are too few for lanes; lanes run along the terms of a sum"
        )
        fold_at_consumer(draft, product.name)
        return
    load, dimension = right
    product, shared = rows_from_stack(product, shared_stacks(product, load))
    rows = product.extent(Role.ROWS) * expected_product(product.block.extents[p] for p in shared)
    transposed = dimension != len(load.index) - 1
    if transposed and rows < MIN_ROWS_TRANSPOSED:
        draft.because(f"the right operand is transposed, for {rows} rows only; lanes run along the terms of a sum")
        fold_at_consumer(draft, product.name)
        return
    product, shared, has_parts = _with_parts(draft, product, shared, lanes)
    _straighten_left(draft, product)
    panel = None
    if transposed:
        panel = _copied(draft, product, load, dimension)
        draft.because("the right operand is transposed: its columns are copied side by side")
    elif rows >= MIN_ROWS_PACKED and _lies_far_apart(draft, product, load, lanes):
        panel = _copied(draft, product, load, -1)
        draft.because("the right operand is large: the columns of a tile are copied side by side")
    consumer = consumer_of(draft, product.name, read_elsewhere=has_parts)
    if consumer is not None:
        tile_matrix_product(draft, product, consumer, lanes, shared=shared, panel=panel)


def _with_parts(
    draft: ScheduleDraft, product: ProductView, shared: list[int], lanes: int
) -> tuple[ProductView, list[int], bool]:
    """Splits the sums of a product into parts if it has fewer register tiles than threads.

    Returns the product, the updated `shared`, and whether there are parts. Their axis is a new first variable.
    """
    tile = _choose(draft, product, lanes)
    rows, columns = product.extent(Role.ROWS), -(-product.extent(Role.COLUMNS) // lanes)
    matrix = {product.positions.get(Role.ROWS), product.positions[Role.COLUMNS]}
    stacks = expected_product(product.block.extents[p] for p in product.block.spatial if p not in matrix)
    tiles = stacks * -(-rows // tile.columns) * -(-columns // tile.blocks)
    if not share_terms(draft, product.name, tiles):
        return product, shared, False
    positions = {role: position + 1 for role, position in product.positions.items()}
    return ProductView(product.block, positions), [position + 1 for position in shared], True


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


FEW_ROWS = 6
"""The number of rows per matrix below which the rows of a tile run along a longer stack axis."""


def rows_from_stack(product: ProductView, shared: Sequence[int]) -> tuple[ProductView, list[int]]:
    """Lets the rows of a product with few rows run along the longest of the stack axes `shared`.

    The right operand is the same for all matrices along these axes, so their rows can be treated as rows of one matrix.
    Returns the product and the updated `shared`.
    """
    if not shared:
        return product, []
    own = product.positions[Role.ROWS]
    longest = max((own, *shared), key=lambda position: expected(product.block.extents[position]))
    if product.extent(Role.ROWS) >= FEW_ROWS or longest == own:
        return product, list(shared)
    turned = ProductView(product.block, {**product.positions, Role.ROWS: longest})
    return turned, [*(position for position in shared if position != longest), own]


class _Names(NamedTuple):
    """The loops over rows and columns of a nest before they are split."""

    row: str | None
    column: str | None


def tile_matrix_product(
    draft: ScheduleDraft,
    product: ProductView,
    consumer: BlockOp,
    lanes: int,
    *,
    shared: Sequence[int] = (),
    panel: str | None = None,
) -> None:
    """Computes the sums of `product` in a register tile at its `consumer`; records the reason if that is not possible.

    The loops over columns are outside those over rows, so that the right operand's panel for a tile stays in the cache
    for all rows. `shared` are the positions of stack variables on which that panel does not depend: their loops are
    inside those over columns too. `panel` is a block that copies the right operand; it copies the columns of one tile
    at a time if there are enough tiles for all threads.
    """
    name, block = product.name, product.block
    tile = _choose(draft, product, lanes)
    own = _Names(product.loop(Role.ROWS), product.loop(Role.COLUMNS))
    outer = _Names(product.loop(Role.ROWS, consumer), product.loop(Role.COLUMNS, consumer))
    reduction, work = loops_of_kind(block, IterKind.REDUCE), points(block)
    stacks = [loop for loop in loops_of_kind(consumer, IterKind.SPATIAL) if loop not in (outer.row, outer.column)]
    inner_stacks = [loop for position in shared if (loop := loop_of_variable(consumer, position)) is not None]
    panels, row_tiles, inside, lane = _cut(draft, outer, tile, lanes)
    outside = [loop for loop in stacks if loop not in inner_stacks] + panels
    around_panel, outside = len(outside), [*outside, *inner_stacks, *row_tiles]
    if not outside:
        outside, inside = around_tile(draft, inside)
    if not outside:
        draft.because(f"{name} is a single element")
        return
    if len(outside) + len(inside) > 1:
        draft.do(Reorder((*outside, *inside)))
    if (refused := draft.attempt(ComputeAt(name, outside[-1]))) is not None:
        draft.because(f"no register tile for {name}: {refused}")
        return
    schedule_sums(draft, name, reduction, *_sums_tile(draft, own, lanes), product.loop(Role.TERM))
    unroll_tile(draft, consumer.block_name, inside, lane)
    if panel is not None:
        _make_panel(draft, panel, outside[:around_panel])
    parallelize_outer(draft, outside, work)
    draft.mark_done(name, consumer.block_name)
    draft.because(
        f"{tile.columns} rows x {tile.blocks} vectors of {lanes} columns = {tile.columns * tile.blocks} accumulators "
        f"of {draft.target.vector_registers} registers, expected at {tile.efficiency:.0%} of the peak"
    )


def _choose(draft: ScheduleDraft, product: ProductView, lanes: int) -> RegisterTile:
    """Returns the tile for the product.

    If there is a single row, a tile has at most half of the columns, so that two threads can run.
    In each step, a tile reads an element of each of its rows. A tile has no more rows than the L1 cache has lines for
    if their distance is a power of two.
    """
    rows, blocks = product.extent(Role.ROWS), -(-product.extent(Role.COLUMNS) // lanes)
    few = max(1, blocks // 2) if rows == 1 else None
    ways, pitch = draft.target.l1 // SAME_PLACE, _row_pitch(product)
    most = None if pitch is None else ways * SAME_PLACE // gcd(pitch, SAME_PLACE)
    return choose_tile(rows, blocks, draft.target.vector_registers, max_blocks=few, max_columns=most)


def _row_pitch(product: ProductView) -> int | None:
    """Returns the distance in bytes of neighbouring rows of the left operand; None if it is unknown."""
    found = _only_read(product, Role.ROWS, Role.ROWS)
    inner = [DYNAMIC_INDEX] if found is None else memref_type(found[0].memref).get_shape()[found[1] + 1 :]
    return None if found is None or DYNAMIC_INDEX in inner else prod(inner) * _bytes(found[0])


def _make_panel(draft: ScheduleDraft, panel: str, around: Sequence[str]) -> None:
    """Moves the copy of the right operand into the loops `around` a tile's columns, or leaves it before the nest.

    The last loops of the copy are depth and columns.
    """
    count = prod(draft.extent(loop) for loop in around)
    block = draft.block(panel)
    loops, lanes = loops_of_kind(block, IterKind.SPATIAL), draft.lanes(block)
    if not around or count < draft.target.threads or draft.attempt(ComputeAt(panel, around[-1])) is not None:
        return
    if len(vectorize_row(draft, loops[-1], lanes)) == 1 and draft.extent(loops[-1]) >= TRANSPOSED_ROW:
        tile_transposed(draft, panel, loops[-2:], loops[-2])
    draft.mark_done(panel)


def _cut(
    draft: ScheduleDraft, names: _Names, tile: RegisterTile, lanes: int
) -> tuple[list[str], list[str], list[str], str | None]:
    """Splits the consumer's rows and columns.

    Returns the loops over tiles of columns, the loops over tiles of rows, the loops inside a tile, and the loop to
    vectorise.
    """
    panels: list[str] = []
    row_tiles: list[str] = []
    inside: list[str] = []
    row = names.column
    if row is not None:
        panels = _split_off(draft, row, tile.blocks * lanes, "_o", "_t")
        row = f"{row}_t" if panels else row
        vectors = _split_off(draft, row, lanes, "_v", "_l")
        row = f"{row}_l" if vectors else row
        inside = [*vectors, row]
    if names.row is not None:
        row_tiles = _split_off(draft, names.row, tile.columns, "_o", "_i")
        # Rows of a tile precede its columns; a tile of one row has no row loop.
        rows = [f"{names.row}_i" if row_tiles else names.row]
        if tile.columns == 1 and row_tiles:
            rows = []
        inside = [*rows, *inside]
    return panels, row_tiles, inside, row


def _split_off(draft: ScheduleDraft, loop: str, factor: int, outer: str, inner: str) -> list[str]:
    """Splits a loop if it is longer than `factor`; returns the outer loop, or nothing."""
    if not draft.is_longer(loop, factor):
        return []
    draft.do(Split(loop, factor, names=(loop + outer, loop + inner)))
    return [loop + outer]


def _sums_tile(draft: ScheduleDraft, own: _Names, lanes: int) -> tuple[list[str], str | None]:
    """Splits the columns of the sums into vectors; returns the loops of the tile, and the one to vectorise."""
    tile = [own.row] if own.row is not None and draft.extent(own.row) > 1 else []
    row = own.column
    if row is not None and draft.extent(row) > 1:
        vectors = _split_off(draft, row, lanes, "_v", "_l")
        row = f"{row}_l" if vectors else row
        tile += [*vectors, row]
    return tile, row
