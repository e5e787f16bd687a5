"""Accumulators: a local buffer for the results that a block updates in one iteration of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import BlockOp, ForOp, SchedulePrimitive
from xrelay.dialects.topi.shapes import bit_width
from xrelay.passes.loop.decompose_init import copy_around
from xrelay.passes.loop.nest_edits import Names
from xrelay.passes.loop.nest_queries import blocks_inside, enclosing_loops, is_spatial_in, reduces_over
from xrelay.passes.loop.primitives.compute_at import LOCAL_BYTES
from xrelay.passes.loop.primitives.legality import refusal


def loops_of_results(block: BlockOp, loop: ForOp, results: Sequence[SSAValue], step: SchedulePrimitive) -> list[ForOp]:
    """The loops in `loop` that iterate over different elements of `results`, which `block` updates.

    Refuses loops that elements and terms share, dynamic extents, more than `LOCAL_BYTES` of accumulators, and results
    that another block in `loop` uses.
    """
    subject = f"block {block.block_name!r}"
    for other in blocks_inside(loop):
        if other is not block and not set(results).isdisjoint([*other.reads, *other.writes]):
            reason = f"block {other.block_name!r} in loop {loop.loop_name!r} uses its result"
            raise refusal(step, subject, reason, "move that block out of the loop")
    around = enclosing_loops(block)
    tile = [inner for inner in around[around.index(loop) + 1 :] if is_spatial_in(block, inner)]
    for inner in tile:
        if reduces_over(block, inner) or inner.extent is None:
            shared = "spatial and reduce variables use it"
            reason = shared if reduces_over(block, inner) else "its extent is known only at run time"
            raise refusal(step, f"loop {inner.loop_name!r}", reason, "split it, and move it out of the reduction")
    count = prod(inner.extent or 0 for inner in tile)
    size = count * sum(bit_width(SSAValue.get(each, type=MemRefType).type.element_type) // 8 for each in results)
    if size > LOCAL_BYTES:
        reason = f"its accumulators take {size} bytes, more than {LOCAL_BYTES}"
        raise refusal(step, subject, reason, "move loops of its result out of the reduction")
    return tile


def around_tile(tile: Sequence[ForOp], block: BlockOp, suffix: str, names: Names) -> Operation:
    """Wraps `block` in copies of the loops of `tile`."""
    nest: Operation = block
    for loop in reversed(tile):
        nest = copy_around(loop, nest, names, suffix)
    return nest
