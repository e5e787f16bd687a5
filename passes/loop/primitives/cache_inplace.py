"""`cache_inplace` and the pass `loop-cache-inplace`: a block updates its results in a local buffer for each tile."""

from __future__ import annotations

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import func

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, LoopKind, StoreOp
from xrelay.dialects.loop.schedule import CacheInplace
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.decompose_init import take_init
from xrelay.passes.loop.nest_edits import Names, list_buffers, prepend
from xrelay.passes.loop.nest_queries import enclosing_loops, reduces_over
from xrelay.passes.loop.primitives.accumulators import (
    Part,
    around_tile,
    block_of_part,
    loops_of_results,
    part_of,
    variables_of_part,
)
from xrelay.passes.loop.primitives.legality import find_block, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(CacheInplace)
def cache_inplace(kernel: func.FuncOp, step: CacheInplace) -> None:
    """Makes `step.block` update its results in a local buffer during each iteration of `step.loop`.

    ```
    loop.for "k_o" %ko to 4 {
      loop.for "i_o" %io to 2 {
        loop.for "k_i" %ki to 256 {
          loop.for "i_i" %ii to 6 {
            loop.block "gemm" (%vi : spatial 12 = %io * 6 + %ii, %vk : reduce 1024 = %ko * 256 + %ki) … writes(%C)
                init {…} {…}
    ```
    becomes with `cache_inplace("gemm", "i_o")`
    ```
    loop.for "k_o" %ko to 4 {
      loop.for "i_o" %io to 2 {
        %c = memref.alloc() : memref<6xf32, "local">
        loop.for "i_i_load" %i0 to 6 {
          loop.block "gemm_load" (%vi : spatial 12 = %io * 6 + %i0, %vk : reduce 1024 = %ko * 256)
              writes(%C, %c) init {…} {…}                                             // %c[%vi - %io * 6] = %C[%vi]
        loop.for "k_i" %ki to 256 {
          loop.for "i_i" %ii to 6 {
            loop.block "gemm" (…) … writes(%c) {…}
        loop.for "i_i_store" %i1 to 6 {
          loop.block "gemm_store" (…) reads(%c) writes(%C) {…}                        // %C[%vi] = %c[%vi - %io * 6]
    ```

    With a part of the reduction outside of the tiles of the result, the operands that this part reads stay in a cache
    for all tiles. The order of the terms is kept, so that the result has the same bits. The buffer becomes registers.
    Raises `ScheduleError` if no loop of the reduction is around `step.loop` (then `cache_write` and `compute_at` are
    the better choice), for results that the block accesses at several or at computed indices or that another block in
    the loop uses, for tiles of dynamic extent and of more than 256 KiB, and for parts of the reduction whose first term
    may be outside of its domain although others are inside.
    """
    block, loop = find_block(kernel, step.block, step), find_loop(kernel, step.loop, step)
    _check_place(block, loop, step)
    results = list(block.writes)
    tile = loops_of_results(block, loop, results, step)
    caches = [part_of(block, result, loop, step) for result in results]
    names, variables = Names(kernel), variables_of_part(block, loop, step)
    init = take_init(block) if block.has_init else None
    load = block_of_part(names.block(f"{block.block_name}_load"), block, variables, init)
    store = block_of_part(names.block(f"{block.block_name}_store"), block, variables, None)
    for cache in caches:
        _copy(block, load, cache, loads=True)
        _copy(block, store, cache, loads=False)
        cache.redirect()
        cache.alloc.memref.name_hint = f"{step.block}_cache"
    list_buffers(block)
    place = loop.body.block
    anchor = place.find_ancestor_op_in_block(block)
    assert anchor is not None, "the block is in the loop"
    place.insert_op_before(around_tile(tile, load, "load", names), anchor)
    place.insert_op_after(around_tile(tile, store, "store", names), anchor)
    prepend(place, [cache.alloc for cache in caches])


def _check_place(block: BlockOp, loop: ForOp, step: CacheInplace) -> None:
    """Refuses a loop that is not inside a reduction of the block, or in which a buffer has no place."""
    subject = f"loop {step.loop!r}"
    if not loop.is_ancestor(block):
        raise refusal(step, subject, f"block {step.block!r} is not in it", "name a loop around the block")
    if loop.kind not in (LoopKind.SERIAL, LoopKind.PARALLEL):
        raise refusal(step, subject, f"it is {loop.kind}", "name a serial or parallel loop")
    if not any(reduces_over(block, each) for each in (*enclosing_loops(loop), loop)):
        reason = f"neither it nor a loop around it is a reduction of block {step.block!r}"
        raise refusal(step, subject, reason, "split and reorder the reduction, or use cache_write and compute_at")


def _copy(block: BlockOp, copying: BlockOp, cache: Part, *, loads: bool) -> None:
    """Appends to the body of `copying` the load of an element of a result into its cache, or the store from there."""
    places = cache.places(block, copying)
    source, target = places if loads else reversed(places)
    with ImplicitBuilder(copying.body):
        StoreOp(LoadOp(*source).result, *target)
    list_buffers(copying)


LoopCacheInplacePass = primitive_pass(CacheInplace, "block=gemm loop=i_o", EXACT)
