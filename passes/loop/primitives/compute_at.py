"""`compute_at` and the pass `loop-compute-at`: moves the nest of a producer into a loop of its consumer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineConstantExpr

from xrelay.dialects.loop import LOCAL, BlockOp, ForOp, IterKind, LoadOp, LoopKind, SchedulePrimitive, StoreOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.extents import exact_interval_of, extents_of, in_loop_indices, interval_of, loop_of_index
from xrelay.dialects.loop.schedule import ComputeAt
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.index_algebra.affine_bounds import Interval, Span, join, span
from xrelay.index_algebra.value_map import Space, join_maps
from xrelay.passes.loop.memory.buffer_size import element_size
from xrelay.passes.loop.nest_edits import alloc_like, difference, nested, simplified, total
from xrelay.passes.loop.nest_queries import blocks_inside, enclosing_loops, is_made_outside, nest_root
from xrelay.passes.loop.primitives.legality import common_positions, find_block, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites

LOCAL_BYTES = 256 * 1024
"""A tile up to this size gets the memory space `"local"`, which lowers to registers and the stack.

Larger tiles, and tiles whose size is a value, stay on the heap.
"""


@rewrites(ComputeAt)
def compute_at(kernel: func.FuncOp, step: ComputeAt) -> None:
    """Moves the nest of `step.block` into `step.loop`, before the consumers there.

    ```
    %t = memref.alloc() : memref<56x16xf32>
    loop.for "cw" %cw to 56 {
      loop.for "cc" %cc to 16 {
        loop.for "k" %k to 64 {
          loop.block "conv" (%vw : spatial 56 = %cw, %vc : spatial 16 = %cc, %vk : reduce 64 = %k) … writes(%t) …
    loop.for "w_o" %w_o to 4 {
      loop.for "w_i" %w_i to 14 {
        loop.for "c" %c to 16 {
          loop.block "relu" (%vw : spatial 56 = %w_o * 14 + %w_i, %vc : spatial 16 = %c) reads(%t) writes(%Y) …
    ```
    becomes with `compute_at("conv", "w_o")`
    ```
    loop.for "w_o" %w_o to 4 {
      %t = memref.alloc() : memref<14x16xf32, "local">
      loop.for "cw" %cw to 14 {
        loop.for "cc" %cc to 16 {
          loop.for "k" %k to 64 {
            loop.block "conv" (%vw : spatial 56 = %w_o * 14 + %cw, …) … writes(%t) …  // stores %t[%vw - %w_o * 14, %vc]
      loop.for "w_i" %w_i to 14 {
        loop.for "c" %c to 16 {
          loop.block "relu" (…) reads(%t) writes(%Y) …                                // loads  %t[%vw - %w_o * 14, %vc]
    ```

    The tile is the part that the consumers read while the loops inside `step.loop` run, computed by affine bounds.
    Loops of the producer keep their names and order, also those with one remaining iteration; dimensions of the buffer
    with one element are removed. A block with several results moves as a whole; unread results get the same tile.
    Raises `ScheduleError` for a block whose result is an argument of the kernel or is read outside the loop; whose
    results are not read, or are read in different tiles; whose spatial loops have been split or fused; or whose nest
    has other blocks.
    """
    block, loop = find_block(kernel, step.block, step), find_loop(kernel, step.loop, step)
    buffers = list(block.writes)
    allocs, root = _check_place(kernel, block, loop, step)
    positions = common_positions(block, buffers, step)
    own_loops = _check_loops(block, root, step)
    region = _common_region(loop, block, step)
    body = loop.body.block
    readers = [r for r in blocks_inside(loop) if any(buffer in (*r.reads, *r.writes) for buffer in buffers)]
    anchor = next(op for op in body.ops if any(op is reader or op.is_ancestor(reader) for reader in readers))
    nest = _tile_nest(block, own_loops, positions, region)
    tiles = [tile_alloc(alloc, region) for alloc in allocs]
    body.insert_ops_before(tiles, body.first_op if body.first_op is not None else anchor)
    body.insert_op_before(nest, anchor)
    if root is not block:  # a block without loops is detached already
        root.detach()
        root.erase()
    for alloc, tile in zip(allocs, tiles, strict=True):
        redirect(alloc.memref, tile.memref, region)
        alloc.detach()
        alloc.erase()


def _common_region(loop: ForOp, block: BlockOp, step: ComputeAt) -> TileRegion:
    """The part of the results of `block` that one iteration of `loop` reads, which must be the same for all results."""
    read = [buffer for buffer in block.writes if any(buffer in reader.reads for reader in blocks_inside(loop))]
    regions = [tile_region(loop, block, buffer, step) for buffer in read]
    if any(region != regions[0] for region in regions):
        reason = f"the loop {step.loop!r} reads different parts of its results"
        raise refusal(step, f"block {step.block!r}", reason, "do not move it")
    return regions[0]


def _check_place(
    kernel: func.FuncOp, block: BlockOp, loop: ForOp, step: ComputeAt
) -> tuple[list[memref.AllocOp], Operation]:
    """Returns the allocations and the root of the producer; raises `ScheduleError` if it cannot be moved."""
    subject = f"block {step.block!r}"
    owners = [buffer.op for buffer in block.writes if isinstance(buffer, OpResult)]
    allocs = [op for op in owners if isinstance(op, memref.AllocOp)]
    if len(allocs) < len(block.writes):
        raise refusal(step, subject, "it writes an argument of the kernel", "use cache_write first")
    if loop.is_ancestor(block):
        raise refusal(step, subject, f"loop {step.loop!r} is around it already", "name a loop of its consumer")
    root = nest_root(block)
    place = root.parent_block()
    target = None if place is None else place.find_ancestor_op_in_block(loop)
    if target is None or not root.is_before_in_block(target):
        reason = f"its nest has other blocks, or is not before loop {step.loop!r}"
        raise refusal(step, subject, reason, "apply compute_at to the consumer first, and to its producers afterwards")
    if loop.kind is LoopKind.VECTORIZED:
        raise refusal(step, subject, f"loop {step.loop!r} is vectorized", "name a loop around it")
    _check_users(block, loop, root, step)
    return allocs, root


def _check_users(block: BlockOp, loop: ForOp, root: Operation, step: ComputeAt) -> None:
    subject, written = f"block {step.block!r}", set(block.writes)
    readers = [use.operation for buffer in block.writes for use in buffer.uses if not block.is_ancestor(use.operation)]
    readers = [reader for reader in readers if reader is not block]
    if not readers:
        raise refusal(step, subject, "nothing reads its result", "remove it, or name another block")
    for reader in readers:
        if not loop.is_ancestor(reader):
            name = reader.block_name if isinstance(reader, BlockOp) else reader.name
            raise refusal(
                step, subject, f"{name!r} reads its result outside loop {step.loop!r}", "name a loop further out"
            )
        if not isinstance(reader, BlockOp | LoadOp) or (
            isinstance(reader, BlockOp) and not written.isdisjoint(reader.writes)
        ):
            raise refusal(step, subject, f"'{reader.name}' uses its buffer", "only blocks may use it, and only read it")
    inputs = set(block.reads)
    following = root.next_op
    while following is not None:
        for other in blocks_inside(following):
            if not inputs.isdisjoint(other.writes):
                reason = f"the later block {other.block_name!r} overwrites a buffer that it reads"
                raise refusal(step, subject, reason, "do not move it")
        following = following.next_op


def _check_loops(block: BlockOp, root: Operation, step: ComputeAt) -> list[ForOp]:
    """The producer's own loops, outermost first; each is a reduction or the only loop of one spatial variable."""
    subject = f"block {step.block!r}"
    loops = [loop for loop in enclosing_loops(block) if loop is root or root.is_ancestor(loop)]
    bindings, extents, own = block.bindings, block.extents, {loop.index for loop in loops}
    for k in block.spatial:
        binding = bindings[k]
        whole = binding == ValueMap.identity(binding.operands) and binding.operands[0] in own
        if not whole and not (binding == ValueMap.constant(0) and extents[k] == 1):
            reason = f"spatial variable {k} is not bound to one loop of its own"
            raise refusal(step, subject, reason, "use compute_at before splitting or fusing its loops")
    variables, all_kinds = _variables_of_indices(block), block.kinds
    for loop in loops:
        users = variables.get(loop.index, [])
        kinds = {all_kinds[k] for k in users}
        if len(kinds) > 1 or (IterKind.SPATIAL in kinds and len(users) > 1) or (not users and loop.extent != 1):
            reason = f"loop {loop.loop_name!r} does not belong to one variable"
            raise refusal(step, subject, reason, "use compute_at before splitting or fusing its loops")
        spatial = IterKind.SPATIAL in kinds
        if spatial and (loop.kind is LoopKind.PARALLEL or loop.bound != extents[users[0]]):
            reason = f"loop {loop.loop_name!r} is parallel, or does not run over its variable's whole domain"
            raise refusal(step, subject, reason, "use compute_at before scheduling its loops")
    return loops


