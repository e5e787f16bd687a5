"""Accumulators: results that a block updates, and local buffers for the part of them that a loop iteration updates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from typing import Final, NamedTuple

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Operation, Region, SSAValue

from xrelay.dialects.loop import LOCAL, BlockOp, ForOp, IterVar, LoadOp, SchedulePrimitive, StoreOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.topi.shapes import bit_width
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.index_algebra.linear_form import LinearForm
from xrelay.passes.loop.decompose_init import copy_around
from xrelay.passes.loop.memory.buffer_size import element_size
from xrelay.passes.loop.nest_edits import Names, simplified
from xrelay.passes.loop.nest_queries import (
    blocks_inside,
    domain_conditions,
    enclosing_loops,
    is_spatial_in,
    linear_in,
    reduces_over,
)
from xrelay.passes.loop.primitives.compute_at import LOCAL_BYTES, TileRegion, accessed
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
    size = count * sum(bit_width(memref_type(each).element_type) // 8 for each in results)
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


class Part(NamedTuple):
    """A result of a block, the accesses of the block to it, their only index, and the buffer for a part of it."""

    result: SSAValue
    accesses: list[LoadOp | StoreOp]
    place: ValueMap
    region: TileRegion
    alloc: memref.AllocOp

    def redirect(self) -> None:
        """Makes the block access the buffer for the part."""
        for access in self.accesses:
            access.operands[0 if isinstance(access, LoadOp) else 1] = self.alloc.memref
            access.index = self.region.relative(access.index)

    def places(self, block: BlockOp, other: BlockOp) -> list[tuple[SSAValue, ValueMap]]:
        """The element of the result and that of the buffer, at the variables of `other`, which are those of `block`."""
        renamed = zip(block.variables, other.variables, strict=True)
        index = self.place.substitute({old: ValueMap.identity([new]) for old, new in renamed})
        return [(self.result, index), (self.alloc.memref, self.region.relative(index))]


def part_of(block: BlockOp, result: SSAValue, loop: ForOp, step: SchedulePrimitive) -> Part:
    """Describes the part of a result that one iteration of `loop` updates; refuses results without such a part."""
    subject = f"block {block.block_name!r}"
    accesses = [op for op in ops_of(block.body, LoadOp, StoreOp) if op.memref is result]
    if any(access.index != accesses[0].index for access in accesses):
        raise refusal(step, subject, "it accesses its result at several indices", "name a block that updates elements")
    if not accesses or not _is_place(block, accesses[0].index, loop):
        raise refusal(step, subject, "it does not update elements at its variables", "name a block that does")
    region = accessed(accesses[:1], loop, block, result, step)
    shape = [region.extents[dimension] for dimension in region.kept]
    sizes = [extent for extent in shape if isinstance(extent, int)]
    element = memref_type(result).element_type
    if len(sizes) < len(shape) or prod(sizes) * (element_size(element) or 8) > LOCAL_BYTES:
        reason = f"one iteration of loop {loop.loop_name!r} updates too large a part of its result"
        raise refusal(step, subject, reason, "split the loops of its result")
    alloc = memref.AllocOp([], [], buffer_type(element, sizes, space=StringAttr(LOCAL)))
    return Part(result, accesses, accesses[0].index, region, alloc)


def _is_place(block: BlockOp, index: ValueMap, loop: ForOp) -> bool:
    """Whether an index depends on spatial variables alone, and on indices that are fixed in an iteration of `loop`."""
    spatial = {block.variables[position] for position in block.spatial}
    for value in index.operands:
        owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        if value not in spatial and (owner is None or (owner is not loop and loop.is_ancestor(owner))):
            return False
    return True


def _depends(rest: LinearForm, binding: ValueMap, value: SSAValue) -> bool:
    """Whether the terms beside the multiple of `value` depend on it."""
    position = binding.operands.index(value)
    return any(position in atom.used_dims() for atom, _ in rest.terms)


def _check_start(block: BlockOp, loop: ForOp, step: SchedulePrimitive) -> None:
    """Refuses terms of a tile whose first one may be outside of the block's domain although others are inside."""
    inside = [each.index for each in enclosing_loops(block) if loop.is_ancestor(each) and reduces_over(block, each)]
    for binding, _ in domain_conditions(block):
        for index in (value for value in inside if value in binding.operands and value is not loop.index):
            amount, rest = linear_in(binding, index)
            if amount <= 0 or _depends(rest, binding, index):
                reason = f"the first term in loop {loop.loop_name!r} may be outside of its domain"
                raise refusal(
                    step, f"block {block.block_name!r}", reason, "split the reduction by a divisor of its extent"
                )


def variables_of_part(block: BlockOp, loop: ForOp, step: SchedulePrimitive) -> list[IterVar]:
    """The variables of a block that runs once for each element of a part: reduction loops inside `loop` are at 0."""
    _check_start(block, loop, step)
    inside = [each for each in enclosing_loops(block) if loop.is_ancestor(each) and each is not loop]
    first = {each.index: ValueMap.constant(0) for each in inside if reduces_over(block, each)}
    return [replace(var, binding=simplified(var.binding.substitute(first))) for var in block.iter_vars()]


def block_of_part(name: str, block: BlockOp, variables: Sequence[IterVar], init: Region | None) -> BlockOp:
    """Creates a block with an empty body, to which accesses of a part are added, at the location of `block`."""
    created = BlockOp(name, variables, [], [], init=init)
    created.location = block.location
    return created
