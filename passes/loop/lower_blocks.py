"""`loop-lower-blocks`: lowers the statements of a scheduled nest to plain loads, stores and arithmetic.

Blocks have the information that schedules need, and are removed once the schedule is applied. The init of each
reduction moves to a nest of its own before the reduction's loops (`decompose_init`), loops are cut or moved so that
partial tiles have constant extents (`tails`), and each block is replaced by its body, with its variables replaced by
their bindings. Local buffers of partial tiles get narrower rows (`narrow_rows`). Statements get the source location of
their block, and loops that a schedule made get those of their statements, so that native code leads to its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, memref, scf
from xdsl.dialects.arith import AndIOp
from xdsl.dialects.builtin import IndexType, ModuleOp, UnknownLoc
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.shared.locations import fuse_locations, locate
from xrelay.dialects.shared.op_lists import block_of, ops_in, ops_of
from xrelay.dialects.shared.op_making import append
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass
from xrelay.passes.loop.decompose_init import decompose_init
from xrelay.passes.loop.narrow_rows import narrow_rows
from xrelay.passes.loop.nest_edits import Names, compute, erase_empty_loops, substitute_index
from xrelay.passes.loop.nest_queries import blocks_inside, domain_conditions, index_range, is_within, range_of
from xrelay.passes.loop.tails import handle_tails


@dataclass(frozen=True)
class LoopLowerBlocksPass(XRelayPass):
    """Replaces every `loop.block` by its body.

    Before → after:

    ```
    loop.for "i" %i to 4 {                                 loop.for "i" %i to 4 {
      loop.for "k" %k to 8 {                                 loop.store %zero, %Y[%i] : T
        loop.block "sum" (%vi : spatial 4 = %i,              loop.for "k" %k to 8 {
                          %vk : reduce 8 = %k)                 %x = loop.load %X[%i, %k] : T
            reads(%X) writes(%Y) init {            →           %y = loop.load %Y[%i] : T
          loop.store %zero, %Y[%vi] : T                        %s = arith.addf %y, %x : f32
        } {                                                    loop.store %s, %Y[%i] : T
          %x = loop.load %X[%vi, %vk] : T                    }
          …                                                }
    ```

    If the bindings of a block may leave its domain, its body is in an `scf.if`, unless the tail of a loop is `peel`,
    which cuts the loop instead.
    """

    name = "loop-lower-blocks"
    numerics = REORDERS_SUMS
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lowers every function of the module in place."""
        for function in op.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks:
                lower_blocks(function)


def lower_blocks(function: func.FuncOp) -> None:
    """Erases the blocks of one function."""
    if not blocks_inside(function):
        return
    names = Names(function)
    decompose_init(function, names)
    for body in function.body.blocks:
        handle_tails(body, names)
    for block in blocks_inside(function):
        _erase_block(block)
    _erase_empty_nests(function)
    narrow_rows(function)
    _hoist_indices(function)
    _locate_loops(function)


def _erase_block(block: BlockOp) -> None:
    """Replaces a block by its body, under the condition that its bindings are in their domains."""
    conditions = domain_conditions(block)
    if any(_never_holds(binding, extent) for binding, extent in conditions):
        block.detach()
        block.erase()
        return
    body = block.body.block
    locate(ops_in(body), block.location)
    _bind(block)
    statements = list(body.ops)
    for op in statements:
        op.detach()
    if conditions:
        statements = _under(conditions, statements)
        locate(statements, block.location)
    parent, following = block.parent, block.next_op
    assert parent is not None
    block.detach()
    if following is None:
        for op in statements:
            append(parent, op)
    else:
        parent.insert_ops_before(statements, following)
    block.erase()


def _bind(block: BlockOp) -> None:
    """Replaces the variables of a block by their bindings, simplified by the ranges of index values."""
    bindings = block.bindings
    bound = {variable: bindings[position] for position, variable in enumerate(block.variables)}
    known = {value: index_range(value) for value in bindings.operands}
    for op in ops_of(block.body, LoadOp, StoreOp):
        index = op.index.substitute(bound)
        known |= {value: index_range(value) for value in index.operands if value not in known}
        op.index = index.simplified(known)
    for variable, binding in bound.items():
        substitute_index(variable, binding, block.body.block)


def _never_holds(binding: ValueMap, extent: ValueMap) -> bool:
    interval, limit = range_of(binding), range_of(extent)
    return interval is not None and limit is not None and (interval[0] >= limit[1] or interval[1] < 0)


def _under(conditions: Sequence[tuple[ValueMap, ValueMap]], statements: Sequence[Operation]) -> list[Operation]:
    """Wraps `statements` in one `scf.if` that tests all conditions."""
    ops: list[Operation] = []
    tests: list[SSAValue] = []
    for binding, extent in conditions:
        value = compute(binding, ops)
        is_positive, is_below = is_within(binding, extent)
        if not is_below:
            tests.append(_compare(value, "slt", compute(extent, ops), ops))
        if not is_positive:
            tests.append(_compare(value, "sge", compute(ValueMap.constant(0), ops), ops))
    condition = tests[0]
    for test in tests[1:]:
        ops.append(both := AndIOp(condition, test))
        condition = both.result
    return [*ops, scf.IfOp(condition, [], Region(Block([*statements, scf.YieldOp()])))]


def _compare(value: SSAValue, predicate: str, limit: SSAValue, ops: list[Operation]) -> SSAValue:
    ops.append(test := CmpiOp(value, limit, predicate))
    return test.result


def _erase_empty_nests(function: func.FuncOp) -> None:
    """Erases loops without statements, and buffers that are then unused."""
    allocations = ops_of(function, memref.AllocOp)
    erase_empty_loops(function)
    for op in allocations:
        if not op.memref.uses:
            op.detach()
            op.erase()


def _hoist_indices(function: func.FuncOp) -> None:
    """Moves arithmetic on indices out of contracted loops, so that these contain only the ops of a dot product."""
    for loop in ops_of(function, ForOp):
        if loop.kind is LoopKind.CONTRACTED and loop.parent is not None:
            body = loop.body.block
            for op in list(body.ops):
                is_index = bool(op.results) and all(isinstance(result.type, IndexType) for result in op.results)
                if is_index and is_side_effect_free(op) and all(block_of(value) is not body for value in op.operands):
                    op.detach()
                    loop.parent.insert_op_before(op, loop)


def _locate_loops(function: func.FuncOp) -> None:
    """Sets the locations of loops that have none to those of the ops inside, the innermost loops first."""
    for loop in reversed(ops_of(function, ForOp)):
        if type(loop.location) is UnknownLoc:
            inside = {id(op.location): op.location for op in loop.body.block.ops}
            loop.location = fuse_locations(inside.values())
