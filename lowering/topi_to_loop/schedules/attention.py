"""Attention: all stages run on a block of queries while its scores are in a cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from xrelay.dialects.loop import BlockOp, IterKind
from xrelay.dialects.loop.schedule import CacheRead, ComputeAt, Reorder, Tensorize, Unroll
from xrelay.dialects.topi.named.matmul import BatchMatmulOp
from xrelay.dialects.topi.named.softmax import SoftmaxOp
from xrelay.dialects.topi.named.split_products import MatmulSplitOp
from xrelay.index_algebra.divisors import largest_divisor
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal
from xrelay.lowering.topi_to_loop.schedules.common_steps import (
    parallelize_outer,
    schedule_remaining,
    schedule_terms,
    vectorize_row,
)
from xrelay.lowering.topi_to_loop.schedules.cost_model import Cost, busy_threads, copying, rest_cost
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    ProductView,
    Role,
    element_bytes,
    is_expanded_from,
    loops_of_kind,
    points,
    reduction_loops,
)
from xrelay.lowering.topi_to_loop.schedules.matmul import only_read
from xrelay.lowering.topi_to_loop.schedules.matrix_tile import (
    MatrixLoops,
    cut_matrix,
    make_panel,
    split_off,
    sums_tile,
)
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_at_points
from xrelay.lowering.topi_to_loop.schedules.register_tile import schedule_sums, unroll_tile
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tile_model import RegisterTile, rank_tiles
from xrelay.lowering.topi_to_loop.schedules.tile_products import TiledSums, tile_cycles, tile_sizes
from xrelay.target.cpus import UNITS
from xrelay.target.instructions import TileProduct

SCORES: Final = 256 * 1024
"""The maximum size in bytes of the scores of a block: a part of the L2 cache, and of the stack of a thread."""


TILE: Final = 8
"""The number of queries that register tiles of good speed divide."""


@dataclass(frozen=True)
class AttentionPlan:
    """The parameters of a schedule."""

    scores: ProductView
    """The product of queries and keys."""
    result: ProductView
    """The product of weights and values."""
    softmax: tuple[str, ...]
    """The blocks of the softmax; the last one computes the weights."""
    queries: int | None
    """The number of queries in a block; None if their number is dynamic, and all are in one block."""
    lanes: int
    tiles: tuple[RegisterTile, RegisterTile]
    """The register tiles of both products."""
    copied: tuple[int, int] | None
    """The number of the keys' load, and their dimension, if the keys are transposed: they are copied."""
    instruction: TileProduct | None = None
    """The instruction on tiles that computes the sums; None for sums in vectors."""


def propose_attention(view: KernelView) -> list[Proposal]:
    """Proposes a schedule for kernels with the products and the softmax of attention.

    ```
    for b, i, j: for k: s += Q[b, i, k] * K[b, j, k]       parallel for b, i_o:
    for b, i, j: softmax of the row s[b, i]            →     for j_o, i_i: acc[6, 4, 16] = …; s[64 rows, all keys]
    for b, i, d: for j: y += w[b, i, j] * V[b, j, d]         for i_i in 64: softmax of the row s[i_i]
                                                             for d_o, i_i: acc[6, 4, 16] = …; epilogue, stored
    ```

    The scores of a block of queries fit into the L2 cache, for all keys. A dynamic number of queries is one block. An
    instruction on tiles computes products of parts, for blocks of one or two tiles of queries.
    """
    blocks = view.blocks()
    products = ProductView.each(blocks, BatchMatmulOp, MatmulSplitOp)
    if len(products) != 2 or not any(is_expanded_from(block, SoftmaxOp) for block in blocks):
        return []
    scores, result = products
    if any(scores.block.extents[scores.positions[role]] == 1 for role in (Role.ROWS, Role.COLUMNS)):
        return []  # a version for one query or key, whose softmax has no loop over it
    softmax = _softmax(blocks, result)
    make_plan = _plan_on_tiles if Role.PAIR in scores.positions else _plan
    plan = make_plan(view, scores, result, softmax)
    if plan is None:
        return []
    names = frozenset((*softmax, scores.name, result.name))
    size, reason = f"blocks of {plan.queries} queries", "the scores of a block are in the L2 cache"
    if plan.queries is None:
        size, reason = "all queries", "their number is dynamic"
    return [Candidate(size, reason, partial(_cost, view, plan), partial(_apply, plan), names)]


def _softmax(blocks: Sequence[BlockOp], result: ProductView) -> tuple[str, ...]:
    """Returns the blocks of the softmax; the last one computes the weights, or their parts."""
    read = {op.memref for op in result.factors_along(Role.ROWS)}
    weights = [block for block in blocks if not read.isdisjoint(block.writes)]
    stages = [block for block in blocks if is_expanded_from(block, SoftmaxOp) and block not in weights]
    return tuple(block.block_name for block in (*stages, *weights))


