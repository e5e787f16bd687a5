"""Matrix products: columns as lanes of a register tile, or the terms of a sum as lanes.

Packed weights are read one panel at a time. Operands that are computed at run time are copied if their layout is
unfavourable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import gcd, prod

from xdsl.dialects.builtin import DYNAMIC_INDEX

from xrelay.dialects.loop import IterKind, LoadOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.topi.named.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.topi.named.split_products import MatmulSplitOp
from xrelay.index_algebra.divisors import largest_divisor
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal, Refusal
from xrelay.lowering.topi_to_loop.schedules.common_steps import schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.cost_model import (
    MIN_LANES,
    Cost,
    copying,
    fold_cost,
    products_cost,
)
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    ProductView,
    Role,
    element_bytes,
    expected_extent,
    expected_product,
    points,
)
from xrelay.lowering.topi_to_loop.schedules.matrix_tile import FactorCopy, MatrixPlan, apply_plan
from xrelay.lowering.topi_to_loop.schedules.reduction import fold_at_consumer
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tile_model import RegisterTile, rank_tiles
from xrelay.lowering.topi_to_loop.schedules.tile_products import TiledSums, tile_cycles, tile_sizes
from xrelay.target.cpus import UNITS


def propose_dense(view: KernelView) -> list[Proposal]:
    """Proposes schedules for kernels with one matrix product, with or without an epilogue.

    ```
    for i, j: for k: t += A[i, k] * B[j / 16, k, j % 16]  →  parallel for j_o:
    for i, j: epilogue                                         for i_o:
                                                                 acc[6, 4, 16] = 0
                                                                 for k: for i in 6: for j in 4 × lanes: acc += …
                                                                 epilogue on the tile, stored
    ```

    The loop over columns is outside, so that a panel of the weight stays in the cache for all rows. An unpacked weight
    is like any transposed right operand of `propose_batch_matmul`.
    """
    product = ProductView.only(view.blocks(), MatmulOp, MatmulSplitOp)
    if product is None:
        return []
    packed = product.packed_columns
    if packed is None:
        return _plain_product(view, product)
    lanes = largest_divisor(packed, view.lanes(product.block))
    if lanes < MIN_LANES:
        reason = f"blocks of {packed} columns are too few for lanes"
        return [Refusal(COLUMNS, reason), _terms_as_lanes(view, product, reason)]
    right = product.factors_along(Role.COLUMNS)[0]
    return [
        *_instruction_plans(view, product, lanes, right),
        *_plans(view, product, lanes, right),
        _terms_as_lanes(view, product, "the weight is packed"),
    ]


COLUMNS, TERMS = "columns as lanes", "terms as lanes"
"""The names of the candidates of both families."""

LARGE_MATRIX = 512 * 1024
"""Minimum size in bytes of a matrix for which a few columns span more pages than the TLB has entries."""

FAR_APART = 1024
"""The minimum size in bytes of a row such that neighbouring rows share neither a page nor a prefetch."""

FAR_ROW = 1.25
"""Cycles that each row of a tile's columns costs if rows are far apart, beyond those that overlap."""

SAME_PLACE = 4096
"""Cache lines whose distance in bytes is a multiple of this compete for the same sets of the L1 and L2 caches."""

ROWS_APART = 1.5
"""Factor for the products of a tile whose rows are rows of different matrices."""

MANY_LINES = 512
"""Number of such lines that the L2 cache cannot hold."""

LOST_LINE = 10.0
"""Cycles to read a line again that has left the L1 and L2 caches."""


def propose_batch_matmul(view: KernelView) -> list[Proposal]:
    """Proposes schedules for kernels with one product of run-time matrices, with or without an epilogue.

    ```
    for b, i, j: for k: t += A[b, i, k] * B[b, j, k]   →   parallel for b, j_o:
    for b, i, j: epilogue                                    P[k, 64] = B[b, 64 columns, k]
                                                             for i_o:
                                                               acc[6, 4, 16] = 0
                                                               for k: for i in 6: for j in 4 × lanes: acc += A * P
                                                               epilogue on the tile, stored
    ```

    The copy P is needed if the columns of the right operand are not contiguous. If they are, it is a candidate for rows
    so far apart that a tile's columns span many pages.
    """
    product = ProductView.only(view.blocks(), BatchMatmulOp)
    return [] if product is None else _plain_product(view, product)


def _plain_product(view: KernelView, product: ProductView) -> list[Proposal]:
    """Proposes schedules for a product whose right operand is not packed; both operands may be transposed."""
    right = only_read(product, Role.COLUMNS, Role.COLUMNS)
    lanes = min(view.lanes(product.block), product.extent(Role.COLUMNS))
    if right is None or lanes < MIN_LANES:
        reason = f"{product.extent(Role.COLUMNS)} columns are too few for lanes"
        return [Refusal(COLUMNS, reason), _terms_as_lanes(view, product, reason)]
    load, dimension = right
    shared = _expected_points(product, shared_stacks(product, load))
    rows = product.extent(Role.ROWS) * shared
    if dimension == len(load.index) - 1:
        reason = f"the columns of the right operand are contiguous, for {rows} rows"
    else:
        reason = f"the right operand is transposed, for {rows} rows only"
    return [*_plans(view, product, lanes, load, dimension), _terms_as_lanes(view, product, reason)]


