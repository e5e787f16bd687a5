"""`partial_sums` and the pass `loop-partial-sums`: sums parts of a reduction separately, then adds them up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from xrelay.dialects.loop import LOCAL, BlockOp, ForOp, IterKind, IterVar, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.schedule import PartialSums
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.passes.loop.decompose_init import take_init
from xrelay.passes.loop.nest_edits import Names, prepend, retarget
from xrelay.passes.loop.nest_queries import (
    enclosing_loops,
    is_ordered_in,
    is_spatial_in,
    reduces_over,
)
from xrelay.passes.loop.primitives.accumulators import Update, around_tile, loops_of_results, updates_of
from xrelay.passes.loop.primitives.legality import find_block, find_loop, refusal
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
        loop.block "gemm_zero" (%vj : spatial 8 = %j0) writes(%part) {…}
      loop.for "k_i" %ki to 8000 {
        loop.for "j" %j to 8 {
          loop.block "gemm" (%vj : spatial 8 = %j, %vk : reduce 1000000 = %ko * 8000 + %ki) … writes(%part) {…}
      loop.for "j_total" %j1 to 8 {
        loop.block "gemm_total" (%vj : spatial 8 = %j1, %vp : reduce 125 = %ko) reads(%part) writes(%C) init {…} {…}
    ```

    The rounding errors of a float sum grow with its number of terms; those of partial sums grow with the terms of a
    part and the number of parts. Raises `ScheduleError` for a loop that the block does not reduce over, or that is not
    serial; a block whose results are not all sums of floats; a result that another block in the loop uses; and partial
    sums whose number is a value, or that take more than 256 KiB.
    """
    block, loop = find_block(kernel, step.block, step), find_loop(kernel, step.loop, step)
    _check_loop(block, loop, step)
    sums = _sums_of(block, step)
    tile = loops_of_results(block, loop, [each.store.memref for each in sums], step)
    names = Names(kernel)
    place = ValueMap.identity([inner.index for inner in tile])
    allocs = [_allocate(block, each, tile) for each in sums]
    parts: dict[SSAValue, Update] = {alloc.memref: each for alloc, each in zip(allocs, sums, strict=True)}
    total = _total(names.block(f"{block.block_name}_total"), block, loop, parts, place)
    zero = _zero(names.block(f"{block.block_name}_zero"), block, tile, parts, place)
    for part, each in parts.items():
        retarget(block, each.store.memref, part)
        each.load.index = each.store.index = place
    block.set_buffers(block.reads, list(parts))
    body = loop.body.block
    prepend(body, [*allocs, around_tile(tile, zero, "zero", names)])
    body.add_op(around_tile(tile, total, "total", names))


def _check_loop(block: BlockOp, loop: ForOp, step: PartialSums) -> None:
    """Raises `ScheduleError` for a loop whose iterations are not groups of terms of the block's sums."""
    subject = f"loop {step.loop!r}"
    if not reduces_over(block, loop) or not loop.is_ancestor(block):
        raise refusal(
            step, subject, f"block {step.block!r} does not reduce over it", "name a loop over which it reduces"
        )
    if is_ordered_in(block, loop) or is_spatial_in(block, loop):
        reason = f"its iterations are not terms of sums of block {step.block!r}"
        raise refusal(step, subject, reason, "name a loop of a reduce variable alone")
    if loop.kind is not LoopKind.SERIAL:
        raise refusal(step, subject, f"it is {loop.kind}", "name a serial loop")


def _sums_of(block: BlockOp, step: PartialSums) -> list[Update]:
    """The sums that a block computes; refuses a block that computes anything else."""
    sums = updates_of(block)
    if sums is None or not all(isinstance(each.combine, arith.AddfOp) for each in sums):
        reason = "its results are not all sums of floats"
        raise refusal(step, f"block {step.block!r}", reason, "name a block that adds floats")
    return sums


def _allocate(block: BlockOp, each: Update, tile: Sequence[ForOp]) -> memref.AllocOp:
    shape = [inner.extent or 0 for inner in tile]
    alloc = memref.AllocOp([], [], buffer_type(each.element, shape, space=StringAttr(LOCAL)))
    alloc.memref.name_hint = f"{block.block_name}_part"
    return alloc


def _zero(
    name: str, block: BlockOp, tile: Sequence[ForOp], parts: Mapping[SSAValue, Update], place: ValueMap
) -> BlockOp:
    """Builds the block that sets the partial sums to zero."""
    variables = [_variable(IterKind.SPATIAL, inner) for inner in tile]
    zero = BlockOp(name, variables, [], list(parts))
    zero.location = block.location
    with ImplicitBuilder(zero.body):
        for part, each in parts.items():
            StoreOp(each.neutral().result, part, place)
    return zero


def _total(name: str, block: BlockOp, loop: ForOp, parts: Mapping[SSAValue, Update], place: ValueMap) -> BlockOp:
    """Builds the block that adds the partial sums to the result and takes over the init of `block`."""
    around = [outer for outer in enclosing_loops(loop) if reduces_over(block, outer)]
    variables = [block.iter_vars()[position] for position in block.spatial]
    variables += [_variable(IterKind.REDUCE, each) for each in (*around, loop)]
    init = take_init(block) if block.has_init else None
    results = [each.store.memref for each in parts.values()]
    loaded = [] if init is None else [op.memref for op in ops_of(init, LoadOp)]
    reads = [*parts, *dict.fromkeys(buffer for buffer in loaded if buffer not in results)]
    total = BlockOp(name, variables, reads, results, init=init)
    total.location = block.location
    spatial = [block.variables[position] for position in block.spatial]
    values = {old: ValueMap.identity([new]) for old, new in zip(spatial, total.variables, strict=False)}
    with ImplicitBuilder(total.body):
        for part, each in parts.items():
            index = each.store.index.substitute(values)
            old = LoadOp(each.store.memref, index)
            StoreOp(arith.AddfOp(old.result, LoadOp(part, place).result).result, each.store.memref, index)
    return total


def _variable(kind: IterKind, loop: ForOp) -> IterVar:
    """A variable that is bound to the index of a loop."""
    return IterVar(kind, loop.bound, ValueMap.identity([loop.index]), loop.index.name_hint)


LoopPartialSumsPass = primitive_pass(PartialSums, "block=gemm loop=k_o")