def _variables_of_indices(block: BlockOp) -> dict[SSAValue, list[int]]:
    """The positions of the variables of a block that depend on each loop index, in order."""
    bindings, found = block.bindings, dict[SSAValue, list[int]]()
    for position in range(len(bindings)):
        for index in bindings[position].operands:
            found.setdefault(index, []).append(position)
    return found


def _tile_nest(block: BlockOp, own_loops: list[ForOp], positions: list[int | None], region: TileRegion) -> Operation:
    """Builds the producer's nest with spatial loops over the tile; moves the block out of its old nest."""
    dimension_of = {position: d for d, position in enumerate(positions) if position is not None}
    bindings, variables, kinds = block.bindings, _variables_of_indices(block), block.kinds
    replaced: dict[SSAValue, ValueMap] = {}
    nest: list[ForOp] = []
    for old in own_loops:
        spatial = [k for k in variables.get(old.index, ()) if kinds[k] is IterKind.SPATIAL]
        dimension = dimension_of.get(spatial[0]) if spatial else None
        base = None if dimension is None else region.bases[dimension]
        extent = old.bound if dimension is None else region.extents[dimension]
        new = ForOp(old.loop_name, extent, kind=old.kind, tail=old.tail, no_unroll=old.no_unroll)
        new.index.name_hint = old.index.name_hint
        index = ValueMap.identity((new.index,))
        replaced[old.index] = index if base is None else base if extent == 1 else total(base, index)
        nest.append(new)
    block.detach()
    block.bindings = simplified(bindings.substitute(replaced))
    return nested(nest, block)


