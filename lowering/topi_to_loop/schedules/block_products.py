"""Products of bytes and packed numbers in blocks with a scale each: sums of blocks in i32, inside of sums in f32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

from xdsl.dialects.builtin import i32

from xrelay.dialects.loop import BlockOp, IterKind
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.schedule import ComputeAt, Contract, DisableUnroll, Reorder, Unroll, Vectorize
from xrelay.dialects.topi.named.block_products import MatmulBlocksOp
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer, schedule_remaining
from xrelay.lowering.topi_to_loop.schedules.cost_model import Cost, busy_threads, moving
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    buffer_bytes,
    expected_extent,
    is_expanded_from,
    loads_of,
    loop_of_variable,
    loops_of_kind,
    points,
)
from xrelay.lowering.topi_to_loop.schedules.matrix_tile import split_off
from xrelay.lowering.topi_to_loop.schedules.reduction import consumer_at_points
from xrelay.lowering.topi_to_loop.schedules.register_tile import around_tile, unroll_tile
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.target.cpus import UNITS

LANES = 16
"""The lanes of a vector of i32 or f32, which are the units of a block of the weight."""

TILES = ((1, 4), (2, 4), (4, 3))
"""The rows and the vectors of the tiles: their sums in i32 and in f32 fit into 32 registers."""


@dataclass(frozen=True)
class Blocks:
    """The names of the blocks of a product; `unpack` is None for numbers of 8 bits."""

    unpack: str | None
    sums: str
    scale: str

    @property
    def names(self) -> list[str]:
        """The names in the order of the program."""
        return [self.sums, self.scale] if self.unpack is None else [self.unpack, self.sums, self.scale]


def propose_block_products(view: KernelView) -> list[Proposal]:
    """Proposes schedules for a kernel with one product of bytes and packed numbers, with or without an epilogue.

    ```
    for u, g, h, l: bytes[u, g, h, l] = …        →  parallel for j_o:
    for i, b, j: for g, h, t: s[i, b, j] += …         for i_o:
    for i, j: for b: r[i, j] += scales * s              r[4, 3, 16] = 0
    for i, j: epilogue                                  for b:
                                                          s[4, 3, 16] = 0
                                                          for g: bytes[3, 2, 64] = …
                                                            for h in 2: for i in 4: for v in 3 x lanes: s += …
                                                          for i in 4: for v in 3 x lanes: r += scales * s
                                                        epilogue on the tile, stored
    ```
    """
    found = _blocks_of(view)
    if found is None or view.target.lanes() != LANES:
        return []
    rows = _rows(view.block(found.scale))
    height, width = min(TILES, key=lambda tile: _vector_cycles(rows, *tile))
    return [
        Candidate(
            f"blocks of bytes, {height} rows x {width} vectors",
            "the sums of blocks are in registers",
            partial(_cost, view, found, height, width),
            partial(_apply, found, height, width),
            frozenset(found.names),
        )
    ]


def _blocks_of(view: KernelView) -> Blocks | None:
    """Returns the blocks of the product of a kernel; None for a kernel without a product, or with several."""
    own = [block for block in view.blocks() if is_expanded_from(block, MatmulBlocksOp)]
    unpack = [block.block_name for block in own if not block.is_reduction]
    reductions = [block for block in own if block.is_reduction]
    sums = [block.block_name for block in reductions if memref_type(block.writes[0]).element_type == i32]
    scale = [block.block_name for block in reductions if memref_type(block.writes[0]).element_type != i32]
    if len(sums) != 1 or len(scale) != 1 or len(unpack) > 1:
        return None
    return Blocks(unpack[0] if unpack else None, sums[0], scale[0])


def _rows(scale: BlockOp) -> int:
    """Returns the expected extent of the last axis of rows that has several, or 1."""
    extents = [expected_extent(scale.extents[position]) for position in scale.spatial[:-1]]
    return ([1] + [extent for extent in extents if extent != 1])[-1]


TERMS = 32
"""The numbers of a unit in the costs below."""

UNPACK, DOTS, SCALE = 16.0, 8.0, 4.0
"""Instructions on vectors for 32 numbers of 4 bits: to unpack them, and for each row to multiply and to scale them."""

PARTIAL = 0.1
"""The additional cost of tiles of one vector: each row has a load for each instruction."""


def _vector_cycles(rows: int, height: int, width: int) -> float:
    """Returns the cycles for 32 numbers of a vector of units, in tiles of `height` rows x `width` vectors."""
    return ceil(rows / height) * (UNPACK + height * (DOTS + SCALE)) / UNITS * (1 + PARTIAL / width)


def _cost(view: KernelView, found: Blocks, height: int, width: int) -> Cost:
    """Returns the cost of the product: each weight is read once."""
    sums, scale = view.block(found.sums), view.block(found.scale)
    rows, units = _rows(scale), expected_extent(scale.extents[scale.spatial[-1]])
    arithmetic = points(sums) / (rows * LANES * TERMS) * _vector_cycles(rows, height, width)
    loads = {op.memref: op for name in found.names for op in loads_of(view.block(name))}
    computed = {buffer for name in found.names for buffer in view.block(name).writes}
    moved = sum(moving(view.target, buffer_bytes(op)) for buffer, op in loads.items() if buffer not in computed)
    threads = busy_threads(view.target, ceil(units / LANES / width), points(sums))
    return Cost.of(arithmetic, moved, threads=threads)


def _apply(found: Blocks, height: int, width: int, draft: ScheduleDraft) -> None:
    """Schedules a kernel in tiles of `height` rows x `width` vectors."""
    consumer = consumer_at_points(draft, found.scale)
    work = points(draft.block(found.sums))
    *rows, column = [loop_of_variable(consumer, position) for position in consumer.spatial]
    outside, inside = _cut(draft, rows, column, height, width)
    if len(outside) + len(inside) > 1:
        draft.do(Reorder((*outside, *inside)))
    at = outside[-1]
    for nest in [_Nest.of(draft, name) for name in reversed(found.names)]:
        draft.do(ComputeAt(nest.name, at))
        at = nest.schedule(draft) or at
    unroll_tile(draft, consumer.block_name, inside, inside[-1])
    parallelize_outer(draft, outside, work)
    draft.mark_done(*found.names, consumer.block_name)
    draft.record_reason(f"{height} rows x {width} vectors of {LANES} units: sums of blocks in i32, of all in f32")
    schedule_remaining(draft)


def _cut(
    draft: ScheduleDraft, rows: Sequence[str | None], column: str | None, height: int, width: int
) -> tuple[list[str], list[str]]:
    """Splits the loops of the consumer into tiles; returns the loops outside and inside of a tile.

    A panel of the weight stays in the cache for all rows. The rows of a tile run along the last axis of rows that has
    several.
    """
    if column is None:
        raise ScheduleError("the product has a single column")
    panels, column = split_off(draft, column, width * LANES, "o", "t")
    vectors, lane = split_off(draft, column, LANES, "v", "l")
    outside, inside = panels, [*vectors, lane]
    *stacks, row = [None, *(loop for loop in rows if loop is not None)]
    outside += [loop for loop in stacks if loop is not None]
    if row is not None:
        tiles, row = split_off(draft, row, height, "o", "i")
        outside += tiles
        inside = inside if height == 1 and tiles else [row, *inside]
    return (outside, inside) if outside else around_tile(draft, inside)


@dataclass(frozen=True)
class _Nest:
    """The loops of a block before it moves into the tile of its reader."""

    name: str
    spatial: Sequence[str]
    reduction: Sequence[str | None]
    """The loop of each variable of sums; None for one iteration."""

    @staticmethod
    def of(draft: ScheduleDraft, name: str) -> _Nest:
        """Returns the loops of a block."""
        block = draft.block(name)
        sums = [
            loop_of_variable(block, position) for position in range(len(block.kinds)) if position not in block.spatial
        ]
        return _Nest(name, loops_of_kind(block, IterKind.SPATIAL), sums)

    def schedule(self, draft: ScheduleDraft) -> str | None:
        """Unrolls the tile of the block in the first loop of sums, and returns that loop.

        The last loop of a tile has the lanes. Of sums of bytes, the last variable is that of the terms of a lane.
        """
        tile = [loop for loop in self.spatial if draft.extent(loop) > 1]
        if not self.reduction:
            unroll_tile(draft, self.name, tile, tile[-1])
            return None
        *rows, column = tile
        vectors, lane = split_off(draft, column, LANES, "v", "l")
        outer, *numbers = self.reduction
        terms = numbers.pop() if numbers else None
        around = [] if outer is None else [outer]
        unrolled = [loop for loop in (*numbers, *rows, *vectors) if loop is not None]
        order = [*around, *unrolled, lane, *([] if terms is None else [terms])]
        if len(order) > 1:
            draft.do(Reorder(tuple(order)))
        draft.do(Vectorize(lane) if terms is None else Contract(terms, lane), *map(DisableUnroll, around))
        draft.do(*map(Unroll, unrolled))
        return outer
