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
"""With fewer rows per matrix, the rows of a tile run along a longer stack axis."""


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


@dataclass(frozen=True)
class _Names:
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
    for all rows. `shared` are the positions of stack variables on which that panel does not depend either: their loops
    are inside those over columns too. `panel` is a block that copies the right operand; it copies the columns of one
    tile at a time if there are enough tiles for all threads.
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
    """Returns the tile for the product; with a single row, half of the columns are left for a second thread."""
    rows, blocks = product.extent(Role.ROWS), -(-product.extent(Role.COLUMNS) // lanes)
    few = max(1, blocks // 2) if rows == 1 else None
    return choose_tile(rows, blocks, draft.target.vector_registers, max_blocks=few)


def _unroll(
    draft: ScheduleDraft, block: str, tile: Sequence[str], lane: str | None, *, terms: str | None = None
) -> None:
    """Vectorises one loop of a tile and unrolls the others."""
    last = make_lanes(draft, block, tile, lane, terms=terms)
    for loop in tile:
        if loop != last:
            draft.do(Unroll(loop))


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


def _order_sums(
    draft: ScheduleDraft, name: str, own: _Names, reduction: list[str], lanes: int, terms: str | None
) -> None:
    """Orders the loops of the sums as reduction, rows, vectors, lanes, terms, with rows and vectors unrolled."""
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
