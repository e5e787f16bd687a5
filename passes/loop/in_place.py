"""Finds outputs of a kernel that may share an input's buffer: an element is read only at the point that overwrites it.

This is proven from the accesses. One block stores the output, each of its points stores another element, and no other
op uses the output; the input is read in this block alone, at the index of the store. Each point of the block runs once,
in any order. No primitive changes this except overlapping tiles, which compute elements twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp, ScheduleAttr, StoreOp, Tail, ValueMap
from xrelay.dialects.loop.extents import extents_of
from xrelay.dialects.loop.signature import input_arguments, output_arguments
from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.passes.loop.nest_queries import enclosing_loops, loops_of


def pairs_in_place(kernel: func.FuncOp) -> list[tuple[int, int]]:
    """The pairs of numbers of an input and an output that may share a buffer; an output may be in several pairs."""
    if _overlaps(kernel):
        return []
    return [(source, output) for output, each in enumerate(kernel.body.block.args) for source in _sources(kernel, each)]


def _overlaps(kernel: func.FuncOp) -> bool:
    """Whether tiles of the kernel overlap, now or once its schedule is applied."""
    schedule = kernel.attributes.get(SCHEDULE)
    steps = schedule.data if isinstance(schedule, ScheduleAttr) else ()
    tails = [loop.tail for loop in loops_of(kernel).values()]
    return Tail.OVERLAP in tails or any(getattr(step, "tail", None) is Tail.OVERLAP for step in steps)


def _sources(kernel: func.FuncOp, output: SSAValue) -> Iterator[int]:
    """The numbers of the inputs that may share the buffer of `output`."""
    store = _only_store(output) if output in output_arguments(kernel) else None
    block = None if store is None else store.parent_op()
    if store is None or not isinstance(block, BlockOp):
        return
    zero = ValueMap.constant(0)
    known = {variable: zero for variable, extent in zip(block.variables, block.extents, strict=True) if extent == 1}
    index, before = store.index.substitute(known), _ops_before(store, block)
    if not _stores_once(block, index):
        return
    for number, argument in enumerate(input_arguments(kernel)):
        if argument.type == output.type and extents_of(argument) == extents_of(output):
            users = [use.operation for use in argument.uses]
            loads = [op for op in users if isinstance(op, LoadOp) and op in before]
            is_all = len(loads) + users.count(block) == len(users)
            if loads and is_all and all(load.index.substitute(known) == index for load in loads):
                yield number


def _ops_before(store: StoreOp, block: BlockOp) -> set[Operation]:
    """The ops of a block, including those in its conditions, that precede `store`."""
    return set(takewhile(lambda op: op is not store, block.body.walk()))


def _only_store(output: SSAValue) -> StoreOp | None:
    """The only op that accesses `output`, if it is a store."""
    users = [use.operation for use in output.uses]
    stores = [op for op in users if isinstance(op, StoreOp)]
    blocks = [op for op in users if isinstance(op, BlockOp) and output not in op.reads]
    return stores[0] if len(stores) == 1 and len(stores) + len(blocks) == len(users) else None


def _stores_once(block: BlockOp, index: ValueMap) -> bool:
    """Whether each point of a block runs once and stores its own element; variables of extent 1 are 0 in `index`."""
    if block.has_init or any(kind is not IterKind.SPATIAL for kind in block.kinds):
        return False
    stored = [index.operands[expr.position] for expr in index.exprs if isinstance(expr, AffineDimExpr)]
    is_plain = all(isinstance(expr, AffineDimExpr | AffineConstantExpr) for expr in index.exprs)
    missing = {variable for variable, extent in zip(block.variables, block.extents, strict=True) if extent != 1}
    loops = [loop.index for loop in enclosing_loops(block)]
    bindings = block.bindings
    return (
        is_plain
        and len(set(stored)) == len(stored)
        and missing <= set(stored) <= set(block.variables)
        and all(isinstance(expr, AffineDimExpr | AffineConstantExpr) for expr in bindings.exprs)
        and set(loops) == set(bindings.operands)
        and sum(isinstance(expr, AffineDimExpr) for expr in bindings.exprs) == len(loops)
    )
