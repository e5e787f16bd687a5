"""`reverse_compute_at` and the pass `loop-reverse-compute-at`: moves a consumer into a loop of its producer."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import func, memref
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, IterKind, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.schedule import ReverseComputeAt
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.index_algebra.value_map import join_maps
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.nest_edits import Names, known_extents, nested, prepend, simplified
from xrelay.passes.loop.nest_queries import (
    blocks_inside,
    enclosing_loops,
    is_spatial_in,
    nest_root,
    reduces_over,
    runs_everywhere,
    structure_of,
)
from xrelay.passes.loop.primitives.accumulators import around_tile
from xrelay.passes.loop.primitives.compute_at import accessed, redirect, tile_alloc
from xrelay.passes.loop.primitives.legality import common_positions, find_block, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(ReverseComputeAt)
def reverse_compute_at(kernel: func.FuncOp, step: ReverseComputeAt) -> None:
    """Moves the nest of `step.block` into `step.loop`, after its producer there.

    ```
    %t = memref.alloc() : memref<56x16xf32>
    loop.for "w_o" %wo to 4 {
      loop.for "k" %k to 64 {
        loop.for "w_i" %wi to 14 {
          loop.block "sum" (%vw : spatial 56 = %wo * 14 + %wi, %vk : reduce 64 = %k) … writes(%t) …
    loop.for "w" %w to 56 {
      loop.for "c" %c to 16 {
        loop.block "scale" (%vw : spatial 56 = %w, %vc : spatial 16 = %c) reads(%t, %X) writes(%Y) …
    ```
    becomes with `reverse_compute_at("scale", "w_o")`
    ```
    loop.for "w_o" %wo to 4 {
      %t = memref.alloc() : memref<14xf32, "local">
      loop.for "k" %k to 64 {
        loop.for "w_i" %wi to 14 {
          loop.block "sum" (%vw : spatial 56 = %wo * 14 + %wi, %vk : reduce 64 = %k) … writes(%t) …
      loop.for "w_i_scale" %w to 14 {
        loop.for "c" %c to 16 {
          loop.block "scale" (%vw : spatial 56 = %wo * 14 + %w, %vc : spatial 16 = %c) reads(%t, %X) writes(%Y) …
    ```

    Unlike with `compute_at`, the loops of the producer may be split and ordered already. The consumer has a serial copy
    of each loop of the producer inside `step.loop`, named `<loop>_<block>`, and then its loops over variables that are
    not indices of the producer's result. A result with no other user shrinks to a tile. Raises `ScheduleError` if the
    producer's reduction is incomplete at the end of `step.loop`; if the consumer reduces, shares its nest, or has
    scheduled loops; if it reads results of several blocks of the nest, at other indices than its variables, or elements
    that the producer does not compute; and if another block between the two uses the consumer's results or writes its
    operands.
    """
    consumer, loop = find_block(kernel, step.block, step), find_loop(kernel, step.loop, step)
    root = _check_consumer(kernel, consumer, step)
    producer = _producer(consumer, loop, step)
    _check_order(kernel, (producer, consumer), (loop, root), step)
    tile = _check_loops(producer, loop, step)
    points = _points(producer, consumer, step)
    names, own = Names(kernel), _take(consumer, points)
    bindings = [producer.bindings[points[k]] if k in points else each for k, each in enumerate(_each(consumer))]
    consumer.bindings = simplified(join_maps(bindings)) if bindings else consumer.bindings
    nest = around_tile(tile, nested(own, consumer), step.block, names)
    for each in (nest, *structure_of(nest)):
        if isinstance(each, ForOp):
            each.kind = LoopKind.SERIAL
    anchor = loop.body.block.find_ancestor_op_in_block(producer)
    assert anchor is not None, "the producer is in the loop"
    loop.body.block.insert_op_after(nest, anchor)
    _allocate_before(kernel, consumer, loop)
    for result in producer.writes:
        _shrink(result, producer, loop, step)


def _check_consumer(kernel: func.FuncOp, consumer: BlockOp, step: ReverseComputeAt) -> Operation:
    """Returns the outermost op of the consumer's nest; refuses reductions and scheduled nests."""
    subject, root = f"block {step.block!r}", nest_root(consumer)
    if any(kind is not IterKind.SPATIAL for kind in consumer.kinds):
        raise refusal(step, subject, "it reduces", "use compute_at for its producer")
    if root.parent_op() is not kernel:
        raise refusal(step, subject, "it shares its nest with other blocks", "name a block with a nest of its own")
    kinds = {each.kind for each in enclosing_loops(consumer)}
    if not runs_everywhere(consumer) or kinds - {LoopKind.SERIAL}:
        reason = "its loops are not one serial loop for each variable"
        raise refusal(step, subject, reason, "use reverse_compute_at before other primitives on its loops")
    return root


def _producer(consumer: BlockOp, loop: ForOp, step: ReverseComputeAt) -> BlockOp:
    """The only block in `loop` whose result the consumer reads."""
    found = [block for block in blocks_inside(loop) if not set(block.writes).isdisjoint(consumer.reads)]
    if len(found) != 1:
        reason = f"it reads results of {len(found)} blocks in loop {step.loop!r}"
        raise refusal(step, f"block {step.block!r}", reason, "name a loop around its only producer")
    return found[0]