def tile_alloc(alloc: memref.AllocOp, region: TileRegion) -> memref.AllocOp:
    """Allocates a buffer for a part of the buffer of `alloc`; a small one is local."""
    old = memref_type(alloc.memref)
    shape = [region.extents[d] for d in region.kept]
    count = prod(extent for extent in shape if isinstance(extent, int))
    small = (
        all(isinstance(extent, int) for extent in shape)
        and count * (element_size(old.element_type) or 8) <= LOCAL_BYTES
    )
    space = StringAttr(LOCAL) if small else old.memory_space
    tile = alloc_like(buffer_type(old.element_type, [], space=space), shape)
    tile.memref.name_hint = alloc.memref.name_hint
    return tile


def redirect(buffer: SSAValue, tile: SSAValue, region: TileRegion) -> None:
    """Redirects every access of `buffer` to the tile, with indices relative to its base."""
    for op in [use.operation for use in buffer.uses]:
        if isinstance(op, LoadOp | StoreOp):
            op.operands[0 if isinstance(op, LoadOp) else 1] = tile
            op.index = region.relative(op.index)
        elif isinstance(op, BlockOp):
            reads = [tile if value is buffer else value for value in op.reads]
            op.set_buffers(reads, [tile if value is buffer else value for value in op.writes])


