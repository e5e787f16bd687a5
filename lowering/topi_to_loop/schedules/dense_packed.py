"""Matrix products: rows × vectors of columns in registers, the packed weight read a panel at a time."""

from __future__ import annotations

from dataclasses import dataclass

from xrelay.dialects.loop import BlockOp, IterKind
from xrelay.dialects.loop.schedule import ComputeAt, DisableUnroll, Reorder, Split, Unroll
from xrelay.dialects.topi.named.matmul import MatmulOp
from xrelay.lowering.topi_to_loop.schedules.common_steps import MIN_LANES, parallelize_outer, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.kernel_view import ProductView, Role, loops_of_kind, points
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of, fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.register_tile import around_tile, make_lanes
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tiles import RegisterTile, choose_tile, largest_divisor


def schedule_dense(draft: ScheduleDraft) -> bool:
    """Takes kernels with one matrix product, with or without epilogue.

    ```
    for i, j: for k: t += A[i, k] * B[j / 16, k, j % 16]  →  parallel for j_o:
    for i, j: epilogue                                         for i_o:
                                                                 acc[6, 4, 16] = 0
                                                                 for k: for i in 6: for j in 4 × lanes: acc += …
                                                                 epilogue on the tile, stored
    ```

    Columns are outside, so that a panel of the weight stays in the cache while the rows pass. With a weight that is not
    packed the columns are no lanes: the sums stay scalar, and LLVM makes lanes of their terms.
    """
    product = ProductView.only(draft.blocks(), MatmulOp)
    if product is None:
        return False
    lanes = _lanes(draft, product)
    if lanes is None:
        draft.because("the weight is not packed: the terms of a sum are its lanes")
        fold_at_consumer(draft, product.name)
    elif (consumer := consumer_of(draft, product.name)) is not None:
        _tile(draft, product, consumer, lanes)
    schedule_remaining(draft)
    return True


def _lanes(draft: ScheduleDraft, product: ProductView) -> int | None:
    """How many neighbouring columns make a vector: they divide the block of the packed weight."""
    packed = product.packed_columns
    if packed is None:
        return None
    lanes = largest_divisor(packed, draft.lanes(product.block))
    return lanes if lanes >= MIN_LANES else None


@dataclass(frozen=True)
class _Names:
    """The loops of a nest: rows and columns, as they are before they are cut."""

    row: str | None
    column: str | None


def _tile(draft: ScheduleDraft, product: ProductView, consumer: BlockOp, lanes: int) -> None:
    name, block = product.name, product.block
    rows = product.extent(Role.ROWS)
    blocks = product.extent(Role.COLUMNS) // lanes
    few = max(1, blocks // 2) if rows == 1 else None
    tile = choose_tile(rows, blocks, draft.target.vector_registers, max_blocks=few)
    own = _Names(product.loop(Role.ROWS), product.loop(Role.COLUMNS))
    outer = _Names(product.loop(Role.ROWS, consumer), product.loop(Role.COLUMNS, consumer))
    reduction, work = loops_of_kind(block, IterKind.REDUCE), points(block)
    batch = [loop for loop in loops_of_kind(consumer, IterKind.SPATIAL) if loop not in (outer.row, outer.column)]
    outside, inside, row = _cut(draft, outer, tile, lanes)
    if not batch and not outside:
        outside, inside = around_tile(draft, inside)
    if not batch and not outside:
        draft.because(f"{name} is a single element")
        return
    if len(batch) + len(outside) + len(inside) > 1:
        draft.do(Reorder((*batch, *outside, *inside)))
    at = [*batch, *outside][-1]
    if (refused := draft.attempt(ComputeAt(name, at))) is not None:
        draft.because(f"no register tile for {name}: {refused}")
        return
    _order_sums(draft, name, own, reduction, lanes)
    last = make_lanes(draft, consumer.block_name, inside, row)
    for loop in inside:
        if loop != last:
            draft.do(Unroll(loop))
    parallelize_outer(draft, [*batch, *outside], work)
    draft.mark_done(name, consumer.block_name)
    draft.because(
        f"{tile.columns} rows x {tile.blocks} vectors of {lanes} columns = {tile.columns * tile.blocks} accumulators "
        f"of {draft.target.vector_registers} registers, expected at {tile.efficiency:.0%} of the peak"
    )


def _cut(
    draft: ScheduleDraft, names: _Names, tile: RegisterTile, lanes: int
) -> tuple[list[str], list[str], str | None]:
    """Cuts the consumer's rows and columns; gives loops outside and inside of a tile, and the one of the lanes."""
    outside: list[str] = []
    inside: list[str] = []
    row = names.column
    if row is not None:
        outside += _split_off(draft, row, tile.blocks * lanes, "_o", "_t")
        row = f"{row}_t" if outside else row
        vectors = _split_off(draft, row, lanes, "_v", "_l")
        row = f"{row}_l" if vectors else row
        inside = [*vectors, row]
    if names.row is not None:
        cut = _split_off(draft, names.row, tile.columns, "_o", "_i")
        outside += cut
        # Rows of a tile stand before its columns; a tile of one row has no loop.
        rows = [f"{names.row}_i" if cut else names.row]
        if tile.columns == 1 and cut:
            rows = []
        inside = [*rows, *inside]
    return outside, inside, row


def _split_off(draft: ScheduleDraft, loop: str, factor: int, outer: str, inner: str) -> list[str]:
    """Splits a loop that is longer than `factor`; gives the outer loop, or nothing."""
    if draft.extent(loop) <= factor:
        return []
    draft.do(Split(loop, factor, names=(loop + outer, loop + inner)))
    return [loop + outer]


def _order_sums(draft: ScheduleDraft, name: str, own: _Names, reduction: list[str], lanes: int) -> None:
    """Brings the sums' loops into the order reduction, rows, vectors, lanes; rows and vectors unrolled."""
    tile = [own.row] if own.row is not None and draft.extent(own.row) > 1 else []
    row = own.column
    if row is not None and draft.extent(row) > 1:
        vectors = _split_off(draft, row, lanes, "_v", "_l")
        row = f"{row}_l" if vectors else row
        tile += [*vectors, row]
    if len(reduction) + len(tile) > 1:
        draft.do(Reorder((*reduction, *tile)))
    last = make_lanes(draft, name, tile, row)
    for loop in tile:
        if loop != last:
            draft.do(Unroll(loop))
    for loop in reduction:
        draft.do(DisableUnroll(loop))
