"""Matrix products in a register tile of rows × vectors of columns, computed where a consumer stores it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xrelay.dialects.loop import BlockOp, IterKind
from xrelay.dialects.loop.schedule import CacheRead, ComputeAt, PartialSums, Prefetch, Reorder, Tensorize
from xrelay.errors import ScheduleError
from xrelay.index_algebra.divisors import largest_divisor
from xrelay.lowering.topi_to_loop.schedules.common_steps import (
    TRANSPOSED_ROW,
    parallelize_outer,
    schedule_remaining,
    tile_transposed,
    vectorize_row,
)
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    ProductView,
    Role,
    buffer_bytes,
    expected_product,
    loop_of_variable,
    loops_of_kind,
    points,
)
from xrelay.lowering.topi_to_loop.schedules.packed_numbers import (
    DEPTH,
    numbers_in_word,
    split_blocks,
    split_words,
    terms_of_scale,
    unpack_in_registers,
    unpack_panel,
    unpacking_block,
)
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_at_points, share_terms
from xrelay.lowering.topi_to_loop.schedules.register_tile import (
    SumsInMemory,
    around_tile,
    prefetch_weight,
    schedule_sums,
    unroll_tile,
)
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tile_model import RegisterTile
from xrelay.lowering.topi_to_loop.schedules.tile_products import STREAMED
from xrelay.target.instructions import TileProduct

STREAMED_TERMS = 4
"""The maximum number of terms that a tile adds for each line of the next panel that it prefetches."""

MIN_PARTS = 2
"""The minimum number of tiles of rows, for each vector of columns in a tile, that prefetch the next panel."""

SAVED_READS = 4
"""Minimum factor by which blocks of rows reduce the bytes that a product reads from the L3 cache."""

FACTORS = 2
"""The number of loads in a plain product: numbers packed in words have more."""


@dataclass(frozen=True)
class FactorCopy:
    """A copy of a factor of the products: the number of its load in the body, and the innermost dimension."""

    factor: int
    last: int


@dataclass(frozen=True)
class MatrixPlan:
    """The parameters of a schedule with columns as lanes."""

    lanes: int
    tile: RegisterTile
    rows: ProductView
    """The product, with the axis along which the rows of a tile run."""
    shared: tuple[int, ...] = ()
    """The positions of the stack variables on which the right operand does not depend."""
    rows_apart: bool = False
    """Whether the rows of a tile are rows of different matrices, each of several rows."""
    left: FactorCopy | None = None
    right: FactorCopy | None = None
    instruction: TileProduct | None = None
    """The instruction on tiles that computes the sums; None for sums in vectors."""


def apply_plan(plan: MatrixPlan, draft: ScheduleDraft) -> None:
    """Schedules a kernel by a plan."""
    product, shared, has_parts = _with_parts(draft, plan)
    if plan.left is not None:
        _copied(draft, product, plan.left)
        draft.record_reason("the left operand is transposed, its lines far apart: it is copied row by row")
    panel = None
    if plan.right is not None:
        panel = _copied(draft, product, plan.right)
        transposed = plan.right.last != -1
        draft.record_reason(
            "the right operand is transposed: its columns are copied side by side"
            if transposed
            else "the right operand is large: the columns of a tile are copied side by side"
        )
    consumer = consumer_at_points(draft, product.name, read_elsewhere=has_parts)
    if plan.instruction is not None and plan.rows_apart:
        _move_matrices_out(draft, product)
    _tile(draft, product, consumer, plan, shared=shared, panel=panel)
    schedule_remaining(draft)


def _with_parts(draft: ScheduleDraft, plan: MatrixPlan) -> tuple[ProductView, list[int], bool]:
    """Splits the sums of a product into parts if it has fewer register tiles than threads.

    Returns the product, the `shared` positions, and whether there are parts. Their axis is a new first variable.
    """
    product, tile = plan.rows.of(draft), plan.tile
    rows, columns = product.extent(Role.ROWS), -(-product.extent(Role.COLUMNS) // plan.lanes)
    matrix = {product.positions.get(Role.ROWS), product.positions[Role.COLUMNS]}
    stacks = expected_product(product.block.extents[p] for p in product.block.spatial if p not in matrix)
    tiles = stacks * -(-rows // tile.columns) * -(-columns // tile.blocks)
    if not share_terms(draft, product.name, tiles):
        return product, list(plan.shared), False
    positions = {role: position + 1 for role, position in product.positions.items()}
    return ProductView(draft.block(product.name), positions), [position + 1 for position in plan.shared], True


def _copied(draft: ScheduleDraft, product: ProductView, copy: FactorCopy) -> str:
    """Makes the product read a copy of a factor; returns the name of the block that copies."""
    block, *_ = draft.do(CacheRead(product.name, copy.factor, last=copy.last))
    return block


def _move_matrices_out(draft: ScheduleDraft, product: ProductView) -> None:
    """Moves the loops over matrices, which have one iteration in a tile, out of those over its rows and columns."""
    own = product.loop(Role.ROWS), product.loop(Role.COLUMNS)
    draft.do(Reorder(tuple(sorted(loops_of_kind(product.block, IterKind.SPATIAL), key=own.__contains__))))


class MatrixLoops(NamedTuple):
    """The loops over rows and columns of a nest before they are split."""

    row: str | None
    column: str | None


class _Placement(NamedTuple):
    """The loops around and inside of a register tile, from the outermost."""

    outside: list[str]
    panel: list[str]
    """Those of `outside` around a panel, the columns of the right operand that a tile reads."""
    sharing: list[str]
    """Those of `outside` whose iterations share a panel."""
    inside: list[str]
    lane: str | None


def _tile(
    draft: ScheduleDraft,
    product: ProductView,
    consumer: BlockOp,
    plan: MatrixPlan,
    *,
    shared: Sequence[int],
    panel: str | None,
) -> None:
    """Computes the sums of `product` in a register tile at its `consumer`; raises `ScheduleError` if that is not legal.

    `shared` are the positions of stack variables on which a panel does not depend. `panel` is a block that copies the
    right operand; it copies the columns of one tile at a time if there are enough tiles for all threads.
    """
    work, unpack = points(product.block), unpacking_block(draft, product)
    own = MatrixLoops(product.loop(Role.ROWS), product.loop(Role.COLUMNS))
    stored = None
    if plan.instruction is None:
        stored = SumsInMemory.of_long_function(draft, product.name, consumer.block_name)
    place = _place_tile(
        draft, product, consumer, plan, shared=shared, blocked=panel is None and unpack is None, stored=stored
    )
    numbers = _compute_sums(draft, product, own, plan, place.sharing, unpack)
    # The sums of an instruction on tiles are in memory too. The rows of the consumer then need no copies of the code.
    is_unrolled = plan.instruction is None and stored is None
    unroll_tile(draft, consumer.block_name, place.inside if is_unrolled else place.inside[1:], place.lane)
    if panel is not None:
        make_panel(draft, panel, place.panel)
    if unpack is not None and numbers is not None and not place.sharing:
        unpack_in_registers(draft, unpack.block_name, numbers)
    elif unpack is not None:
        unpack_panel(draft, unpack.block_name, place.panel)
    parallelize_outer(draft, place.outside if _fits(plan) else place.outside[:1], work)
    draft.mark_done(product.name, consumer.block_name)
    _record_tile(draft, plan)


def _place_tile(
    draft: ScheduleDraft,
    product: ProductView,
    consumer: BlockOp,
    plan: MatrixPlan,
    *,
    shared: Sequence[int],
    blocked: bool,
    stored: SumsInMemory | None,
) -> _Placement:
    """Cuts the loops of the `consumer` into tiles, and computes the product inside of the loops over tiles.

    The loops over columns are outside those over rows, so that the panel of a tile stays in the cache for all rows. The
    loops of stack variables on which a panel does not depend are inside those over columns too. If `blocked`, there may
    be loops over blocks of rows outside.
    """
    outer = MatrixLoops(product.loop(Role.ROWS, consumer), product.loop(Role.COLUMNS, consumer))
    stacks = [loop for loop in loops_of_kind(consumer, IterKind.SPATIAL) if loop not in (outer.row, outer.column)]
    inner_stacks = [loop for position in shared if (loop := loop_of_variable(consumer, position)) is not None]
    panels, row_tiles, inside, lane = cut_matrix(draft, outer, plan.tile, plan.lanes)
    sharing, outside = [*inner_stacks, *row_tiles], [loop for loop in stacks if loop not in inner_stacks]
    if sharing and panels and blocked and not outside:
        outside, sharing = _row_blocks(draft, product, sharing, panels[0])
    panel = [*outside, *panels]
    outside = [*panel, *sharing]
    if not outside:
        outside, inside = around_tile(draft, inside)
    if not outside:
        raise ScheduleError(f"{product.name} is a single element", help="choose another schedule")
    if len(outside) + len(inside) > 1:
        draft.do(Reorder((*outside, *inside)))
    if stored is not None:
        positions = [product.positions[role] for role in (Role.ROWS, Role.COLUMNS) if role in product.positions]
        stored.compute_at(draft, outside[-1], positions, plan.lanes)
    draft.do(ComputeAt(product.name, outside[-1]))
    return _Placement(outside, panel, sharing, inside, lane)


def _compute_sums(
    draft: ScheduleDraft,
    product: ProductView,
    own: MatrixLoops,
    plan: MatrixPlan,
    sharing: Sequence[str],
    unpack: BlockOp | None,
) -> str | None:
    """Schedules the sums of a tile; returns the loop over the numbers of a word, see `_schedule_terms`."""
    tile, lanes, numbers = plan.tile, plan.lanes, None
    reduction = loops_of_kind(product.block, IterKind.REDUCE)
    if unpack is None and len(reduction) == 1 and _is_streamed(draft, product):
        parts = prod(map(draft.extent, sharing)) // tile.blocks
        _stream_terms(draft, product, own, lanes, reduction[0], parts)
    else:
        numbers = _schedule_terms(draft, product, own, lanes, reduction, unpack)
    if plan.instruction is not None:
        (along,) = [loop for loop in reduction if loop not in (product.loop(Role.PAIR), product.loop(Role.TERM))]
        if sharing and _fits_with_next_panel(draft, product, tile.blocks * lanes):
            draft.do(Prefetch(along))
            draft.record_reason("the next panel of the weight is prefetched")
        draft.do(Tensorize(along, plan.instruction.name))
    return numbers


def _record_tile(draft: ScheduleDraft, plan: MatrixPlan) -> None:
    tile = plan.tile
    registers = f"{tile.columns * tile.blocks} accumulators of {draft.target.vector_registers} registers"
    sums = registers if plan.instruction is None else f"tiles of {plan.instruction.name}"
    draft.record_reason(
        f"{tile.columns} rows x {tile.blocks} vectors of {plan.lanes} columns = {sums}, "
        f"expected at {tile.efficiency:.0%} of the peak"
    )


def _row_blocks(draft: ScheduleDraft, product: ProductView, rows: list[str], panel: str) -> tuple[list[str], list[str]]:
    """Splits `rows`, the loops inside that over panels, into blocks whose left operand fits into half of the L2 cache.

    Each panel reads the left operand, from the L3 cache if it is larger than the L2 cache; with blocks, each block
    reads the weight instead. There are no blocks unless that saves three quarters of the bytes. Returns the loops over
    blocks and those inside.
    """
    left, right = product.factors_along(Role.ROWS), product.factors_along(Role.COLUMNS)
    if len(left) != 1 or len(right) != 1 or any(map(draft.is_dynamic, rows)):
        return [], rows
    size, weight, (first, *others) = buffer_bytes(left[0]), buffer_bytes(right[0]), rows
    count = draft.extent(first)
    most = max(1, count * draft.target.l2 // (2 * size))
    divisor = largest_divisor(count, most)
    each = divisor if divisor * 2 > most else most
    blocks = -(-count // each)
    if size <= draft.target.l2 or SAVED_READS * blocks * weight > draft.extent(panel) * size:
        return [], rows
    draft.record_reason(f"{blocks} blocks of rows, for which the left operand fits into the L2 cache")
    if each == 1:
        return [first], others
    outer, inner = draft.split(first, each, outer="b", inner="r")
    return [outer], [inner, *others]


def _is_streamed(draft: ScheduleDraft, product: ProductView) -> bool:
    """Whether a packed weight of f32 is larger than the L2 cache, so that each panel is read from memory once."""
    packed = product.packed_columns is not None and Role.TERM not in product.positions
    return packed and len(product.factor_bytes) == FACTORS and max(product.factor_bytes) > draft.target.l2


def _fits_with_next_panel(draft: ScheduleDraft, product: ProductView, columns: int) -> bool:
    """Whether the next panel of parts of a large weight, of `columns` columns, is prefetched into the L2 cache.

    The data and two panels fit into it. The panels of bytes are a quarter of the size, and the products as fast without
    a prefetch.
    """
    if Role.PAIR not in product.positions:
        return False
    (data,), (weight,) = (map(buffer_bytes, product.factors_along(role)) for role in (Role.ROWS, Role.COLUMNS))
    panels = 2 * weight * columns / product.extent(Role.COLUMNS)
    return weight >= STREAMED * draft.target.l2 and data + panels <= draft.target.l2


def _stream_terms(
    draft: ScheduleDraft, product: ProductView, own: MatrixLoops, lanes: int, terms: str, parts: int
) -> None:
    """Schedules the sums of a tile, and prefetches the weight: a line of the next panel for several terms.

    As many tiles of rows as there are terms prefetch a vector of columns, so `parts` limits their number. With less
    than two, a tile would prefetch more lines at a time than a core has buffers for. It then prefetches its own lines.
    """
    tile, lane = sums_tile(draft, own, lanes)
    count = 1 if draft.is_dynamic(terms) else largest_divisor(draft.extent(terms), min(STREAMED_TERMS, max(1, parts)))
    if count > 1:
        terms, inner = draft.split(terms, count, outer="o", inner="u")
        tile = [inner, *tile]
    schedule_sums(draft, product.name, [terms], tile, lane, None)
    if parts < MIN_PARTS:
        prefetch_weight(draft, [terms])
    else:
        draft.do(Prefetch(terms))
        draft.record_reason("the weight is larger than the L2 cache: the next panel is prefetched")


def _fits(plan: MatrixPlan) -> bool:
    """Whether the loops over tiles may be fused: no tile of an instruction is partial.

    A loop over the tiles of one axis is cut before the partial tile; in a fused loop, each row has a condition.
    """
    rows, columns = plan.rows.extent(Role.ROWS), plan.rows.extent(Role.COLUMNS)
    divides = rows % plan.tile.columns == 0 and columns % (plan.tile.blocks * plan.lanes) == 0
    return plan.instruction is None or divides


def _schedule_terms(
    draft: ScheduleDraft,
    product: ProductView,
    own: MatrixLoops,
    lanes: int,
    reduction: Sequence[str],
    unpack: BlockOp | None,
) -> str | None:
    """Schedules the sums of a tile; unrolls the numbers of a word of a packed weight, and returns their loop if any.

    Products of pairs of parts are unrolled around the rows and vectors of a tile, which share the loads of a part.
    `unpack` is the block that unpacks the weight, unless the product does.
    """
    block, depth = draft.block(product.name), product.positions[Role.DEPTH]
    source, position = (block, depth) if unpack is None else (draft.block(unpack.block_name), DEPTH)
    tile, lane = sums_tile(draft, own, lanes)
    pairs = [loop for loop in reduction if loop == product.loop(Role.PAIR)]
    words, numbers = [loop for loop in reduction if loop not in pairs], list[str]()
    if len(reduction) == 1:
        words, numbers = split_words(draft, reduction[0], numbers_in_word(source, source.variables[position]))
    blocks = list[str]()
    if unpack is None and numbers:
        blocks, words = split_blocks(
            draft, words, terms_of_scale(source, source.variables[position]) // draft.extent(numbers[0])
        )
    schedule_sums(draft, product.name, [*blocks, *words], [*pairs, *numbers, *tile], lane, product.loop(Role.TERM))
    if blocks and draft.attempt(PartialSums(product.name, blocks[0], factors=True)) is None:
        draft.record_reason("the scale of a block multiplies its sum")
    return numbers[0] if numbers else None


def make_panel(draft: ScheduleDraft, panel: str, around: Sequence[str]) -> None:
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


def cut_matrix(
    draft: ScheduleDraft, names: MatrixLoops, tile: RegisterTile, lanes: int
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
        panels, row = split_off(draft, row, tile.blocks * lanes, "o", "t")
        vectors, row = split_off(draft, row, lanes, "v", "l")
        inside = [*vectors, row]
    if names.row is not None:
        row_tiles, rows = split_off(draft, names.row, tile.columns, "o", "i")
        # Rows of a tile precede its columns; a tile of one row has no row loop.
        inside = inside if tile.columns == 1 and row_tiles else [rows, *inside]
    return panels, row_tiles, inside, row


def split_off(draft: ScheduleDraft, loop: str, factor: int, outer: str, inner: str) -> tuple[list[str], str]:
    """Splits a loop if it is longer than `factor`; returns the outer loop, if there is one, and the inner loop."""
    if not draft.is_longer(loop, factor):
        return [], loop
    around, inside = draft.split(loop, factor, outer=outer, inner=inner)
    return [around], inside


def sums_tile(draft: ScheduleDraft, own: MatrixLoops, lanes: int) -> tuple[list[str], str | None]:
    """Splits the columns of the sums into vectors; returns the loops of the tile, and the one to vectorise."""
    tile = [own.row] if own.row is not None and draft.extent(own.row) > 1 else []
    row = own.column
    if row is not None and draft.extent(row) > 1:
        vectors, row = split_off(draft, row, lanes, "v", "l")
        tile += [*vectors, row]
    return tile, row
