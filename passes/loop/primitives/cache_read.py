"""`cache_read` and the pass `loop-cache-read`: a block reads a copy of an operand, which a new block fills."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation

from xrelay.dialects.loop import BlockOp, LoadOp
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.schedule import CacheRead
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.loop.nest_edits import alloc_like, copy_nest, known_extents
from xrelay.passes.loop.nest_queries import blocks_inside, blocks_of, nest_root
from xrelay.passes.loop.primitives.legality import check_new_names, find_block, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(CacheRead)
def cache_read(kernel: func.FuncOp, step: CacheRead) -> list[str]:
    """Redirects read number `step.operand` of `step.block` to a copy; the new block `<block>_read<operand>` fills it.

    ```
    loop.for "i" %i to 12 {
      loop.for "j" %j to 64 {
        loop.block "gemm" (…) reads(%A, %B) … { … loop.load %B[%vj, %vk] : memref<64x32xf32> …
    ```
    becomes with `cache_read("gemm", 1, last = 0)`
    ```
    %b = memref.alloc() : memref<32x64xf32>
    loop.for "gemm_read1_0" %k2 to 32 {
      loop.for "gemm_read1_1" %j2 to 64 {
        loop.block "gemm_read1" (%vk : spatial 32 = %k2, %vj : spatial 64 = %j2) reads(%B) writes(%b) {…}
    loop.for "i" %i to 12 {
      loop.for "j" %j to 64 {
        loop.block "gemm" (…) reads(%A, %b) … { … loop.load %b[%vk, %vj] : memref<32x64xf32> …
    ```

    Dimension `step.last` of the operand is innermost in the copy and the others keep their order, so that elements used
    together are contiguous. `compute_at` then moves the copy to the loop that uses a part of it, and shrinks the buffer
    to that part. The loops of the copy are named `<block>_read<operand>_<dimension>`. Raises `ScheduleError` for a read
    that the block does not have, an operand without dimensions or with unknown sizes, an operand that the nest of the
    block writes, and a block inside another block's nest.
    """
    block = find_block(kernel, step.block, step)
    load, extents, root, place = _find(kernel, block, step)
    rank = len(extents)
    last = step.last % rank
    order = [*(d for d in range(rank) if d != last), last]
    shape = [extents[d] for d in order]
    name = f"{step.block}_read{step.operand}"
    if name in blocks_of(kernel):
        raise refusal(step, f"block {step.block!r}", f"there is a block {name!r} already", "use cache_read once")
    loops = [f"{name}_{d}" for d in range(rank)]
    check_new_names(kernel, loops, set(), step)
    alloc = alloc_like(MemRefType(load.buffer_type.element_type, []), shape)
    alloc.memref.name_hint = name
    source = load.memref
    place.insert_ops_before([alloc, copy_nest(name, loops, shape, {source: alloc.memref}, order)], root)
    load.operands[0] = alloc.memref
    load.index = load.index.select(order)
    loaded = {op.memref for op in ops_of(block, LoadOp)}
    reads = [buffer for buffer in block.reads if buffer is not source or source in loaded]
    block.set_buffers([*reads, alloc.memref], list(block.writes))
    return [name, *loops]


def _find(kernel: func.FuncOp, block: BlockOp, step: CacheRead) -> tuple[LoadOp, list[Extent], Operation, Block]:
    """Returns the read, the extents of its operand, the root of the block's nest and the root's block.

    Raises `ScheduleError` if copying is not legal.
    """
    subject = f"block {step.block!r}"
    written = set(block.writes)
    loads = [op for op in ops_of(block.body, LoadOp) if op.memref not in written]
    if step.operand >= len(loads):
        reason = f"it makes {len(loads)} reads, which are numbered from 0"
        raise refusal(step, subject, reason, "name one of them")
    load = loads[step.operand]
    shape = known_extents(load.memref)
    if not shape:
        reason = f"it reads {load.buffer_type}"
        raise refusal(step, subject, reason, "only a buffer of known extents can be copied")
    if not -len(shape) <= step.last < len(shape):
        reason = f"its operand has {len(shape)} dimensions, there is no dimension {step.last}"
        raise refusal(step, subject, reason, "name one of them")
    root = nest_root(block)
    place = root.parent_block()
    if place is None or root.parent_op() is not kernel:
        raise refusal(step, subject, "it is inside another nest already", "use cache_read before compute_at")
    writer = next((other for other in blocks_inside(root) if load.memref in other.writes), None)
    if writer is not None:
        reason = f"block {writer.block_name!r} writes its operand in the same nest"
        raise refusal(step, subject, reason, "only a buffer that is complete before the nest can be copied")
    return load, shape, root, place


LoopCacheReadPass = primitive_pass(CacheRead, "block=gemm operand=1 last=0")
