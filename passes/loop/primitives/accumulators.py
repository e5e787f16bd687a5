"""Accumulators: the results that a block updates with an associative operation, and the loops over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Final

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, SchedulePrimitive, StoreOp
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.topi.shapes import bit_width
from xrelay.passes.loop.decompose_init import copy_around
from xrelay.passes.loop.nest_edits import Names
from xrelay.passes.loop.nest_queries import blocks_inside, enclosing_loops, is_spatial_in, reduces_over
from xrelay.passes.loop.primitives.compute_at import LOCAL_BYTES
from xrelay.passes.loop.primitives.legality import refusal


@dataclass(frozen=True)
class Update:
    """A result that a block updates: `result = result ∘ term` with an associative and commutative operation."""

    element: AnyFloat | IntegerType
    load: LoadOp
    combine: Operation
    store: StoreOp

    def combined(self, left: SSAValue, right: SSAValue) -> Operation:
        """Creates the operation on two values, with the same flags."""
        properties = dict(self.combine.properties)
        return type(self.combine).create(operands=[left, right], result_types=[self.element], properties=properties)

    def neutral(self) -> arith.ConstantOp:
        """Creates the element that changes no other one."""
        value = _NEUTRAL[type(self.combine)]
        if isinstance(self.element, IntegerType):
            number = int(value(self.element.width.data))
            return arith.ConstantOp(IntegerAttr(number, self.element, truncate_bits=True))
        return arith.ConstantOp(FloatAttr(value(0), self.element))


_NEUTRAL: Final[dict[type[Operation], Callable[[int], float]]] = {
    arith.AddfOp: lambda _: 0.0,
    arith.MulfOp: lambda _: 1.0,
    arith.MaximumfOp: lambda _: -inf,
    arith.MinimumfOp: lambda _: inf,
    arith.AddiOp: lambda _: 0,
    arith.MuliOp: lambda _: 1,
    arith.MaxSIOp: lambda bits: -(1 << (bits - 1)),
    arith.MinSIOp: lambda bits: (1 << (bits - 1)) - 1,
    arith.MaxUIOp: lambda _: 0,
    arith.MinUIOp: lambda bits: (1 << bits) - 1,
    arith.AndIOp: lambda bits: (1 << bits) - 1,
    arith.OrIOp: lambda _: 0,
    arith.XOrIOp: lambda _: 0,
}
"""The neutral element of each operation, given the number of bits of an integer."""


def updates_of(block: BlockOp) -> list[Update] | None:
    """The results that a block updates; None if it computes anything else."""
    found = [_update_of(block, store) for store in ops_of(block.body, StoreOp)]
    updates = [each for each in found if each is not None]
    distinct = {each.store.memref for each in updates}
    return updates if len(distinct) == len(found) and distinct == set(block.writes) else None


def _update_of(block: BlockOp, store: StoreOp) -> Update | None:
    """The update by `store`; None if the stored value is not the old value combined with a term."""
    combine = store.value.owner
    if not isinstance(combine, Operation) or type(combine) not in _NEUTRAL:
        return None
    loads = [op for op in ops_of(block.body, LoadOp) if op.memref is store.memref]
    in_body = combine.parent_block() is block.body.block and store.parent_block() is block.body.block
    if not in_body or len(loads) != 1 or loads[0].index != store.index:
        return None
    users, element = [use.operation for use in loads[0].result.uses], store.value.type
    if users != [combine] or not isinstance(element, AnyFloat | IntegerType):
        return None
    return Update(element, loads[0], combine, store)


def loops_of_results(block: BlockOp, loop: ForOp, results: Sequence[SSAValue], step: SchedulePrimitive) -> list[ForOp]:
    """The loops in `loop` that iterate over different elements of `results`, which `block` updates.

    Refuses loops that elements and terms share, dynamic extents, more than `LOCAL_BYTES` of accumulators, and results
    that another block in `loop` uses.
    """
    subject = f"block {block.block_name!r}"
    for other in blocks_inside(loop):
        if other is not block and not set(results).isdisjoint([*other.reads, *other.writes]):
            reason = f"block {other.block_name!r} in loop {loop.loop_name!r} uses its result"
            raise refusal(step, subject, reason, "move that block out of the loop")
    around = enclosing_loops(block)
    tile = [inner for inner in around[around.index(loop) + 1 :] if is_spatial_in(block, inner)]
    for inner in tile:
        if reduces_over(block, inner) or inner.extent is None:
            shared = "spatial and reduce variables use it"
            reason = shared if reduces_over(block, inner) else "its extent is known only at run time"
            raise refusal(step, f"loop {inner.loop_name!r}", reason, "split it, and move it out of the reduction")
    count = prod(inner.extent or 0 for inner in tile)
    size = count * sum(bit_width(SSAValue.get(each, type=MemRefType).type.element_type) // 8 for each in results)
    if size > LOCAL_BYTES:
        reason = f"its accumulators take {size} bytes, more than {LOCAL_BYTES}"
        raise refusal(step, subject, reason, "move loops of its result out of the reduction")
    return tile


def around_tile(tile: Sequence[ForOp], inner: Operation, suffix: str, names: Names) -> Operation:
    """Wraps `inner` in copies of the loops of `tile`."""
    nest = inner
    for loop in reversed(tile):
        nest = copy_around(loop, nest, names, suffix)
    return nest
