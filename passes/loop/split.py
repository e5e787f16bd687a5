"""`split` and the pass `loop-split`: one loop becomes two, the inner one with a fixed number of iterations."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import ForOp, LoopKind, Tail, ValueMap
from xrelay.dialects.loop.schedule import Split
from xrelay.passes.loop.nest_edits import replace_indices
from xrelay.passes.loop.nest_queries import blocks_inside, enclosing_loops
from xrelay.passes.loop.primitives.legality import (
    check_new_names,
    check_overlap,
    find_loop,
    keeps_away,
    refusal,
    static_extent,
)
from xrelay.passes.loop.primitives.primitive_pass import primitive_pass
from xrelay.passes.loop.primitives.rewrites import rewrites


@rewrites(Split)
def split(kernel: func.FuncOp, step: Split) -> None:
    """Split `step.loop` into `<loop>_o` around `<loop>_i` (or `step.names`), the inner one with `step.factor`.

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

    Where the factor does not divide the extent, the iterations beyond it are skipped by the blocks' own guards, and
    `tail` (kept by the outer loop) says how. Refuses a loop that is not serial or not static; a factor that does not
    divide where no block's domain would skip the surplus (an inner tile); `overlap` where computing twice differs.
    """
    loop = find_loop(kernel, step.loop, step)
    check_split(kernel, loop, step)
    names = _names(step)
    extent = static_extent(loop, step)
    tail = loop.tail if extent % step.factor == 0 else step.tail
    outer = ForOp(names[0], -(-extent // step.factor), tail=tail, no_unroll=loop.no_unroll)
    index = loop.index
    inner = ForOp(names[1], step.factor, loop.detach_region(0), no_unroll=loop.no_unroll)
    index.name_hint = names[1]
    outer.body.block.add_op(inner)
    block = loop.parent_block()
    if block is None:
        raise refusal(step, f"loop {step.loop!r}", "it is in no function", "put it into one")
    block.insert_op_before(outer, loop)
    loop.detach()
    loop.erase()
    combined = AffineDimExpr(0) * step.factor + AffineDimExpr(1)
    replace_indices({index: ValueMap.make([combined], (outer.index, index))})


def _names(step: Split) -> list[str]:
    return list(step.names) if step.names else [f"{step.loop}_o", f"{step.loop}_i"]


def check_split(kernel: func.FuncOp, loop: ForOp, step: Split) -> None:
    """Raise `ScheduleError` if the split is not legal."""
    subject = f"loop {step.loop!r}"
    extent = static_extent(loop, step)
    if loop.kind is not LoopKind.SERIAL:
        raise refusal(step, subject, f"it is {loop.kind} already", f"split it before making it {loop.kind}")
    check_new_names(kernel, _names(step), {step.loop}, step)
    if extent % step.factor == 0:
        return
    beyond = (extent, -(-extent // step.factor) * step.factor - 1)
    for block in blocks_inside(loop):
        if not keeps_away(block, loop, beyond):
            reason = (
                f"{step.factor} does not divide its extent {extent}, and iterations {beyond[0]} to {beyond[1]} would "
                f"still be inside the domain of block {block.block_name!r}"
            )
            raise refusal(step, subject, reason, f"choose a divisor of {extent}")
    if step.tail is Tail.OVERLAP:
        if step.factor > extent:
            reason = f"a tile of {step.factor} cannot be moved back inside an extent of {extent}"
            raise refusal(step, subject, reason, "use tail = peel or mask")
        check_overlap(loop, enclosing_loops(loop), step)


LoopSplitPass = primitive_pass(Split, "loop=w factor=14 tail=mask")
