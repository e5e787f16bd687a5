"""`storage_align` and the pass `loop-storage-align`: pads the rows of a buffer that the kernel allocates."""

from __future__ import annotations

from math import gcd, prod

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX

from xrelay.dialects.loop.schedule import StorageAlign
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.primitives.legality import allocation_of, find_block, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(StorageAlign)
def storage_align(kernel: func.FuncOp, step: StorageAlign) -> None:
    """Pads the buffer of `step.block` so that a step along `step.dimension` is a multiple of `step.factor` plus offset.

    ```
    %a = memref.alloc() : memref<64x1024xf32>
    loop.for "copy_0" %i to 64 {
      loop.for "copy_1" %k to 1024 {
        loop.block "copy" (…) reads(%A) writes(%a) {…}
    ```
    becomes with `storage_align("copy", 0, 1024, offset = 16)`
    ```
    %a = memref.alloc() : memref<64x1040xf32>
    loop.for "copy_0" %i to 64 {
      loop.for "copy_1" %k to 1024 {
        loop.block "copy" (…) reads(%A) writes(%a) {…}
    ```

    Rows a power of two apart compete for the same set of a cache; rows that begin at multiples of a vector are aligned.
    The extent of the next dimension grows, and no element is in the padding. Raises `ScheduleError` for a block that
    writes several buffers, an argument of the kernel, or a buffer that other ops than loads and stores use; for the
    last dimension, dimensions after it whose extents are values, and distances that no padding yields.
    """
    block = find_block(kernel, step.block, step)
    alloc = allocation_of(block, step)
    shape = alloc.memref.type.get_shape()
    if step.dimension + 1 >= len(shape):
        reason = f"dimension {step.dimension} of {alloc.memref.type} has no dimension after it"
        raise refusal(step, f"block {step.block!r}", reason, "name a dimension before the last")
    inner, row = prod(shape[step.dimension + 2 :]), shape[step.dimension + 1]
    if DYNAMIC_INDEX in shape[step.dimension + 1 :]:
        reason = f"the distance along dimension {step.dimension} of {alloc.memref.type} is a value"
        raise refusal(step, f"block {step.block!r}", reason, "name a dimension with static extents after it")
    common = gcd(inner, step.factor)
    if step.offset % common:
        reason = f"every distance along dimension {step.dimension} is a multiple of {inner}"
        raise refusal(step, f"block {step.block!r}", reason, "choose another offset")
    period = step.factor // common
    # The smallest extent from `row` on whose distance is a multiple of the factor plus the offset.
    padded = row + (step.offset // common * pow(inner // common, -1, period) - row) % period
    new = [*shape[: step.dimension + 1], padded, *shape[step.dimension + 2 :]]
    old = alloc.memref.type
    wide = memref.AllocOp(alloc.dynamic_sizes, [], buffer_type(old.element_type, new, space=old.memory_space))
    wide.memref.name_hint = alloc.memref.name_hint
    assert alloc.parent is not None, "it is in the kernel"
    alloc.parent.insert_op_before(wide, alloc)
    alloc.memref.replace_all_uses_with(wide.memref)
    alloc.detach()
    alloc.erase()


LoopStorageAlignPass = primitive_pass(StorageAlign, "block=copy dimension=0 factor=1024 offset=16", EXACT)
