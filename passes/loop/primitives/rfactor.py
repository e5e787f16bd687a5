"""`rfactor` and the pass `loop-rfactor`: a loop of a reduction becomes an axis of partial results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import ArrayAttr, IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, IterKind, IterVar, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.base import IterKindAttr
from xrelay.dialects.loop.extents import expression_of
from xrelay.dialects.loop.schedule import Rfactor
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.index_algebra.value_map import join_maps
from xrelay.passes.loop.decompose_init import take_init
from xrelay.passes.loop.nest_edits import (
    Names,
    alloc_like,
    compute,
    known_extents,
    list_buffers,
    simplified,
    substitute_index,
)
from xrelay.passes.loop.nest_queries import (
    domain_conditions,
    enclosing_loops,
    is_ordered_in,
    is_spatial_in,
    linear_in,
    nest_root,
    range_of,
    reduces_over,
)
from xrelay.passes.loop.primitives.accumulators import Update, around_tile, updates_of
from xrelay.passes.loop.primitives.legality import check_reduces_over, find_block, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(Rfactor)
def rfactor(kernel: func.FuncOp, step: Rfactor) -> None:
    """Computes separate results in each iteration of `step.loop`, which the new block `<block>_total` combines.

    ```
    loop.for "k_o" %ko to 16 {
      loop.for "k_i" %ki to 4096 {
        loop.block "sum" (%vk : reduce 65536 = %ko * 4096 + %ki) reads(%X) writes(%Y) init {…} {…}
    ```
    becomes with `rfactor("sum", "k_o")`
    ```
    %part = memref.alloc() : memref<16xf32>
    loop.for "k_o" %ko to 16 {
      loop.for "k_i" %ki to 4096 {
        loop.block "sum" (%vp : spatial 16 = %ko, %vk : reduce 4096 = %ki) reads(%X) writes(%part) init {…} {…}
    loop.for "sum_total_k_o" %k to 16 {
      loop.block "sum_total" (%vp : reduce 16 = %k) reads(%part) writes(%Y) init {…} {…}
    ```

    `step.loop` then belongs to a spatial variable, so threads may share its iterations. The new loops are named
    `<block>_total_<number>` for the spatial variables, and `<block>_total_<loop>`. Sums of floats are taken in another
    order. If the extent of a variable is a value, a branch in the block skips the iterations outside of its domain.

    Raises `ScheduleError` for a loop that is not serial or that the block does not reduce over, ordered variables and
    loops that spatial variables use too, bindings that are not a multiple of its index plus other terms or that may
    leave their constant domain, results that are not updated with an associative operation (sum, product, maximum,
    minimum, and, or, exclusive or), unknown extents, and a block inside another block's nest.
    """
    block, loop = find_block(kernel, step.block, step), find_loop(kernel, step.loop, step)
    root = _check_place(kernel, block, loop, step)
    updates = _updates(block, step)
    allocs = [_allocate(each, loop, step) for each in updates]
    digits = {k: digit for k in range(len(block.kinds)) if (digit := _digit(block, k, loop, step)) is not None}
    names = Names(kernel)
    total = _total(names.block(f"{step.block}_total"), block, loop, updates, allocs)
    _factor(block, loop, digits, updates, allocs)
    spatial = [each for each in enclosing_loops(block) if is_spatial_in(block, each)]
    around = [loop, *(each for each in spatial if each is not loop)]
    assert root.parent is not None, "it is in the kernel"
    root.parent.insert_ops_before(allocs, root)
    root.parent.insert_op_after(around_tile(around, total, "total", names), root)


def _check_place(kernel: func.FuncOp, block: BlockOp, loop: ForOp, step: Rfactor) -> Operation:
    """Returns the outermost op of the nest of `block`; refuses loops that are not a part of its reduction alone."""
    subject, root = f"loop {step.loop!r}", nest_root(block)
    check_reduces_over(block, loop, step)
    if loop.kind is not LoopKind.SERIAL:
        raise refusal(step, subject, f"it is {loop.kind}", "name a serial loop")
    if is_ordered_in(block, loop):
        reason = f"block {step.block!r} depends on the order of its iterations"
        raise refusal(step, subject, reason, "name a loop of a reduce variable")
    mixed = [each for each in enclosing_loops(block) if is_spatial_in(block, each) and reduces_over(block, each)]
    if mixed:
        reason = "spatial and reduce variables use it"
        raise refusal(step, f"loop {mixed[0].loop_name!r}", reason, "use rfactor before fusing loops")
    if root.parent_op() is not kernel:
        raise refusal(step, f"block {step.block!r}", "it is inside another nest", "use rfactor before compute_at")
    return root


def _updates(block: BlockOp, step: Rfactor) -> list[Update]:
    """The results that a block updates; refuses blocks that compute anything else."""
    subject, updates = f"block {step.block!r}", updates_of(block)
    if updates is None or not block.has_init:
        reason = "it does not combine terms by an associative operation, from an init on"
        raise refusal(step, subject, reason, "name a block that computes sums, products, minima or maxima")
    spatial = {block.variables[position] for position in block.spatial}
    if any(not spatial.issuperset(each.store.index.operands) for each in updates):
        raise refusal(step, subject, "it stores at another index than its spatial variables", "name another block")
    return updates


def _allocate(update: Update, loop: ForOp, step: Rfactor) -> memref.AllocOp:
    """Allocates a buffer with a result for each iteration of `loop`; refuses unknown extents."""
    extents = known_extents(update.store.memref)
    if extents is None:
        reason = "the extents of its result are unknown"
        raise refusal(step, f"block {step.block!r}", reason, "name a block whose result has known extents")
    alloc = alloc_like(buffer_type(update.element, []), [loop.bound, *extents])
    alloc.memref.name_hint = f"{step.block}_part"
    return alloc


class _Digit(NamedTuple):
    """A reduce variable `factor * index + rest`, with `extent` values of `rest`.

    The extent is `DYNAMIC` if the variable may leave its domain, whose extent is a value.
    """

    factor: int
    rest: ValueMap
    extent: int


def _digit(block: BlockOp, position: int, loop: ForOp, step: Rfactor) -> _Digit | None:
    """Separates the index of `loop` from the other terms of a variable; None for variables that do not depend on it."""
    binding = block.bindings[position]
    if loop.index not in binding.operands:
        return None
    factor, rest = linear_in(binding, loop.index)
    others = ValueMap.make([rest.expr()], binding.operands)
    known = range_of(others)
    subject = f"variable {position} of block {step.block!r}"
    if factor <= 0 or loop.index in others.operands or known is None or known[0] != 0:
        reason = f"it is not a multiple of the index of {step.loop!r} plus other terms"
        raise refusal(step, subject, reason, "use rfactor before fusing loops")
    is_partial = bool(domain_conditions(block, loop.index))
    if is_partial and isinstance(block.extents[position], int):
        reason = f"some iterations of {step.loop!r} are outside of its domain"
        raise refusal(step, subject, reason, "split the reduction by a divisor of its extent")
    return _Digit(factor, others, DYNAMIC if is_partial else known[1] + 1)


def _total(
    name: str, block: BlockOp, loop: ForOp, updates: Sequence[Update], allocs: Sequence[memref.AllocOp]
) -> BlockOp:
    """Builds the block that combines the parts into the results and takes over the init of `block`."""
    spatial = [block.iter_vars()[position] for position in block.spatial]
    part = IterVar(IterKind.REDUCE, loop.bound, ValueMap.identity([loop.index]), loop.index.name_hint)
    total = BlockOp(name, [*spatial, part], [], [], init=take_init(block))
    total.location = block.location
    *variables, number = total.variables
    renamed = _renamed([block.variables[position] for position in block.spatial], variables)
    with ImplicitBuilder(total.body) as _:
        for each, alloc in zip(updates, allocs, strict=True):
            index = each.store.index.substitute(renamed)
            old, term = LoadOp(each.store.memref, index), LoadOp(alloc.memref, _part(number, index))
            combined = each.combined(old.result, term.result)
            StoreOp(combined.results[0], each.store.memref, index)
    list_buffers(total)
    return total


def _factor(
    block: BlockOp,
    loop: ForOp,
    digits: Mapping[int, _Digit],
    updates: Sequence[Update],
    allocs: Sequence[memref.AllocOp],
) -> None:
    """Makes `block` update the parts: the index of `loop` is its first, spatial variable, and no part of the others."""
    body, variables, rows = block.body.block, block.variables, list(zip(updates, allocs, strict=True))
    spatial, kinds = [variables[position] for position in block.spatial], list(block.kinds_attr)
    bindings = [digits[k].rest if k in digits else block.bindings[k] for k in range(len(kinds))]
    extents = [digits[k].extent if k in digits else extent for k, extent in enumerate(block.extents)]
    number = body.insert_arg(IndexType(), 0)
    number.name_hint = loop.index.name_hint
    for position, digit in digits.items():
        whole = ValueMap.make([AffineDimExpr(0) * digit.factor + AffineDimExpr(1)], [number, variables[position]])
        if digit.extent == DYNAMIC:
            _skip_outside(body, ValueMap.identity([variables[position]]), expression_of(block.extents[position]))
        substitute_index(variables[position], whole, body)
    init = Block(arg_types=[IndexType()] * (len(spatial) + 1))
    renamed = _renamed(spatial, init.args[1:])
    with ImplicitBuilder(init):
        for each, alloc in rows:
            StoreOp(each.neutral().result, alloc.memref, _part(init.args[0], each.store.index.substitute(renamed)))
    block.init.add_block(init)
    for each, alloc in rows:
        each.load.operands[0] = each.store.operands[1] = alloc.memref
        each.load.index = each.store.index = _part(number, each.store.index)
    block.kinds_attr = ArrayAttr([IterKindAttr(IterKind.SPATIAL), *kinds])
    block.set_extents([loop.bound, *extents])
    block.bindings = simplified(join_maps([ValueMap.identity([loop.index]), *bindings]))
    list_buffers(block)


def _skip_outside(body: Block, value: ValueMap, extent: ValueMap) -> None:
    """Makes a block do nothing in iterations in which a value is not below an extent."""
    inside, before = [*body.ops], list[Operation]()
    for op in inside:
        op.detach()
    before.append(test := CmpiOp(compute(value, before), compute(extent, before), "slt"))
    body.add_ops([*before, scf.IfOp(test, [], Region(Block([*inside, scf.YieldOp()])))])


def _renamed(old: Sequence[SSAValue], new: Sequence[SSAValue]) -> dict[SSAValue, ValueMap]:
    return {each: ValueMap.identity([other]) for each, other in zip(old, new, strict=True)}


def _part(number: SSAValue, index: ValueMap) -> ValueMap:
    """The index of a result in the parts: the number of the part, then the index."""
    return join_maps([ValueMap.identity([number]), index])


LoopRfactorPass = primitive_pass(Rfactor, "block=sum loop=k_o")