def _plan_on_tiles(
    view: KernelView, scores: ProductView, result: ProductView, softmax: tuple[str, ...]
) -> AttentionPlan | None:
    """Returns the plan whose sums an instruction on tiles computes, for blocks of one or two tiles of queries.

    The tiles of both products must have the same shape.
    """
    instruction = view.target.tile_product(scores.sum_type)
    if instruction is None or Role.PAIR not in result.positions:
        return None
    queries, single = scores.extent(Role.ROWS), instruction.rows
    rows = single if queries % single == 0 and queries % (2 * single) != 0 else min(queries, 2 * single)
    found, products = list[RegisterTile](), (scores, result)
    if len({TiledSums.of(product, instruction).group for product in products}) != 1:
        return None
    for product in products:
        vectors, sums = product.extent(Role.COLUMNS) // instruction.columns, TiledSums.of(product, instruction)
        sizes = tile_sizes(rows, vectors, sums, l1=view.target.l1, is_dynamic=False)
        found += [max(sizes, key=lambda tile: tile.efficiency)] if sizes else []
    if len(found) != 2:
        return None
    return AttentionPlan(scores, result, softmax, rows, instruction.columns, (found[0], found[1]), None, instruction)


def _plan(view: KernelView, scores: ProductView, result: ProductView, softmax: tuple[str, ...]) -> AttentionPlan:
    """Returns the plan for sums in vectors."""
    queries, keys = scores.extent(Role.ROWS), scores.extent(Role.COLUMNS)
    is_static = isinstance(scores.block.extents[scores.positions[Role.ROWS]], int)
    most = SCORES // (keys * element_bytes(scores.factors()[0]))
    rows = _block_size(queries, max(1, most)) if is_static else queries
    lanes = view.lanes(scores.block)
    tiles = [_register_tile(view, product, rows, lanes) for product in (scores, result)]
    found = only_read(scores, Role.COLUMNS, Role.COLUMNS)
    is_copied = found is not None and found[1] != len(found[0].index) - 1
    copied = (scores.factors().index(found[0]), found[1]) if is_copied and found is not None else None
    return AttentionPlan(scores, result, softmax, rows if is_static else None, lanes, (tiles[0], tiles[1]), copied)


