"""Convolutions by Winograd's algorithm: all stages run on a block of tiles while its data is in the cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, prod
from typing import Final

from xrelay.dialects.loop import BlockOp, Tail
from xrelay.dialects.loop.schedule import CacheWrite, ComputeAt, Fuse, Parallelize, Prefetch, Reorder, Split
from xrelay.dialects.topi.named.winograd import Conv2dNchwcWinogradOp
from xrelay.index_algebra.divisors import divisors, largest_divisor
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.cost_model import Cost, busy_threads
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    ProductView,
    Role,
    element_bytes,
    loop_of_variable,
    points,
    readers_of,
    reduction_loops,
)
from xrelay.lowering.topi_to_loop.schedules.reduction import partial_sum_steps
from xrelay.lowering.topi_to_loop.schedules.register_tile import (
    around_tile,
    schedule_sums,
    unroll_tile,
)
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tile_model import RegisterTile, rank_tiles
from xrelay.target import Target
from xrelay.target.cpus import UNITS, WINOGRAD_TRANSFORM

CANDIDATES: Final = 3
"""The maximum number of candidates for a kernel."""

LARGEST_SHARE: Final = 0.85
"""The part of the L2 cache that the transformed data and the products of a block may fill."""

CROWDED: Final = 1.2
"""The factor of the time of products if the data of a block fills more than half of that part.