def _check_order(
    kernel: func.FuncOp, pair: tuple[BlockOp, BlockOp], places: tuple[ForOp, Operation], step: ReverseComputeAt
) -> None:
    """Refuses other blocks from the nest of the producer to the consumer that depend on their order."""
    producer, consumer = pair
    loop, root = places
    body = kernel.body.block
    first = body.find_ancestor_op_in_block(loop)
    subject, advice = f"block {step.block!r}", "leave it where it is"
    if first is None or not first.is_before_in_block(root):
        raise refusal(step, subject, f"it is not after loop {step.loop!r}", "name a loop of its producer")
    used, written = {*consumer.reads, *consumer.writes}, set(consumer.writes)
    if not written.isdisjoint([*producer.reads, *producer.writes, *consumer.reads]):
        raise refusal(step, subject, f"block {producer.block_name!r} uses its result", advice)
    between: Operation | None = first
    while between is not None and between is not root:
        for other in blocks_inside(between):
            if other is producer:
                continue
            if not used.isdisjoint(other.writes) or not written.isdisjoint(other.reads):
                reason = f"block {other.block_name!r}, before it, uses its result or writes its operand"
                raise refusal(step, subject, reason, advice)
        between = between.next_op


def _check_loops(producer: BlockOp, loop: ForOp, step: ReverseComputeAt) -> list[ForOp]:
    """Returns the loops of a tile; refuses loops at whose end the tile of the producer is not complete."""
    around = enclosing_loops(producer)
    position = around.index(loop) + 1
    name = f"block {producer.block_name!r}"
    for each in around:
        subject = f"loop {each.loop_name!r}"
        if each.kind in (LoopKind.VECTORIZED, LoopKind.CONTRACTED) and around.index(each) < position:
            raise refusal(step, subject, f"it is {each.kind}", "name a loop around it")
        if reduces_over(producer, each) and (around.index(each) < position or is_spatial_in(producer, each)):
            reason = f"{name} reduces over it, so the tile is not complete in {step.loop!r}"
            raise refusal(step, subject, reason, "name a loop around the reduction")
        if around.index(each) < position and not is_spatial_in(producer, each) and each.extent != 1:
            raise refusal(step, subject, f"{name} does not depend on it", "name a loop around it")
    return [each for each in around[position:] if is_spatial_in(producer, each)]


def _points(producer: BlockOp, consumer: BlockOp, step: ReverseComputeAt) -> dict[int, int]:
    """Maps variables of the consumer to those of the producer that are the same index of the result."""
    subject = f"block {step.block!r}"
    results = [result for result in producer.writes if result in consumer.reads]
    stored = common_positions(producer, results, step)
    points: dict[int, int] = {}
    for load in (op for op in ops_of(consumer, LoadOp) if op.memref in results):
        for dimension, position in enumerate(stored):
            index = load.index[dimension]
            if position is None or producer.extents[position] == 1:
                continue
            known = [k for k, variable in enumerate(consumer.variables) if index == ValueMap.identity([variable])]
            if not known or points.setdefault(known[0], position) != position:
                reason = f"it reads the result of block {producer.block_name!r} at another index than its variables"
                raise refusal(step, subject, reason, "use compute_at for the producer")
            if not _covers(producer.extents[position], consumer.extents[known[0]]):
                reason = f"block {producer.block_name!r} may not compute all elements that it reads"
                raise refusal(step, subject, reason, "use compute_at for the producer")
    needed = {position for position in producer.spatial if producer.extents[position] != 1}
    if set(points.values()) != needed or len(points) != len(needed):
        reason = f"an element of the result of block {producer.block_name!r} is not one point of it"
        raise refusal(step, subject, reason, "use compute_at for the producer")
    return points


def _covers(whole: Extent, part: Extent) -> bool:
    """Whether a variable with the extent `whole` has all values of one with the extent `part`."""
    if isinstance(whole, int) and isinstance(part, int):
        return DYNAMIC not in (whole, part) and whole >= part
    return whole is part


def _each(block: BlockOp) -> list[ValueMap]:
    """The binding of each variable."""
    bindings = block.bindings
    return [bindings[position] for position in range(len(block.kinds))]


def _take(consumer: BlockOp, points: Mapping[int, int]) -> list[ForOp]:
    """Detaches the consumer from its loops; returns the loops of its variables that are not in `points`."""
    bindings = _each(consumer)
    loops = enclosing_loops(consumer)
    replaced = {value for position in points for value in bindings[position].operands}
    consumer.detach()
    for each in reversed(loops):
        each.detach()
    return [each for each in loops if each.index not in replaced]


def _allocate_before(kernel: func.FuncOp, consumer: BlockOp, loop: ForOp) -> None:
    """Moves the allocations of the consumer's buffers before the nest of its producer."""
    body = kernel.body.block
    first = body.find_ancestor_op_in_block(loop)
    assert first is not None, "the loop is in the kernel"
    for buffer in (*consumer.reads, *consumer.writes):
        alloc = buffer.owner
        if isinstance(alloc, memref.AllocOp) and alloc.parent is body and not alloc.is_before_in_block(first):
            alloc.detach()
            body.insert_op_before(alloc, first)


def _shrink(result: SSAValue, producer: BlockOp, loop: ForOp, step: ReverseComputeAt) -> None:
    """Replaces a buffer that only blocks in `loop` use by a buffer for a tile."""
    alloc = result.owner
    inside = all(loop.is_ancestor(use.operation) for use in result.uses)
    if not isinstance(alloc, memref.AllocOp) or not inside or known_extents(result) is None:
        return
    stores = [op for op in ops_of(producer.body, StoreOp) if op.memref is result]
    region = accessed(stores, loop, producer, result, step)
    tile = tile_alloc(alloc, region)
    prepend(loop.body.block, [tile])
    redirect(result, tile.memref, region)
    alloc.detach()
    alloc.erase()


LoopReverseComputeAtPass = primitive_pass(ReverseComputeAt, "block=scale loop=w_o", EXACT)