def _block_size(queries: int, most: int) -> int:
    """Returns the number of queries in a block: all, or whole tiles, if possible a divisor of `queries`."""
    if queries <= most or most < TILE:
        return min(queries, most)
    divisor = largest_divisor(queries // TILE, most // TILE) if queries % TILE == 0 else 1
    return TILE * (divisor if divisor * 2 > most // TILE else most // TILE)


def _register_tile(view: KernelView, product: ProductView, rows: int, lanes: int) -> RegisterTile:
    """Returns the best register tile; if there are several blocks of `rows`, it divides them."""
    vectors, registers = -(-product.extent(Role.COLUMNS) // lanes), view.target.vector_registers
    if rows == product.extent(Role.ROWS):
        return rank_tiles(rows, vectors, registers)[0]
    found = [
        tile
        for most in range(1, min(rows, registers) + 1)
        if rows % most == 0
        for tile in rank_tiles(most, vectors, registers)
        if tile.columns == most
    ]
    return max(found, key=lambda tile: tile.efficiency)


def _cost(view: KernelView, plan: AttentionPlan) -> Cost:
    """Returns the cost of both products at the efficiency of their tiles, of the softmax, and of the copied keys."""
    products = (plan.scores, plan.result)
    cycles = [_product_cycles(product, tile, plan) for product, tile in zip(products, plan.tiles, strict=True)]
    others = [block.block_name for block in view.blocks() if block.block_name not in plan.softmax]
    arithmetic = sum(cycles) + rest_cost(view, others).arithmetic
    rows = points(plan.scores.block) // plan.scores.terms // plan.scores.extent(Role.COLUMNS)
    tasks = rows // (plan.scores.extent(Role.ROWS) if plan.queries is None else plan.queries)
    cost = Cost.of(arithmetic, threads=busy_threads(view.target, tasks, arithmetic))
    if plan.copied is not None:
        cost += copying(plan.scores.factors()[plan.copied[0]], view.target, transposed=True)
    return cost


def _product_cycles(product: ProductView, tile: RegisterTile, plan: AttentionPlan) -> float:
    """Returns the cycles of a product."""
    if plan.instruction is None:
        return points(product.block) / plan.lanes / UNITS / tile.efficiency
    rows, columns = product.extent(Role.ROWS), product.extent(Role.COLUMNS)
    matrices = points(product.block) // product.terms // rows // columns
    sums = TiledSums.of(product, plan.instruction)
    return matrices * tile_cycles(rows, columns // plan.lanes, tile, sums)


def _apply(plan: AttentionPlan, draft: ScheduleDraft) -> None:
    """Schedules all stages for blocks of queries; raises `ScheduleError` if that is not legal."""
    scores, result = plan.scores.of(draft), plan.result.of(draft)
    work = points(scores.block) + points(result.block)
    panel = None
    if plan.copied is not None:
        panel, *_ = draft.do(CacheRead(scores.name, plan.copied[0], last=plan.copied[1]))
    stored = consumer_at_points(draft, scores.name, read_elsewhere=True).block_name
    consumer = consumer_at_points(draft, result.name)
    stacks = _stacks(result, consumer)
    rows, columns = (result.loop(role, consumer) for role in (Role.ROWS, Role.COLUMNS))
    assert rows is not None, "attention has several queries"
    blocks, rows = _row_blocks(draft, rows, plan, alone=not stacks)
    outside = [*stacks, *blocks]
    _tile(draft, result, consumer.block_name, MatrixLoops(rows, columns), outside, plan, plan.tiles[1])
    _softmax_rows(draft, plan.softmax, outside[-1])
    loops = MatrixLoops(*(scores.loop(role, draft.block(stored)) for role in (Role.ROWS, Role.COLUMNS)))
    draft.do(ComputeAt(stored, outside[-1]))
    _tile(draft, scores, stored, loops, [], plan, plan.tiles[0], enclosing=outside[-1])
    if panel is not None:
        make_panel(draft, panel, stacks)
    parallelize_outer(draft, outside, work)
    draft.mark_done(scores.name, result.name, stored, consumer.block_name, *plan.softmax)
    size = "all queries" if plan.queries is None else f"blocks of {plan.queries} queries"
    draft.record_reason(f"all stages are computed for {size}")
    schedule_remaining(draft)


def _row_blocks(draft: ScheduleDraft, rows: str, plan: AttentionPlan, *, alone: bool) -> tuple[list[str], str]:
    """Returns the loop over blocks, if there is one, and the loop over rows.

    A matrix that is `alone` has a loop over blocks even if it is a single block.
    """
    if plan.queries is None:
        return [], rows
    if not alone:
        return split_off(draft, rows, plan.queries, "b", "q")
    outer, inner = draft.split(rows, plan.queries, outer="b", inner="q")
    return [outer], inner


def _stacks(product: ProductView, consumer: BlockOp) -> list[str]:
    """Returns the loops of a consumer over the stacks of a product."""
    matrix = {product.loop(role, consumer) for role in (Role.ROWS, Role.COLUMNS)}
    return [loop for loop in loops_of_kind(consumer, IterKind.SPATIAL) if loop not in matrix]


def _tile(
    draft: ScheduleDraft,
    product: ProductView,
    consumer: str,
    loops: MatrixLoops,
    outside: Sequence[str],
    plan: AttentionPlan,
    tile: RegisterTile,
    enclosing: str | None = None,
) -> None:
    """Computes a product in register tiles at the block `consumer`, inside of the loops `outside`.

    `enclosing` is the loop around the consumer, in which a product of a single tile is computed.
    """
    own = MatrixLoops(product.loop(Role.ROWS), product.loop(Role.COLUMNS))
    pairs, term = product.loop(Role.PAIR), product.loop(Role.TERM)
    reduction = [loop for loop in reduction_loops(product.block) if loop not in (pairs, term)]
    panels, row_tiles, inside, lane = cut_matrix(draft, loops, tile, plan.lanes)
    around = [*outside, *panels, *row_tiles]
    draft.do(Reorder((*around, *inside)))
    draft.do(ComputeAt(product.name, around[-1] if around or enclosing is None else enclosing))
    sums, sums_lane = sums_tile(draft, own, plan.lanes)
    schedule_sums(draft, product.name, reduction, [*([] if pairs is None else [pairs]), *sums], sums_lane, term)
    if plan.instruction is not None:
        draft.do(Tensorize(reduction[0], plan.instruction.name))
    # The sums of an instruction on tiles are in memory, so the rows of the consumer need no copies of the code.
    unroll_tile(draft, consumer, inside if plan.instruction is None else inside[1:], lane)
    draft.record_reason(f"{product.name}: {tile.columns} rows x {tile.blocks} vectors")


def _softmax_rows(draft: ScheduleDraft, softmax: Sequence[str], at: str) -> None:
    """Computes the weights at the loop `at` over blocks, and the stages before them for one row after another.

    Both parts of a split weight are computed together.
    """
    *stages, weights = softmax
    # Loops of moved blocks are no longer the values of their variables, but keep their names.
    inner = {name: loops_of_kind(draft.block(name), IterKind.SPATIAL)[-1] for name in softmax}
    terms = {name: reduction_loops(draft.block(name)) for name in stages}
    loops = loops_of_kind(draft.block(weights), IterKind.SPATIAL)
    rows, part = loops[-2], loops[0]
    has_parts = len(draft.block(weights).kinds) > len(draft.block(stages[-1]).kinds) + 1
    draft.do(ComputeAt(weights, at))
    vectors = vectorize_row(draft, inner[weights], draft.lanes(draft.block(weights)))
    if has_parts:
        draft.do(Reorder((rows, *vectors[:-1], part, vectors[-1])), Unroll(part))
    for name in reversed(stages):
        draft.do(ComputeAt(name, rows))
        if terms[name]:
            schedule_terms(draft, name, terms[name])
        elif draft.extent(inner[name]) > 1:
            vectorize_row(draft, inner[name], draft.lanes(draft.block(name)))
