"""`partial_sums` and the pass `loop-partial-sums`: sums parts of a reduction separately, then adds them up."""

from __future__ import annotations

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, func

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, LoopKind, StoreOp
from xrelay.dialects.loop.schedule import PartialSums
from xrelay.passes.loop.decompose_init import take_init
from xrelay.passes.loop.nest_edits import Names, list_buffers, prepend
from xrelay.passes.loop.nest_queries import (
    is_ordered_in,
    is_spatial_in,
)
from xrelay.passes.loop.primitives.accumulators import (
    Update,
    around_tile,
    block_of_part,
    loops_of_results,
    part_of,
    updates_of,
    variables_of_part,
)
from xrelay.passes.loop.primitives.legality import check_reduces_over, find_block, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(PartialSums)
def partial_sums(kernel: func.FuncOp, step: PartialSums) -> None:
    """Makes `step.block` sum the terms of each iteration of `step.loop` separately, and adds these sums to its result.

    ```
    loop.for "k_o" %ko to 125 {
      loop.for "k_i" %ki to 8000 {
        loop.for "j" %j to 8 {
          loop.block "gemm" (%vj : spatial 8 = %j, %vk : reduce 1000000 = %ko * 8000 + %ki) … writes(%C) init {…} {…}
    ```
    becomes with `partial_sums("gemm", "k_o")`
    ```
    loop.for "k_o" %ko to 125 {
      %part = memref.alloc() : memref<8xf32, "local">
      loop.for "j_zero" %j0 to 8 {
        loop.block "gemm_zero" (%vj : spatial 8 = %j0, …) writes(%part) {…}
      loop.for "k_i" %ki to 8000 {
        loop.for "j" %j to 8 {
          loop.block "gemm" (%vj : spatial 8 = %j, %vk : reduce 1000000 = %ko * 8000 + %ki) … writes(%part) {…}
      loop.for "j_total" %j1 to 8 {
        loop.block "gemm_total" (%vj : spatial 8 = %j1, %vk : reduce 1000000 = %ko * 8000) reads(%part) writes(%C)
            init {…} {…}
    ```

    The rounding errors of a float sum grow with its number of terms; those of partial sums grow with the terms of a
    part and the number of parts. Raises `ScheduleError` for a loop that the block does not reduce over, or that is not
    serial; a block whose results are not all sums of floats; a result that another block in the loop uses; and partial
    sums whose number is a value, or that take more than 256 KiB.
    """
    block, loop = find_block(kernel, step.block, step), find_loop(kernel, step.loop, step)
    _check_loop(block, loop, step)
    sums = _sums_of(block, step)
    results = [each.store.memref for each in sums]
    tile = loops_of_results(block, loop, results, step)
    parts = [part_of(block, result, loop, step) for result in results]
    names, variables = Names(kernel), variables_of_part(block, loop, step)
    zero = block_of_part(names.block(f"{block.block_name}_zero"), block, variables, None)
    total = block_of_part(names.block(f"{block.block_name}_total"), block, variables, take_init(block))
    for each, part in zip(sums, parts, strict=True):
        part.alloc.memref.name_hint = f"{block.block_name}_part"
        with ImplicitBuilder(zero.body):
            StoreOp(each.neutral().result, *part.places(block, zero)[1])
        with ImplicitBuilder(total.body):
            result, own = part.places(block, total)
            old = LoadOp(*result)
            StoreOp(arith.AddfOp(old.result, LoadOp(*own).result).result, *result)
        part.redirect()
    for changed in (block, zero, total):
        list_buffers(changed)
    body = loop.body.block
    prepend(body, [*(part.alloc for part in parts), around_tile(tile, zero, "zero", names)])
    body.add_op(around_tile(tile, total, "total", names))


def _check_loop(block: BlockOp, loop: ForOp, step: PartialSums) -> None:
    """Raises `ScheduleError` for a loop whose iterations are not groups of terms of the block's sums."""
    subject = f"loop {step.loop!r}"
    check_reduces_over(block, loop, step)
    if is_ordered_in(block, loop) or is_spatial_in(block, loop):
        reason = f"its iterations are not terms of sums of block {step.block!r}"
        raise refusal(step, subject, reason, "name a loop of a reduce variable alone")
    if loop.kind is not LoopKind.SERIAL:
        raise refusal(step, subject, f"it is {loop.kind}", "name a serial loop")


def _sums_of(block: BlockOp, step: PartialSums) -> list[Update]:
    """The sums that a block computes; refuses a block that computes anything else."""
    sums = updates_of(block)
    if not block.has_init:
        raise refusal(step, f"block {step.block!r}", "it has no init", "name the block that initialises the sums")
    if sums is None or not all(isinstance(each.combine, arith.AddfOp) for each in sums):
        reason = "its results are not all sums of floats"
        raise refusal(step, f"block {step.block!r}", reason, "name a block that adds floats")
    return sums


LoopPartialSumsPass = primitive_pass(PartialSums, "block=gemm loop=k_o")
