"""Matrix products: rows × vectors of columns in registers, the packed weight read a panel at a time."""

from __future__ import annotations

from dataclasses import dataclass

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp
from xrelay.dialects.loop.schedule import ComputeAt, DisableUnroll, Reorder, Split, Unroll
from xrelay.lowering.topi_to_loop.schedules.common_steps import MIN_LANES, parallelize_outer, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.plan import (
    Plan,
    loop_of_variable,
    loops_of_kind,
    memref_type,
    points,
    source_of,
)
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_of, fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.register_tile import around_tile, make_lanes
from xrelay.lowering.topi_to_loop.schedules.tiles import RegisterTile, choose_tile, largest_divisor

SOURCE = "topi.matmul"


def schedule_dense(plan: Plan) -> bool:
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
    found = [block for block in plan.blocks() if block.is_reduction and source_of(block) == SOURCE]
    if len(found) != 1:
        return False
    block = found[0]
    lanes = _lanes(plan, block)
    if lanes is None:
        plan.because("the weight is not packed: the terms of a sum are its lanes")
        fold_at_consumer(plan, block.block_name)
    elif (consumer := consumer_of(plan, block.block_name)) is not None:
        _tile(plan, plan.block(block.block_name), consumer, lanes)
    schedule_remaining(plan)
    return True


def _lanes(plan: Plan, block: BlockOp) -> int | None:
    """How many neighbouring columns make a vector: they divide the block of the packed weight."""
    packed = [
        memref_type(op.memref).get_shape()[-1]
        for op in block.body.walk()
        if isinstance(op, LoadOp) and len(op.index) == 3 and "mod" in str(op.index.exprs[-1])
    ]
    if not packed:
        return None
    lanes = largest_divisor(packed[0], plan.lanes(block))
    return lanes if lanes >= MIN_LANES else None


@dataclass(frozen=True)
class _Names:
    """The loops of a nest: rows and columns, as they are before they are cut."""

    row: str | None
    column: str | None


def _names(block: BlockOp) -> _Names:
    rows, columns = len(block.spatial) - 2, len(block.spatial) - 1
    return _Names(loop_of_variable(block, rows) if rows >= 0 else None, loop_of_variable(block, columns))


def _tile(plan: Plan, block: BlockOp, consumer: BlockOp, lanes: int) -> None:
    name, extents = block.block_name, block.extents
    columns = extents[block.spatial[-1]]
    rows = extents[block.spatial[-2]] if len(block.spatial) > 1 else 1
    blocks = columns // lanes
    few = max(1, blocks // 2) if rows == 1 else None
    tile = choose_tile(rows, blocks, plan.target.vector_registers, max_blocks=few)
    own, outer = _names(block), _names(consumer)
    reduction, work = loops_of_kind(block, IterKind.REDUCE), points(block)
    batch = [loop for loop in loops_of_kind(consumer, IterKind.SPATIAL) if loop not in (outer.row, outer.column)]
    outside, inside, row = _cut(plan, outer, tile, lanes)
    if not batch and not outside:
        outside, inside = around_tile(plan, inside)
    if not batch and not outside:
        plan.because(f"{name} is a single element")
        return
    if len(batch) + len(outside) + len(inside) > 1:
        plan.do(Reorder((*batch, *outside, *inside)))
    at = [*batch, *outside][-1]
    if (refused := plan.attempt(ComputeAt(name, at))) is not None:
        plan.because(f"no register tile for {name}: {refused}")
        return
    _order_sums(plan, name, own, reduction, lanes)
    last = make_lanes(plan, consumer.block_name, inside, row)
    for loop in inside:
        if loop != last:
            plan.do(Unroll(loop))
    parallelize_outer(plan, [*batch, *outside], work)
    plan.mark_done(name, consumer.block_name)
    plan.because(
        f"{tile.columns} rows x {tile.blocks} vectors of {lanes} columns = {tile.columns * tile.blocks} accumulators "
        f"of {plan.target.vector_registers} registers, expected at {tile.efficiency:.0%} of the peak"
    )


def _cut(plan: Plan, names: _Names, tile: RegisterTile, lanes: int) -> tuple[list[str], list[str], str | None]:
    """Cuts the consumer's rows and columns; gives loops outside and inside of a tile, and the one of the lanes."""
    outside: list[str] = []
    inside: list[str] = []
    row = names.column
    if row is not None:
        outside += _split_off(plan, row, tile.blocks * lanes, "_o", "_t")
        row = f"{row}_t" if outside else row
        vectors = _split_off(plan, row, lanes, "_v", "_l")
        row = f"{row}_l" if vectors else row
        inside = [*vectors, row]
    if names.row is not None:
        cut = _split_off(plan, names.row, tile.columns, "_o", "_i")
        outside += cut
        # Rows of a tile stand before its columns; a tile of one row has no loop.
        rows = [f"{names.row}_i" if cut else names.row]
        if tile.columns == 1 and cut:
            rows = []
        inside = [*rows, *inside]
    return outside, inside, row


def _split_off(plan: Plan, loop: str, factor: int, outer: str, inner: str) -> list[str]:
    """Splits a loop that is longer than `factor`; gives the outer loop, or nothing."""
    if plan.extent(loop) <= factor:
        return []
    plan.do(Split(loop, factor, names=(loop + outer, loop + inner)))
    return [loop + outer]


def _order_sums(plan: Plan, name: str, own: _Names, reduction: list[str], lanes: int) -> None:
    """Brings the sums' loops into the order reduction, rows, vectors, lanes; rows and vectors unrolled."""
    tile = [own.row] if own.row is not None and plan.extent(own.row) > 1 else []
    row = own.column
    if row is not None and plan.extent(row) > 1:
        vectors = _split_off(plan, row, lanes, "_v", "_l")
        row = f"{row}_l" if vectors else row
        tile += [*vectors, row]
    if len(reduction) + len(tile) > 1:
        plan.do(Reorder((*reduction, *tile)))
    last = make_lanes(plan, name, tile, row)
    for loop in tile:
        if loop != last:
            plan.do(Unroll(loop))
    for loop in reduction:
        plan.do(DisableUnroll(loop))
