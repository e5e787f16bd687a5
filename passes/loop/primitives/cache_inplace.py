"""`cache_inplace` and the pass `loop-cache-inplace`: a block updates its results in a local buffer for each tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Operation, Region, SSAValue

from xrelay.dialects.loop import LOCAL, BlockOp, ForOp, IterVar, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.schedule import CacheInplace
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.index_algebra.linear_form import LinearForm
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.decompose_init import take_init
from xrelay.passes.loop.memory.buffer_size import element_size
from xrelay.passes.loop.nest_edits import Names, list_buffers, prepend, simplified
from xrelay.passes.loop.nest_queries import domain_conditions, enclosing_loops, linear_in, reduces_over
from xrelay.passes.loop.primitives.accumulators import around_tile, loops_of_results
from xrelay.passes.loop.primitives.compute_at import LOCAL_BYTES, TileRegion, accessed
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
    caches = [_cache(block, result, loop, step) for result in results]
    _check_start(block, loop, step)
    names, variables = Names(kernel), _variables(block, loop)
    init = take_init(block) if block.has_init else None
    load = _copying(names.block(f"{block.block_name}_load"), block, variables, init)
    store = _copying(names.block(f"{block.block_name}_store"), block, variables, None)
    for cache in caches:
        _copy(block, load, cache, loads=True)
        _copy(block, store, cache, loads=False)
        for access in cache.accesses:
            access.operands[0 if isinstance(access, LoadOp) else 1] = cache.alloc.memref
            access.index = cache.region.relative(access.index)
    list_buffers(block)
    place = loop.body.block
    anchor = place.find_ancestor_op_in_block(block)
    assert anchor is not None, "the block is in the loop"
    place.insert_op_before(around_tile(tile, load, "load", names), anchor)
    place.insert_op_after(around_tile(tile, store, "store", names), anchor)
    prepend(place, [cache.alloc for cache in caches])


class _Cache(NamedTuple):
    """A result of a block, the accesses of the block to it, their only index, and the buffer for a part of it."""

    result: SSAValue
    accesses: list[LoadOp | StoreOp]
    place: ValueMap
    region: TileRegion
    alloc: memref.AllocOp


def _cache(block: BlockOp, result: SSAValue, loop: ForOp, step: CacheInplace) -> _Cache:
    """Describes the part of a result that one iteration of `loop` updates; refuses results without such a part."""
    subject = f"block {step.block!r}"
    accesses = [op for op in ops_of(block.body, LoadOp, StoreOp) if op.memref is result]
    if any(access.index != accesses[0].index for access in accesses):
        raise refusal(step, subject, "it accesses its result at several indices", "name a block that updates elements")
    if not accesses or not _is_place(block, accesses[0].index, loop):
        raise refusal(step, subject, "it does not update elements at its variables", "name a block that does")
    region = accessed(accesses[:1], loop, block, result, step)
    shape = [region.extents[dimension] for dimension in region.kept]
    sizes = [extent for extent in shape if isinstance(extent, int)]
    element = SSAValue.get(result, type=MemRefType).type.element_type
    if len(sizes) < len(shape) or prod(sizes) * (element_size(element) or 8) > LOCAL_BYTES:
        reason = f"one iteration of loop {step.loop!r} updates too large a part of its result"
        raise refusal(step, subject, reason, "split the loops of its result")
    alloc = memref.AllocOp([], [], buffer_type(element, sizes, space=StringAttr(LOCAL)))
    alloc.memref.name_hint = f"{step.block}_cache"
    return _Cache(result, accesses, accesses[0].index, region, alloc)


def _is_place(block: BlockOp, index: ValueMap, loop: ForOp) -> bool:
    """Whether an index depends on spatial variables alone, and on indices that are fixed in an iteration of `loop`."""
    spatial = {block.variables[position] for position in block.spatial}
    for value in index.operands:
        owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        if value not in spatial and (owner is None or (owner is not loop and loop.is_ancestor(owner))):
            return False
    return True


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


def _depends(rest: LinearForm, binding: ValueMap, value: SSAValue) -> bool:
    """Whether the terms beside the multiple of `value` depend on it."""
    position = binding.operands.index(value)
    return any(position in atom.used_dims() for atom, _ in rest.terms)


def _check_start(block: BlockOp, loop: ForOp, step: CacheInplace) -> None:
    """Refuses terms of a tile whose first one may be outside of the block's domain although others are inside."""
    inside = [each.index for each in enclosing_loops(block) if loop.is_ancestor(each) and reduces_over(block, each)]
    for binding, _ in domain_conditions(block):
        for index in (value for value in inside if value in binding.operands and value is not loop.index):
            amount, rest = linear_in(binding, index)
            if amount <= 0 or _depends(rest, binding, index):
                reason = f"the first term in loop {step.loop!r} may be outside of its domain"
                raise refusal(step, f"block {step.block!r}", reason, "split the reduction by a divisor of its extent")


def _variables(block: BlockOp, loop: ForOp) -> list[IterVar]:
    """The variables of blocks that run once for each tile: the reduction loops inside `loop` are at their start."""
    inside = [each for each in enclosing_loops(block) if loop.is_ancestor(each) and each is not loop]
    first = {each.index: ValueMap.constant(0) for each in inside if reduces_over(block, each)}
    return [replace(var, binding=simplified(var.binding.substitute(first))) for var in block.iter_vars()]


def _copying(name: str, block: BlockOp, variables: Sequence[IterVar], init: Region | None) -> BlockOp:
    """Creates a block at the points of `block` with an empty body; `_copy` adds the copies of elements."""
    copying = BlockOp(name, variables, [], [], init=init)
    copying.location = block.location
    return copying


def _copy(block: BlockOp, copying: BlockOp, cache: _Cache, *, loads: bool) -> None:
    """Appends to the body of `copying` the load of an element of a result into its cache, or the store from there."""
    renamed = zip(block.variables, copying.variables, strict=True)
    index = cache.place.substitute({old: ValueMap.identity([new]) for old, new in renamed})
    places = [(cache.result, index), (cache.alloc.memref, cache.region.relative(index))]
    source, target = places if loads else reversed(places)
    with ImplicitBuilder(copying.body):
        StoreOp(LoadOp(*source).result, *target)
    list_buffers(copying)


LoopCacheInplacePass = primitive_pass(CacheInplace, "block=gemm loop=i_o", EXACT)
