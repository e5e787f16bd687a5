"""`cache_write` and the pass `loop-cache-write`: a block gets a result buffer of its own, copied by a new block."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.loop import BlockOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.schedule import CacheWrite
from xrelay.passes.loop.nest_edits import alloc_like, copy_nest, retarget
from xrelay.passes.loop.nest_queries import blocks_of, nest_root
from xrelay.passes.loop.primitives.legality import check_new_names, common_positions, find_block, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(CacheWrite)
def cache_write(kernel: func.FuncOp, step: CacheWrite) -> list[str]:
    """Redirects `step.block` to buffers of its own in `step.space`, copied by the new block `<block>_write`.

    ```
    loop.for "i" %i to 12 {
      loop.for "j" %j to 64 {
        loop.block "gemm" (…) … writes(%C) …
    ```
    becomes with `cache_write("gemm")`
    ```
    %c = memref.alloc() : memref<12x64xf32, "local">
    loop.for "i" %i to 12 {
      loop.for "j" %j to 64 {
        loop.block "gemm" (…) … writes(%c) …
    loop.for "gemm_write_0" %i2 to 12 {
      loop.for "gemm_write_1" %j2 to 64 {
        loop.block "gemm_write" (%vi : spatial 12 = %i2, %vj : spatial 64 = %j2) reads(%c) writes(%C) {…}
    ```

    `compute_at` then moves the block into tiles of the copy and shrinks the buffer to a tile of registers. The loops of
    the copy are named `<block>_write_<dimension>`, or `step.names`. Of several results, those with other users are
    copied. If the block writes a part of a buffer, this part is copied. Raises `ScheduleError` unless the block is the
    only writer of its buffers, and writes each element once and all buffers at the same index; also for a block inside
    another block's nest.
    """
    block = find_block(kernel, step.block, step)
    buffers = _results(block, step)
    rank = memref_type(buffers[0]).get_num_dims()
    names = list(step.names) if step.names else [f"{step.block}_write_{d}" for d in range(rank)]
    root, shape = _check(kernel, block, buffers, names, step)
    place = root.parent
    assert place is not None, "it is in the kernel"
    copies: dict[SSAValue, SSAValue] = {}
    for buffer in buffers:
        type = memref_type(buffer)
        alloc = alloc_like(MemRefType(type.element_type, [], memory_space=StringAttr(step.space)), shape)
        alloc.memref.name_hint = f"{step.block}_tile"
        place.insert_op_before(alloc, root)
        retarget(block, buffer, alloc.memref)
        copies[alloc.memref] = buffer
    copy = f"{step.block}_write"
    place.insert_op_after(copy_nest(copy, names, shape, copies), root)
    return [copy, *names]


def _results(block: BlockOp, step: CacheWrite) -> list[SSAValue]:
    """The buffers that `block` writes and other ops use; all written buffers if no other op uses any."""
    inside = set(block.walk())
    used = [b for b in block.writes if any(use.operation not in inside for use in b.uses)]
    outputs = [b for b in block.writes if b in used or not isinstance(b, OpResult)]
    if not (outputs or block.writes):
        raise refusal(step, f"block {step.block!r}", "it writes nothing", "name a block with a result")
    return outputs or list(block.writes)


def _check(
    kernel: func.FuncOp, block: BlockOp, buffers: Sequence[SSAValue], names: list[str], step: CacheWrite
) -> tuple[Operation, Sequence[Extent]]:
    """Returns the outermost op of the nest and the extents that it writes; `ScheduleError` if copying is not legal."""
    subject = f"block {step.block!r}"
    positions = common_positions(block, block.writes, step)
    written: list[Extent] = [1 if position is None else block.extents[position] for position in positions]
    for buffer in buffers:
        others = [other for other in blocks_of(kernel).values() if other is not block and buffer in other.writes]
        if others:
            reason = f"block {others[0].block_name!r} writes the same buffer"
            raise refusal(step, subject, reason, "no other block may write the buffer")
    root = nest_root(block)
    if root.parent_op() is not kernel:
        raise refusal(step, subject, "it is inside another nest already", "use cache_write before compute_at")
    if f"{step.block}_write" in blocks_of(kernel):
        raise refusal(step, subject, f"there is a block {step.block + '_write'!r} already", "use cache_write once")
    if len(names) != (rank := len(positions)):
        raise refusal(step, "names", f"{len(names)} names for a buffer of rank {rank}", "name one loop per dimension")
    check_new_names(kernel, names, set(), step)
    return root, written


LoopCacheWritePass = primitive_pass(CacheWrite, "block=gemm")