def _terms_as_lanes(view: KernelView, product: ProductView, reason: str) -> Candidate:
    """Returns the candidate whose lanes are the terms of one sum."""

    def apply(draft: ScheduleDraft) -> None:
        draft.record_reason(f"{reason}; lanes run along the terms of a sum")
        fold_at_consumer(draft, product.name)
        schedule_remaining(draft)

    return Candidate(TERMS, reason, lambda: fold_cost(view, product.block), apply, frozenset({product.name}))


def _plans(
    view: KernelView, product: ProductView, lanes: int, right: LoadOp, dimension: int | None = None
) -> Iterator[Candidate]:
    """Yields candidates with columns as lanes.

    `dimension` is that of the columns in an unpacked right operand.
    """
    factors = product.factors()
    shared = shared_stacks(product, right)
    rights: list[FactorCopy | None] = [None]
    if dimension is not None and dimension != len(right.index) - 1:
        rights = [FactorCopy(factors.index(right), dimension)]
    elif dimension is not None and _lies_far_apart(product, right):
        rights.append(FactorCopy(factors.index(right), -1))
    lefts: list[FactorCopy | None] = [None]
    if (left := _lost_lines(product)) is not None:
        lefts.append(FactorCopy(factors.index(left[0]), left[1]))
    for rows, others in _row_axes(product, shared):
        apart = rows is not product and product.extent(Role.ROWS) > 1
        for tile in _tiles(view, rows, lanes):
            for left_copy, right_copy in itertools.product(lefts, rights):
                plan = MatrixPlan(lanes, tile, rows, tuple(others), apart, left_copy, right_copy)
                yield _candidate(view, plan, right)


def _instruction_plans(view: KernelView, product: ProductView, lanes: int, right: LoadOp) -> Iterator[Candidate]:
    """Yields candidates whose sums an instruction on tiles computes, if the target has one for the products."""
    instruction, positions = view.target.tile_product(product.sum_type), product.positions
    if instruction is None or lanes != instruction.columns or not {Role.ROWS, Role.TERM} <= positions.keys():
        return
    blocks, sums = product.extent(Role.COLUMNS) // lanes, TiledSums.of(product, instruction)
    for rows, shared in _row_axes(product, shared_stacks(product, right)):
        count, apart = rows.extent(Role.ROWS), rows is not product and product.extent(Role.ROWS) > 1
        is_dynamic = not isinstance(product.block.extents[rows.positions[Role.ROWS]], int)
        for tile in tile_sizes(count, blocks, sums, l1=view.target.l1, is_dynamic=is_dynamic):
            yield _candidate(view, MatrixPlan(lanes, tile, rows, tuple(shared), apart, instruction=instruction), right)


def _candidate(view: KernelView, plan: MatrixPlan, right: LoadOp) -> Candidate:
    product, tile = plan.rows, plan.tile
    size = f"{tile.columns} rows x {tile.blocks} vectors"
    if plan.instruction is not None:
        size = f"{size} by {plan.instruction.name}"
    axis = product.block.variables[product.positions[Role.ROWS]].name_hint if Role.ROWS in product.positions else None
    along = f" along {axis}" if plan.rows_apart and axis is not None else ""
    copies = [name for name, copy in (("left", plan.left), ("right", plan.right)) if copy is not None]
    words = f", {' and '.join(copies)} operand copied" if copies else ""
    name = f"{COLUMNS}, {size}{along}{words}"
    reason = f"tiles at {tile.efficiency:.0%} of the peak"
    return Candidate(
        name, reason, lambda: _tiled_cost(view, plan, right), partial(apply_plan, plan), frozenset({product.name})
    )


def _row_axes(product: ProductView, shared: Sequence[int]) -> list[tuple[ProductView, list[int]]]:
    """Returns the product with its own rows in a tile, and with rows along the longest of the stack axes `shared`.

    The right operand is the same for all matrices along these axes, so their rows can be treated as rows of one matrix.
    Each has its updated `shared`.
    """
    if not shared:
        return [(product, [])]
    own = product.positions[Role.ROWS]
    longest = max(shared, key=lambda position: expected_extent(product.block.extents[position]))
    if product.block.extents[longest] == 1:
        return [(product, list(shared))]
    turned = ProductView(product.block, {**product.positions, Role.ROWS: longest})
    return [(product, list(shared)), (turned, [*(position for position in shared if position != longest), own])]


ROWS_OF_A_STREAM = 3
"""The number of rows from which a product is limited by its multiply-adds, not by the loads of the weight."""

