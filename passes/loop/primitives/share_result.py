"""`share_result` and the pass `loop-share-result`: stores a buffer in the result that its last reader writes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import NamedTuple

from xdsl.dialects import func, memref
from xdsl.ir import BlockArgument, SSAValue

from xrelay.dialects.loop import BlockOp, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import extents_of, loop_of_index
from xrelay.dialects.loop.schedule import ShareResult
from xrelay.dialects.shared.attribute_names import IN_PLACE
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.nest_edits import list_buffers, simplified
from xrelay.passes.loop.nest_queries import blocks_inside, only_store, stores_once
from xrelay.passes.loop.primitives.legality import allocation_of, find_block, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(ShareResult)
def share_result(kernel: func.FuncOp, step: ShareResult) -> None:
    """Stores the buffer of `step.block` in the elements of the result that the last reader of the buffer overwrites.

    ```
    loop.for "i" %i to 4 {
      %e = memref.alloc() : memref<5000xf32, "local">
      loop.for "j" %j to 5000 {
        loop.block "exp" (%vj : spatial 5000 = %j) reads(%X) writes(%e) {…}
      loop.for "k" %k to 5000 {
        loop.block "sum" (%vk : reduce 5000 = %k) reads(%e) writes(%s) init {…} {…}
      loop.for "l" %l to 5000 {
        loop.block "scaled" (%vi : spatial 4 = %i, %vl : spatial 5000 = %l) reads(%e, %s) writes(%Y) {
          … loop.load %e[%vl] … loop.store …, %Y[%vi, %vl]
    ```
    becomes with `share_result("exp")`
    ```
    loop.for "i" %i to 4 {
      loop.for "j" %j to 5000 {
        loop.block "exp" (%vj : spatial 5000 = %j) reads(%X) writes(%Y) {…}              // stores %Y[%i, %vj]
      loop.for "k" %k to 5000 {
        loop.block "sum" (%vk : reduce 5000 = %k) reads(%Y) writes(%s) init {…} {…}      // loads %Y[%i, %vk]
      loop.for "l" %l to 5000 {
        loop.block "scaled" (%vi : spatial 4 = %i, %vl : spatial 5000 = %l) reads(%s) writes(%Y) {…}
    ```

    A long row then takes a third less of a cache. Raises `ScheduleError` for a block that writes several buffers or an
    argument of the kernel, and if the last nest that uses the buffer has several blocks. The reader must not reduce or
    have scheduled loops, and must overwrite the elements that it reads, and all of them. Its result must have the type
    of the buffer, be used by no other block, and not be in the buffer of an input.
    """
    block = find_block(kernel, step.block, step)
    alloc = allocation_of(block, step)
    reader = _last_reader(block, alloc, step)
    store = _overwriting(kernel, reader, alloc, step)
    place = _place_in_result(reader, alloc, store, step)
    users = [use.operation for use in alloc.memref.uses]
    for op in users:
        if isinstance(op, LoadOp | StoreOp):
            places = {variable: op.index[d] for variable, d in place.dimensions.items()}
            op.operands[0 if isinstance(op, LoadOp) else 1] = store.memref
            op.index = simplified(place.result.substitute(places))
    for op in dict.fromkeys(op for op in users if isinstance(op, BlockOp)):
        list_buffers(op)
    alloc.detach()
    alloc.erase()


def _last_reader(block: BlockOp, alloc: memref.AllocOp, step: ShareResult) -> BlockOp:
    """The block that reads the buffer of `block` last, in a nest of its own next to the allocation."""
    place = alloc.parent
    assert place is not None, "it is in the kernel"
    nests = {place.find_ancestor_op_in_block(use.operation) for use in alloc.memref.uses}
    last = max((each for each in nests if each is not None), key=place.get_operation_index)
    found = blocks_inside(last)
    if found == [block] or len(found) != 1:
        reason = f"{len(found) if found != [block] else 0} blocks read its buffer in the last nest that uses it"
        raise refusal(step, f"block {step.block!r}", reason, "name a block whose last reader has a nest of its own")
    return found[0]


def _overwriting(kernel: func.FuncOp, reader: BlockOp, alloc: memref.AllocOp, step: ShareResult) -> StoreOp:
    """The only access to a result of the kernel, a store by `reader`; refuses results that other accesses need."""
    subject, stores = f"block {reader.block_name!r}", ops_of(reader.body, StoreOp)
    store = only_store(stores[0].memref) if len(stores) == 1 else None
    if store is None or not isinstance(store.memref, BlockArgument) or store.parent_op() is not reader:
        reason = "it does not store a result of the kernel that no other op uses"
        raise refusal(step, subject, reason, "name a block whose last reader stores a result")
    if IN_PLACE in kernel.attributes:
        reason = "its result may be in the buffer of an input"
        raise refusal(step, subject, reason, "leave out this step")
    types = [memref_type(buffer).element_type for buffer in (alloc.memref, store.memref)]
    if types[0] != types[1]:
        raise refusal(step, subject, f"its result has elements of {types[1]}, not {types[0]}", "leave out this step")
    if not stores_once(reader, store.index):
        reason = "it does not store a result of its own at each point, in one serial loop for each variable"
        raise refusal(step, subject, reason, "use share_result before other primitives on its loops")
    return store


class _Place(NamedTuple):
    """The place of an element of a buffer in the result. A variable stands for each dimension of the buffer."""

    dimensions: Mapping[SSAValue, int]
    result: ValueMap


def _place_in_result(reader: BlockOp, alloc: memref.AllocOp, store: StoreOp, step: ShareResult) -> _Place:
    """Returns where the elements of a buffer are in the result; refuses readers that do not overwrite what they read.

    Each dimension of the buffer must be a variable of the reader, whose loop runs over the whole dimension after the
    buffer is complete. The other variables must belong to loops around the buffer.
    """
    before = set(takewhile(lambda op: op is not store, reader.body.block.ops))
    loads = [op for op in ops_of(reader.body, LoadOp) if op.memref is alloc.memref]
    is_own = before.issuperset(loads) and len({op.index for op in loads}) == 1
    index = loads[0].index if is_own else ValueMap.constant(*(0 for _ in extents_of(alloc.memref)))
    numbers = {variable: k for k, variable in enumerate(reader.variables)}
    # A dimension of one element needs no variable.
    whole = {d: extent for d, extent in enumerate(extents_of(alloc.memref)) if extent != 1}
    dimensions = {v: d for d in whole for v in numbers if index[d] == ValueMap.identity([v])}
    is_whole = {d: reader.extents[numbers[v]] for v, d in dimensions.items()} == whole
    loops = {v: loop_of_index(each) for v, k in numbers.items() for each in reader.bindings[k].operands}
    around = {v: ValueMap.identity([each.index]) for v, each in loops.items() if each and each.is_ancestor(alloc)}
    is_apart = dimensions.keys().isdisjoint(around) and loops.keys() <= dimensions.keys() | around.keys()
    if not (is_own and is_whole and is_apart):
        reason = f"it does not overwrite exactly the elements that block {step.block!r} stores"
        raise refusal(step, f"block {reader.block_name!r}", reason, "use compute_at for its producers first")
    zero = ValueMap.constant(0)
    fixed = {v: around.get(v, zero) for v in numbers if v not in dimensions}
    return _Place(dimensions, simplified(store.index.substitute(fixed)))


LoopShareResultPass = primitive_pass(ShareResult, "block=exp", EXACT)
