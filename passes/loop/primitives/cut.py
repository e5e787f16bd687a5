"""`cut` and the pass `loop-cut`: replaces a loop by loops over its first, middle and last iterations."""

from __future__ import annotations

from xdsl.dialects import arith, func, scf
from xdsl.ir import OpResult, SSAValue

from xrelay.dialects.loop import ForOp, LoopKind, ValueMap
from xrelay.dialects.loop.extents import expression_of, in_loop_indices
from xrelay.dialects.loop.schedule import Cut
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.op_making import copy
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.index_conditions import limits_of
from xrelay.passes.loop.nest_edits import Names, erase_unused, extent_value, replace_indices, take_branch
from xrelay.passes.loop.nest_queries import blocks_inside, is_nonnegative, is_ordered_in, reduces_over
from xrelay.passes.loop.primitives.legality import check_new_names, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(Cut)
def cut(kernel: func.FuncOp, step: Cut) -> None:
    """Cuts `step.first` iterations from the start of `step.loop` and `step.last` from its end.

    ```
    loop.for "w" %w to 130 {
      loop.block "pad" (%v : spatial 130 = %w) reads(%X) writes(%Y) {
        %inside = … %v - 1 is at least 0 and less than 128
        %x = scf.if %inside { … %X[%v - 1] … } else { … the mirrored element … }
    ```
    becomes with `cut("w", first = 1, last = 1)`
    ```
    loop.for "w_first" %w_first to 1 {
      loop.block "pad_first" (%v : spatial 130 = %w_first) reads(%X) writes(%Y) { … the mirrored element … }
    }
    loop.for "w" %w to 128 {
      loop.block "pad" (%v : spatial 130 = %w + 1) reads(%X) writes(%Y) { … %X[%v - 1] … }
    }
    loop.for "w_last" %w_last to 1 {
      loop.block "pad_last" (%v : spatial 130 = %w_last + 129) reads(%X) writes(%Y) { … the mirrored element … }
    }
    ```

    A branch whose condition has the same value in all iterations of a part is replaced there by the region that runs.
    A part without iterations has no loop. Raises `ScheduleError` for a loop that is not serial, that a block reduces
    over, or that may have fewer iterations than `step.first` and `step.last` together.
    """
    loop = find_loop(kernel, step.loop, step)
    extent = expression_of(loop.bound)
    middle = extent.plus(-step.first - step.last)
    _check(kernel, loop, middle, step)
    names = Names(kernel)
    parts = [
        (step.first, ValueMap.constant(0), "first"),
        (middle, ValueMap.constant(step.first), None),
        (step.last, extent.plus(-step.last), "last"),
    ]
    for count, begin, suffix in parts:
        if count == 0:
            continue
        part = copy(loop)
        if suffix is not None:
            names.rename_nested(part, suffix)
        _insert_part(kernel, loop, part, ValueMap.constant(count) if isinstance(count, int) else count, begin)
    loop.detach()
    loop.erase()


def _check(kernel: func.FuncOp, loop: ForOp, middle: ValueMap, step: Cut) -> None:
    """Raises `ScheduleError` if the loop cannot be cut; `middle` is the number of iterations of the middle part."""
    subject = f"loop {step.loop!r}"
    if loop.kind is not LoopKind.SERIAL:
        raise refusal(step, subject, f"it is {loop.kind} already", f"cut it before making it {loop.kind}")
    check_new_names(kernel, [f"{step.loop}_first", f"{step.loop}_last"], set(), step)
    for block in blocks_inside(loop):
        if reduces_over(block, loop) or is_ordered_in(block, loop) or block.has_init:
            reason = f"block {block.block_name!r} accumulates in its iterations"
            raise refusal(step, subject, reason, "cut a loop around blocks without accumulators")
    if not is_nonnegative(middle):
        reason = f"it may have fewer than {step.first + step.last} iterations"
        raise refusal(step, subject, reason, "cut fewer iterations")


def _insert_part(kernel: func.FuncOp, loop: ForOp, source: ForOp, count: ValueMap, begin: ValueMap) -> None:
    """Inserts a loop with the body of `source`, of `count` iterations from `begin`, before `loop`."""
    assert loop.parent is not None, "it is in the kernel"
    bound = extent_value(kernel, count, f"{source.loop_name}_extent")
    part = ForOp(source.loop_name, bound, source.detach_region(0), tail=loop.tail, no_unroll=loop.no_unroll)
    part.index.name_hint = source.loop_name
    loop.parent.insert_op_before(part, loop)
    replace_indices({part.index: ValueMap.identity([part.index]).plus(begin)})
    for branch in ops_of(part, scf.IfOp):
        is_erased = branch.parent is None  # with the region of an outer branch that does not run
        if not is_erased and (answer := _constant_condition(condition := branch.cond)) is not None:
            take_branch(branch, answer=answer)
            if isinstance(condition, OpResult):
                erase_unused(condition.op)


def _constant_condition(condition: SSAValue) -> bool | None:
    """The value of a condition if it is the same in all iterations of the loops around it, else None."""
    pending, answer = [condition], True
    while pending:
        op = pending.pop().owner
        if isinstance(op, arith.AndIOp):
            pending += op.operands
            continue
        limits = limits_of(op) if isinstance(op, CmpiOp) else None
        known = None if limits is None else [in_loop_indices(limit) for limit in limits]
        if known is not None and any(is_nonnegative(ValueMap.constant(0).plus(limit, -1)) for limit in known):
            return False
        if known is None or not all(is_nonnegative(limit.plus(-1)) for limit in known):
            answer = None
    return answer


LoopCutPass = primitive_pass(Cut, "loop=w first=1 last=1", EXACT)