The weight, which passes through the cache for each block, then evicts data that the next filters need.
"""

PART: Final = 128
"""The maximum number of channels in a partial sum."""

ROWS_OF_GROUPS: Final = 4, 2, 1
"""The numbers of groups of tiles in a block if the height or width of the image is dynamic, the best first."""

RANK: Final = 5
"""The rank of images: batch, blocks of channels, rows, columns, lane."""


@dataclass(frozen=True)
class Stages:
    """The blocks of a kernel by name, in the order in which they run."""

    image: str
    columns: str
    rows: str
    products: str
    partial: str | None
    """The inverse transform of columns; None if it is part of `tiles`."""
    tiles: str
    """The inverse transform of rows, which completes a tile."""
    result: str
    """The stage with the epilogue: `tiles`, or for images of dynamic height or width a later stage."""

    @property
    def is_dynamic(self) -> bool:
        """Whether the height or width of the image is dynamic."""
        return self.tiles != self.result

    @property
    def names(self) -> list[str]:
        """The names of all blocks."""
        names = (self.image, self.columns, self.rows, self.products, self.partial, self.tiles, self.result)
        return list(dict.fromkeys(name for name in names if name is not None))

    @staticmethod
    def of(blocks: Sequence[BlockOp], products: BlockOp) -> Stages | None:
        """Returns the stages around the block of the products; None if the kernel has other stages."""
        before: list[BlockOp] = []
        stage = products
        for _ in range(3):
            writers = [block for block in blocks if block is not stage and block.writes[0] in stage.reads]
            if len(writers) != 1:
                return None
            before.append(stage := writers[0])
        after = [products]
        while len(readers := readers_of(after[-1], blocks)) == 1:
            after += readers
        if readers or len(after) == 1:
            return None
        *others, result = after[1:]
        is_dynamic = not all(isinstance(extent, int) for extent in result.extents[2:4])
        tiles = others.pop() if is_dynamic and others else result
        if result.is_reduction or len(result.kinds) != RANK or len(others) > 1:
            return None
        image, columns, rows = (block.block_name for block in reversed(before))
        partial = others[0].block_name if others else None
        return Stages(image, columns, rows, products.block_name, partial, tiles.block_name, result.block_name)


@dataclass(frozen=True)
class BlockPlan:
    """The tiles of a block, and the register tile: rows and columns of tiles, and blocks of filters."""

    size: int
    """The rows and columns of a tile of results."""
    rows: int
    columns: int
    register: RegisterTile
    parts: int
    """The number of parts of the filters that run in parallel, each with the transformed data of its own."""
    is_image: bool = False
    """Whether a block has all tiles of an image, so that the weight is read once for each image."""

    @property
    def tiles(self) -> int:
        """The number of tiles in a block."""
        return self.rows * self.columns

    @property
    def register_text(self) -> str:
        """The description of the register tile."""
        tile = self.register
        size = f"{tile.rows} x {tile.columns} tiles x {tile.blocks} blocks of filters"
        return f"{size} in registers, at {tile.efficiency:.0%} of the peak"


def propose_winograd(view: KernelView) -> list[Proposal]:
    """Proposes schedules for kernels with one convolution by Winograd's algorithm.

    ```
    pad                                   parallel for n, blocks of tiles, parts of the filters:
    for tiles: columns of the data          for c: pad the rows of the block
    for tiles: rows of the data               for ty, tx: transform the tile, in lanes
    for p, q, tiles: for k: products   →    for co_o:
    for tiles: columns of the result          for p, q: for tiles: acc[14, 2, 16] = 0; for k: acc += …; stored
    for n, co, h, w: rows, epilogue           for ty, tx, co: transform the tile back; epilogue, stored
    ```

    The data of a block for all channels, and its products for a few blocks of filters, fit into the L2 cache. If the
    weight does not fit as well, larger blocks read it less often.

    If height or width is dynamic, blocks consist of groups of tiles, each tile reads its own part of the image, and a
    nest after the blocks copies the tiles to the result:

    ```
    parallel for n, blocks of 4 groups, parts of the filters:
      for c: for ty, tx: pad and transform the tile
      for co_o:
        for p, q: for ty: acc[12, 2, 16] = 0; for k: acc += …; stored
        for ty, tx, co: transform the tile back, stored
    parallel for n, co, h: for w: epilogue, stored
    ```
    """
    product = ProductView.only(view.blocks(), Conv2dNchwcWinogradOp)
    stages = None if product is None else Stages.of(view.blocks(), product.block)
    if product is None or stages is None:
        return []
    plans = sorted(_plans(view, product, stages), key=lambda plan: _cost(view, product, plan).cycles)
    return [_candidate(view, product, stages, plan) for plan in plans[:CANDIDATES]]


def _candidate(view: KernelView, product: ProductView, stages: Stages, plan: BlockPlan) -> Candidate:
    return Candidate(
        f"blocks of {plan.rows} x {plan.columns} tiles",
        plan.register_text,
        partial(_cost, view, product, plan),
        partial(_apply, stages, plan),
        frozenset(stages.names),
    )


def _plans(view: KernelView, product: ProductView, stages: Stages) -> list[BlockPlan]:
    """Returns a plan for each size of a block whose data fits into the cache; at least one, with the smallest block.

    If height or width is dynamic, there is one plan, so that kernels for other numbers of channels have equal schedules
    and `loop-parametrize-kernels` replaces them by one.
    """
    limit = LARGEST_SHARE * view.target.l2
    if stages.is_dynamic:
        plans = [_dynamic_plan(view, product, rows) for rows in ROWS_OF_GROUPS]
        return [*(plan for plan in plans if _block_bytes(product, plan) <= limit), plans[-1]][:1]
    first, *others = (_plan(view, product, *size) for size in _block_sizes(product))
    return [first, *(plan for plan in others if _block_bytes(product, plan) <= limit)]


def _plan(view: KernelView, product: ProductView, rows: int, columns: int) -> BlockPlan:
    """Returns the plan with blocks of this size for an image of static height and width."""
    blocks = product.extent(Role.BATCH) * (product.extent(Role.ROWS) // rows)
    blocks *= product.extent(Role.COLUMNS) // columns
    register = _register_tile(view, product, rows, columns)
    parts = _parts(view.target, blocks, product.extent(Role.CHANNELS) // register.blocks)
    is_image = rows == product.extent(Role.ROWS) and columns == product.extent(Role.COLUMNS)
    return BlockPlan(product.extent(Role.POINT_ROWS) - 2, rows, columns, register, parts, is_image)


def _dynamic_plan(view: KernelView, product: ProductView, rows: int) -> BlockPlan:
    """Returns the plan with blocks of some groups of tiles, for an image that may have few tiles.

    With several threads, two of them share the filters of a block.
    """
    columns = product.extent(Role.COLUMNS)
    register = _register_tile(view, product, 1, columns)
    parts = min(2, view.target.threads, product.extent(Role.CHANNELS) // register.blocks)
    return BlockPlan(product.extent(Role.POINT_ROWS) - 2, rows, columns, register, parts)


def _block_sizes(product: ProductView) -> Iterator[tuple[int, int]]:
    """Yields the rows and columns of blocks: a part of a row, or whole rows."""
    height, width = product.extent(Role.ROWS), product.extent(Role.COLUMNS)
    for columns in divisors(width):
        yield from ((rows, columns) for rows in (divisors(height) if columns == width else [1]))


def _parts(target: Target, blocks: int, filters: int) -> int:
    """Returns the number of parts of the filters that keep all threads busy if there are few blocks of tiles."""
    wanted = ceil(target.threads / blocks)
    return largest_divisor(filters, wanted)


def _register_tile(view: KernelView, product: ProductView, rows: int, columns: int) -> RegisterTile:
    """Returns the best register tile; its number of blocks divides that of the filters."""
    found: list[RegisterTile] = []
    for blocks in divisors(product.extent(Role.CHANNELS)):
        tiles = rank_tiles(columns, blocks, view.target.vector_registers, height=rows)
        found += [tile for tile in tiles if tile.blocks == blocks]
    return max(found, key=lambda tile: tile.efficiency)


def _block_bytes(product: ProductView, plan: BlockPlan) -> int:
    """Returns the size of the transformed data of a block, and of its products for the filters of a register tile."""
    channels = product.terms
    filters = plan.register.blocks * product.extent(Role.LANE)
    values = product.extent(Role.POINT_ROWS) * product.extent(Role.POINT_COLUMNS) * plan.tiles
    return values * (channels + filters) * element_bytes(product.factors()[0])


def _cost(view: KernelView, product: ProductView, plan: BlockPlan) -> Cost:
    """Returns the cost: the products, the transforms, and the weight, which each block reads once.

    The transformed data stays in the L2 cache, so its traffic overlaps with the products. So does that of the weight
    if both fit into the cache. Then the smallest block is best.
    """
    target, lanes = view.target, product.extent(Role.LANE)
    sums = points(product.block) / lanes
    values = sums / product.terms / product.extent(Role.CHANNELS)
    vectors = values * (product.extent(Role.CHANNELS) + plan.parts * product.terms / lanes)
    arithmetic = sums / UNITS / plan.register.efficiency + vectors * WINOGRAD_TRANSFORM
    tiles = product.extent(Role.BATCH) * product.extent(Role.ROWS) * product.extent(Role.COLUMNS)
    blocks = ceil(tiles / plan.tiles)
    weight, data = product.factor_bytes[1], _block_bytes(product, plan)
    if blocks > 1 and data > LARGEST_SHARE * target.l2 / 2:
        arithmetic *= CROWDED
    fits = weight + data <= LARGEST_SHARE * target.l2
    memory = 0.0 if fits else weight * blocks / target.bytes_per_cycle(max(weight, target.l2 + 1))
    threads = busy_threads(target, blocks * plan.parts, points(product.block))
    return Cost(arithmetic, memory, (arithmetic + memory) / threads)


Axis = list[str]
"""The loop of a variable, or no loop if it has one iteration."""


def _apply(stages: Stages, plan: BlockPlan, draft: ScheduleDraft) -> None:
    """Schedules all stages for blocks of tiles; raises `ScheduleError` if that is not legal."""
    work, reduction = points(draft.block(stages.products)), reduction_loops(draft.block(stages.products))
    sums = _axes(draft, stages.products)
    stored, *_ = draft.do(CacheWrite(stages.products))
    copied = _axes(draft, stored)
    outside, filters = _tile_result(draft, stages, plan)
    draft.do(ComputeAt(stored, [*outside, *filters][-1]))
    at = _tile_stored(draft, stored, copied, plan.register)
    draft.do(ComputeAt(stages.products, at))
    tile = [loop for axis in (*sums[4:6], sums[1], sums[6]) for loop in axis if draft.extent(loop) > 1]
    schedule_sums(draft, stages.products, reduction, tile, _last(sums[6]), None)
    _split_sums(draft, stages.products, reduction)
    _transform_data(draft, stages, outside[-1])
    parallelize_outer(draft, outside, work)
    if stages.is_dynamic:
        _copy_tiles(draft, stages, plan)
    draft.mark_done(stored, *stages.names)
    draft.record_reason(f"blocks of {plan.rows} x {plan.columns} tiles, {plan.register_text}")
    if plan.is_image and reduction:
        # Not in the innermost loop: with address arithmetic there, LLVM spills accumulators.
        draft.do(Prefetch(reduction[-2:][0]))
        draft.record_reason("the next panel of the weight is prefetched")
    schedule_remaining(draft)


def _tile_result(draft: ScheduleDraft, stages: Stages, plan: BlockPlan) -> tuple[list[str], Axis]:
    """Splits the loops of the result into blocks of tiles, tiles, and the results of a tile, which is transformed back.

    Returns the loops around a block, and the loop over the filters of the register tile.
    """
    if stages.is_dynamic:
        batch, channels, rows, columns, y, x, lane = _axes(draft, stages.tiles)
    else:
        batch, channels, height, width, lane = _axes(draft, stages.result)
        rows, y = _split_off(draft, height, plan.size)
        columns, x = _split_off(draft, width, plan.size)
    around_rows, row = _split_off(draft, rows, plan.rows, tail=Tail.MASK if stages.is_dynamic else Tail.PEEL)
    around_columns, column = _split_off(draft, columns, plan.columns)
    filters, channel = _split_off(draft, channels, plan.register.blocks, always=stages.is_dynamic)
    filters, parts = _split_off(draft, filters, plan.parts, always=stages.is_dynamic)
    outside, tiles, results = (
        [*batch, *around_rows, *around_columns, *parts],
        [*row, *column, *channel],
        [*y, *x, *lane],
    )
    if not outside:
        outside, around = around_tile(draft, [*filters, *tiles, *results])
        filters, tiles = around[: len(filters)], around[len(filters) : len(around) - len(results)]
        results = around[len(around) - len(results) :]
    _reorder(draft, [*outside, *filters, *tiles, *results])
    if stages.partial is not None:
        *_, line, point, own_lane = _axes(draft, stages.partial)
        draft.do(ComputeAt(stages.partial, [*outside, *filters, *tiles][-1]))
        _reorder(draft, [*point, *line, *own_lane])
        unroll_tile(draft, stages.partial, [*line, *own_lane], _last(own_lane))
    # If the transform of columns is part of the result, rows share its terms when they are unrolled.
    unroll_tile(draft, stages.tiles, [*([] if stages.partial is not None else y), *x, *lane], _last(lane))
    return outside, filters


def _split_sums(draft: ScheduleDraft, products: str, reduction: Sequence[str]) -> None:
    """Splits sums over many channels into partial sums, whose rounding errors are smaller."""
    extents = [draft.extent(loop) for loop in reduction]
    if prod(extents) > PART:
        draft.do(*partial_sum_steps(products, reduction[0], extents[0], PART // prod(extents[1:])))


def _tile_stored(draft: ScheduleDraft, stored: str, axes: Sequence[Axis], register: RegisterTile) -> str:
    """Splits the copy of the products into register tiles; returns the innermost loop around one."""
    batch, channel, p, q, row, column, lane = axes
    rows, row = _split_off(draft, row, register.rows)
    columns, column = _split_off(draft, column, register.columns)
    outside, inside = [*batch, *p, *q, *rows, *columns], [*row, *column, *channel, *lane]
    _reorder(draft, [*outside, *inside])
    unroll_tile(draft, stored, inside, _last(lane))
    # Consecutive points have consecutive panels of the weight.
    (points,) = draft.do(Fuse(p[0], q[0], f"{stored}_pq"))
    return [points, *rows, *columns][-1]


def _transform_data(draft: ScheduleDraft, stages: Stages, at: str) -> None:
    """Transforms the data of a block in the loop `at`: tile by tile, for one block of channels after the other."""
    image, columns, rows = (_axes(draft, name) for name in (stages.image, stages.columns, stages.rows))
    batch, p, q, channels, row, column, lane = rows
    draft.do(ComputeAt(stages.rows, at))
    _reorder(draft, [*batch, *channels, *row, *column, *p, *q, *lane])
    unroll_tile(draft, stages.rows, [*q, *lane], _last(lane))
    *_, p, q, lane = columns
    tile = [at, *batch, *channels, *row, *column][-1]
    draft.do(ComputeAt(stages.columns, tile))
    _reorder(draft, [*q, *p, *lane])
    unroll_tile(draft, stages.columns, [*p, *lane], _last(lane))
    draft.do(ComputeAt(stages.image, tile if stages.is_dynamic else [at, *batch, *channels][-1]))
    unroll_tile(draft, stages.image, image[-1], _last(image[-1]))


def _copy_tiles(draft: ScheduleDraft, stages: Stages, plan: BlockPlan) -> None:
    """Copies the tiles to the result, row by row, and computes the epilogue."""
    batch, channels, height, columns, lane = _axes(draft, stages.result)
    tiles, x = _split_off(draft, columns, plan.size, tail=Tail.MASK)
    _reorder(draft, [*height, *batch, *channels, *tiles, *x, *lane])
    unroll_tile(draft, stages.result, lane, _last(lane))
    if draft.target.threads > 1 and height:
        draft.do(Parallelize(height[0]))


def _axes(draft: ScheduleDraft, name: str) -> list[Axis]:
    """Returns the loops of the spatial variables of a block."""
    block = draft.block(name)
    loops = (loop_of_variable(block, position) for position in block.spatial)
    return [[] if loop is None else [loop] for loop in loops]


def _split_off(
    draft: ScheduleDraft, axis: Axis, factor: int, *, tail: Tail = Tail.PEEL, always: bool = False
) -> tuple[Axis, Axis]:
    """Splits a loop if it is longer than `factor`, or `always`; returns the outer and the inner loop."""
    if not axis or not (always or draft.is_longer(axis[0], factor)):
        return [], axis
    if factor == 1:
        return axis, []
    outer, inner = draft.do(Split(axis[0], factor, tail, (f"{axis[0]}_o", f"{axis[0]}_i")))
    return [outer], [inner]


def _reorder(draft: ScheduleDraft, loops: Sequence[str]) -> None:
    if len(loops) > 1:
        draft.do(Reorder(tuple(loops)))


def _last(axis: Axis) -> str | None:
    return axis[0] if axis else None
