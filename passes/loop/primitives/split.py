"""`split` and the pass `loop-split`: replaces a loop by two, the inner one with a fixed number of iterations."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import ForOp, LoopKind, ValueMap
from xrelay.dialects.loop.extents import expression_of
from xrelay.dialects.loop.schedule import Split
from xrelay.passes.loop.nest_edits import extent_value, replace_indices
from xrelay.passes.loop.nest_queries import blocks_inside
from xrelay.passes.loop.primitives.legality import (
    check_new_names,
    find_loop,
    keeps_away,
    keeps_away_from,
    refusal,
)
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(Split)
def split(kernel: func.FuncOp, step: Split) -> list[str]:
    """Splits `step.loop` into `<loop>_o` around `<loop>_i` of `step.factor` iterations, or names them `step.names`.

    ```
    loop.for "w" %w to 57 {
      loop.block "b" (%v : spatial 57 = %w) …
    ```
    becomes with `split("w", 14, tail = mask)`
    ```
    loop.for "w_o" %w_o to 5 tail = mask {
      loop.for "w_i" %w_i to 14 {
        loop.block "b" (%v : spatial 57 = %w_o * 14 + %w_i) …
    ```

    If the factor does not divide the extent, the surplus iterations are skipped by the implicit guards of the blocks;
    `tail` (kept by the outer loop) selects how. If the extent is a value, `ceildiv` is computed once, at the top of the
    kernel. Raises `ScheduleError` for a loop that is not serial, and for a factor that does not divide the extent if
    the surplus iterations would be in the domain of a block, as in an inner tile.
    """
    loop = find_loop(kernel, step.loop, step)
    divides = check_split(kernel, loop, step)
    names = _names(step)
    tail = loop.tail if divides else step.tail
    tiles = expression_of(loop.bound).plus(step.factor - 1)
    tiles = ValueMap((tiles.exprs[0] // step.factor,), tiles.operands)
    outer = ForOp(names[0], extent_value(kernel, tiles, f"{names[0]}_extent"), tail=tail, no_unroll=loop.no_unroll)
    index = loop.index
    inner = ForOp(names[1], step.factor, loop.detach_region(0), no_unroll=loop.no_unroll)
    index.name_hint = names[1]
    outer.body.block.add_op(inner)
    assert loop.parent is not None, "it is in the kernel"
    loop.parent.insert_op_before(outer, loop)
    loop.detach()
    loop.erase()
    combined = AffineDimExpr(0) * step.factor + AffineDimExpr(1)
    replace_indices({index: ValueMap.make([combined], (outer.index, index))})
    return names


def _names(step: Split) -> list[str]:
    return list(step.names) if step.names else [f"{step.loop}_o", f"{step.loop}_i"]


def check_split(kernel: func.FuncOp, loop: ForOp, step: Split) -> bool:
    """Whether the factor is known to divide the extent; raises `ScheduleError` if the split is not legal."""
    subject = f"loop {step.loop!r}"
    if loop.kind is not LoopKind.SERIAL:
        raise refusal(step, subject, f"it is {loop.kind} already", f"split it before making it {loop.kind}")
    check_new_names(kernel, _names(step), {step.loop}, step)
    if loop.extent is None:
        return _check_dynamic_split(loop, step)
    if loop.extent % step.factor == 0:
        return True
    beyond = (loop.extent, -(-loop.extent // step.factor) * step.factor - 1)
    for block in blocks_inside(loop):
        if not keeps_away(block, loop, beyond):
            reason = (
                f"{step.factor} does not divide its extent {loop.extent}, and iterations {beyond[0]} to {beyond[1]} "
                f"would still be inside the domain of block {block.block_name!r}"
            )
            raise refusal(step, subject, reason, f"choose a divisor of {loop.extent}, or guard the loop before")
    return False


def _check_dynamic_split(loop: ForOp, step: Split) -> bool:
    """Like `check_split`, for a loop whose extent is a value."""
    subject, extent = f"loop {step.loop!r}", expression_of(loop.bound)
    rest = ValueMap((extent.exprs[0] % step.factor,), extent.operands).simplified()
    if rest == ValueMap.constant(0):
        return True
    for block in blocks_inside(loop):
        if not keeps_away_from(block, loop, extent):
            reason = (
                f"its extent is known only at run time; if {step.factor} does not divide it, further iterations could "
                f"be inside the domain of block {block.block_name!r}"
            )
            raise refusal(step, subject, reason, "split before loops are fused, or another loop")
    return False


LoopSplitPass = primitive_pass(Split, "loop=w factor=14 tail=mask")