MAX_STREAMS = 4
"""The maximum number of vectors of columns in a tile of fewer rows.

Measured on Zen 4, 1 row, 512 x 2048: 4 to 7 streams 84 GB/s, 8 streams 81, 15 streams 60; 2 rows: 80, and 72 with 10.
"""


def _tiles(view: KernelView, product: ProductView, lanes: int) -> Sequence[RegisterTile]:
    """Returns the tiles for the product.

    If there is a single row and several threads, a tile has at most half of the columns, so that two threads can run.
    Each vector of columns is a stream of a packed weight. The speed of one or two rows is that of the L2 cache or of
    memory, which a core reads fastest in a few streams.
    In each step, a tile reads an element of each of its rows. A tile has no more rows than the L1 cache has lines for
    if their distance is a power of two.
    """
    rows, blocks = product.extent(Role.ROWS), -(-product.extent(Role.COLUMNS) // lanes)
    few = max(1, blocks // 2) if rows == 1 and view.target.threads > 1 else None
    if rows < ROWS_OF_A_STREAM:
        few = MAX_STREAMS if few is None else min(few, MAX_STREAMS)
    ways, pitch = view.target.l1 // SAME_PLACE, _row_pitch(product)
    most = None if pitch is None else ways * SAME_PLACE // gcd(pitch, SAME_PLACE)
    return rank_tiles(rows, blocks, view.target.vector_registers, max_blocks=few, max_columns=most)


def _row_pitch(product: ProductView) -> int | None:
    """Returns the distance in bytes of neighbouring rows of the left operand; None if it is unknown."""
    found = only_read(product, Role.ROWS, Role.ROWS)
    inner = [DYNAMIC_INDEX] if found is None else memref_type(found[0].memref).get_shape()[found[1] + 1 :]
    return None if found is None or DYNAMIC_INDEX in inner else prod(inner) * element_bytes(found[0])


def _tiled_cost(view: KernelView, plan: MatrixPlan, right: LoadOp) -> Cost:
    """Returns the cost of the products of a plan, and of its copies."""
    product = plan.rows
    rows, columns = product.extent(Role.ROWS), product.extent(Role.COLUMNS)
    vectors = -(-columns // plan.lanes)
    panels, row_tiles = -(-vectors // plan.tile.blocks), -(-rows // plan.tile.columns)
    depth = expected_product(product.block.extents[p] for p in _sum_positions(product))
    shared = max(1, _expected_points(product, plan.shared))
    matrices = points(product.block) // max(1, rows * columns * depth * product.extent(Role.TERM))
    arithmetic = matrices * rows * vectors * depth / UNITS / plan.tile.efficiency
    if plan.instruction is not None:
        arithmetic = matrices * tile_cycles(rows, vectors, plan.tile, TiledSums.of(product, plan.instruction))
    elif plan.rows_apart:
        arithmetic *= ROWS_APART
    if plan.right is None and _lies_far_apart(product, right):
        arithmetic += (row_tiles * shared - 1) * matrices / shared * panels * depth * FAR_ROW
    if plan.left is None and _lost_lines(product) is not None:
        arithmetic += matrices * row_tiles * panels * depth * LOST_LINE
    cost = products_cost(view, product, arithmetic, matrices * panels * row_tiles, panels)
    for copy, along in ((plan.left, Role.DEPTH), (plan.right, Role.COLUMNS)):
        if copy is not None:
            load = product.factors()[copy.factor]
            cost += copying(load, view.target, transposed=along is Role.DEPTH or copy.last != -1)
    return cost


def _sum_positions(product: ProductView) -> list[int]:
    """Returns the positions of the reduction axes, except that of terms which one instruction adds up."""
    kinds, term = product.block.kinds, product.positions.get(Role.TERM)
    return [position for position, kind in enumerate(kinds) if kind is IterKind.REDUCE and position != term]


def _expected_points(product: ProductView, positions: Iterable[int]) -> int:
    return expected_product(product.block.extents[position] for position in positions)


def _lost_lines(product: ProductView) -> tuple[LoadOp, int] | None:
    """Returns a transposed left operand if the cache lines of one row compete for the same sets; its row dimension."""
    if product.extent(Role.DEPTH) < MANY_LINES:
        return None
    found = only_read(product, Role.ROWS, Role.DEPTH)
    if found is None:
        return None
    load, dimension = found
    inner = memref_type(load.memref).get_shape()[dimension + 1 :]
    if DYNAMIC_INDEX in inner or dimension == len(load.index) - 1:
        return None
    return found if prod(inner) * element_bytes(load) % SAME_PLACE == 0 else None


def only_read(product: ProductView, depends: Role, along: Role) -> tuple[LoadOp, int] | None:
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


def _lies_far_apart(product: ProductView, right: LoadOp) -> bool:
    """Whether the columns of a tile span many pages."""
    row = product.extent(Role.COLUMNS) * element_bytes(right)
    return row >= FAR_APART and row * product.extent(Role.DEPTH) >= LARGE_MATRIX
