"""Matrix products: a tile of rows × vectors of columns in registers, computed where a consumer stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xrelay.dialects.loop import BlockOp, IterKind
from xrelay.dialects.loop.schedule import ComputeAt, DisableUnroll, Reorder, Split, Unroll
from xrelay.lowering.topi_to_loop.schedules.common_steps import (
    parallelize_outer,
    vectorize_row,
)
from xrelay.lowering.topi_to_loop.schedules.expected_sizes import expected
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    ProductView,
    Role,
    loop_of_variable,
    loops_of_kind,
    points,
)
from xrelay.lowering.topi_to_loop.schedules.register_tile import around_tile, make_lanes, order_sums
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tiles import RegisterTile, choose_tile
from xrelay.lowering.topi_to_loop.schedules.transposed import TRANSPOSED_ROW, tile_transposed

FEW_ROWS = 6
"""With fewer rows in a matrix, a tile takes its rows from a stack that has more of them."""


def rows_from_stack(product: ProductView, shared: Sequence[int]) -> tuple[ProductView, list[int]]:
    """The product with its rows along the longest axis of the stacks `shared`, where its matrices have few.

    The right operand is the same for all these matrices, so that their rows are those of one. Gives `shared` anew.
    """
    if not shared:
        return product, []
    own = product.positions[Role.ROWS]
    longest = max((own, *shared), key=lambda position: expected(product.block.extents[position]))
    if product.extent(Role.ROWS) >= FEW_ROWS or longest == own:
        return product, list(shared)
    turned = ProductView(product.block, {**product.positions, Role.ROWS: longest})
    return turned, [*(position for position in shared if position != longest), own]


@dataclass(frozen=True)
class _Names:
    """The loops of a nest: rows and columns, as they are before they are cut."""

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
    """Computes the sums of `product` in a register tile where `consumer` stores them; says why where it cannot.

    Columns stand outside of rows, so that the right operand's part for a tile stays in the cache while the rows pass.
    `shared` are the positions of stack variables on which that part does not depend either: their loops stand inside
    of the columns too. `panel` is a block that copies the right operand; it is made to copy the columns of one tile at
    a time where there are tiles enough for all threads.
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
    _order_sums(draft, name, own, reduction, lanes, product.loop(Role.TERM))
    _unroll(draft, consumer.block_name, inside, lane)
    if panel is not None:
        _make_panel(draft, panel, outside[:around_panel])
    parallelize_outer(draft, outside, work)
    draft.mark_done(name, consumer.block_name)
    draft.because(
        f"{tile.columns} rows x {tile.blocks} vectors of {lanes} columns = {tile.columns * tile.blocks} accumulators "
        f"of {draft.target.vector_registers} registers, expected at {tile.efficiency:.0%} of the peak"
    )


def _choose(draft: ScheduleDraft, product: ProductView, lanes: int) -> RegisterTile:
    """The tile for the product; of a single row, columns are left for a second thread."""
    rows, blocks = product.extent(Role.ROWS), -(-product.extent(Role.COLUMNS) // lanes)
    few = max(1, blocks // 2) if rows == 1 else None
    return choose_tile(rows, blocks, draft.target.vector_registers, max_blocks=few)


def _unroll(
    draft: ScheduleDraft, block: str, tile: Sequence[str], lane: str | None, *, terms: str | None = None
) -> None:
    """Makes lanes of one loop of a tile, and straight code of the others."""
    last = make_lanes(draft, block, tile, lane, terms=terms)
    for loop in tile:
        if loop != last:
            draft.do(Unroll(loop))


def _make_panel(draft: ScheduleDraft, panel: str, around: Sequence[str]) -> None:
    """Moves the copy of the right operand into the loops `around` a tile's columns; else it stays before all.

    The copy's last loops are depth and columns.
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
    """Cuts the consumer's rows and columns.

    Gives the loop over tiles of columns and the one over tiles of rows, where there are several, the loops inside of a
    tile, and the one of the lanes.
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
        # Rows of a tile stand before its columns; a tile of one row has no loop.
        rows = [f"{names.row}_i" if row_tiles else names.row]
        if tile.columns == 1 and row_tiles:
            rows = []
        inside = [*rows, *inside]
    return panels, row_tiles, inside, row


def _split_off(draft: ScheduleDraft, loop: str, factor: int, outer: str, inner: str) -> list[str]:
    """Splits a loop that is longer than `factor`; gives the outer loop, or nothing."""
    if not draft.is_longer(loop, factor):
        return []
    draft.do(Split(loop, factor, names=(loop + outer, loop + inner)))
    return [loop + outer]


def _order_sums(
    draft: ScheduleDraft, name: str, own: _Names, reduction: list[str], lanes: int, terms: str | None
) -> None:
    """Brings the sums' loops into the order reduction, rows, vectors, lanes, terms; rows and vectors unrolled."""
    reduction = [loop for loop in reduction if loop != terms]
    tile = [own.row] if own.row is not None and draft.extent(own.row) > 1 else []
    row = own.column
    if row is not None and draft.extent(row) > 1:
        vectors = _split_off(draft, row, lanes, "_v", "_l")
        row = f"{row}_l" if vectors else row
        tile += [*vectors, row]
    order_sums(draft, reduction, tile, terms)
    _unroll(draft, name, tile, row, terms=terms)
    for loop in reduction:
        draft.do(DisableUnroll(loop))