LoopComputeAtPass = primitive_pass(ComputeAt, "block=conv loop=w_o")


@dataclass(frozen=True)
class TileRegion:
    """A box in a buffer: in dimension `d` the elements `bases[d]` to `bases[d] + extents[d] - 1`."""

    bases: tuple[ValueMap, ...]
    """One expression each, over indices of loops outside the tile."""

    extents: tuple[Extent, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        """The dimensions of a buffer for the box: those with more than one element."""
        return tuple(d for d, extent in enumerate(self.extents) if extent != 1)

    def relative(self, index: ValueMap) -> ValueMap:
        """The index in the buffer for the box, from an index in the whole buffer."""
        kept = [difference(index[d], self.bases[d]) for d in self.kept]
        return join_maps(kept) if kept else ValueMap((), ())


def tile_region(loop: ForOp, producer: BlockOp, buffer: SSAValue, step: SchedulePrimitive) -> TileRegion:
    """The smallest box that contains every element of `buffer` read in one iteration of `loop`, as of `accessed`."""
    loads = [op for op in ops_of(loop.body, LoadOp) if op.memref is buffer and not producer.is_ancestor(op)]
    return accessed(loads, loop, producer, buffer, step)


def accessed(
    accesses: Sequence[LoadOp | StoreOp], loop: ForOp, block: BlockOp, buffer: SSAValue, step: SchedulePrimitive
) -> TileRegion:
    """The smallest box that contains every element of `buffer` that `accesses` use in one iteration of `loop`.

    The box contains a whole dimension if its accesses are not affine, or if their bases differ by more than a constant.
    Raises `ScheduleError` if the size of such a dimension is unknown. `block` is named in the error.
    """
    shape = memref_type(buffer).get_shape()
    space = Space()
    spans: list[list[Span | None]] = [[] for _ in shape]
    for op in accesses:
        for dimension, found in enumerate(_spans(op, loop, space)):
            spans[dimension].append(found)
    boxes = [_common_span(found, shape[d]) for d, found in enumerate(spans)]
    extents = [whole if box.extent < 0 else box.extent for box, whole in zip(boxes, extents_of(buffer), strict=True)]
    known = tuple(extent for extent in extents if extent is not None)
    if len(known) < len(extents):
        dimension = extents.index(None)
        reason = f"the accesses of dimension {dimension} have no bounds, and its size is unknown"
        raise refusal(step, f"block {block.block_name!r}", reason, "split its readers, or do not move it")
    return TileRegion(tuple(ValueMap.make([box.base], space.values) for box in boxes), known)


def _spans(op: LoadOp | StoreOp, loop: ForOp, space: Space) -> list[Span | None]:
    """Returns the span that an access uses in each dimension; `None` if unknown."""
    index = in_loop_indices(op.index)
    exprs = space.lift(index)
    inner: dict[int, Interval] = {}
    unknown: set[int] = set()
    for value in index.operands:
        position = space.position(value)
        owner = loop_of_index(value)
        interval = exact_interval_of(value)
        if is_made_outside(value) or (owner is not None and (owner is loop or owner.is_ancestor(loop))):
            continue
        if interval is None:
            unknown.add(position)
        else:
            inner[position] = interval
    box = [interval_of(value) for value in space.values]
    return [None if unknown & expr.used_dims() else span(expr, inner, box) for expr in exprs]


def _common_span(found: list[Span | None], size: int) -> Span:
    """Returns one span that contains all; the whole dimension, if they cannot be joined or contain every element."""
    whole = Span(AffineConstantExpr(0), size)
    result: Span | None = None
    for position, part in enumerate(found):
        result = part if position == 0 else None if result is None or part is None else join(result, part)
        if result is None:
            return whole
    return whole if result is None or 0 <= size <= result.extent else result
