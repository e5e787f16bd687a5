"""`parallelize` and the pass `loop-parallelize`: runs the iterations of a loop in several threads."""

from __future__ import annotations

from xdsl.dialects import func, memref

from xrelay.dialects.loop import ForOp, LoopKind
from xrelay.dialects.loop.schedule import Parallelize
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.loop.nest_queries import blocks_inside, enclosing_loops, only_op, reduces_over, structure_of
from xrelay.passes.loop.primitives.legality import check_serial, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(Parallelize)
def parallelize(kernel: func.FuncOp, step: Parallelize) -> None:
    """Marks `step.loop` as parallel.

    ```
    loop.for "n" %n to 4 {
      loop.block "b" (%vn : spatial 4 = %n, …) …
    ```
    becomes
    ```
    loop.for "n" %n to 4 parallel {
      loop.block "b" (%vn : spatial 4 = %n, …) …
    ```

    Legal if no iteration depends on another: every block inside has a spatial variable bound to the loop, or writes
    only buffers of its own iteration. Raises `ScheduleError` for a reduction, for blocks that would write the same
    elements in several iterations, for a loop that is vectorized or unrolled, and for nested parallel loops. As an
    exception, a loop whose extent is a value may be parallel as the only op in a parallel loop, because the two cannot
    be fused.
    """
    loop = find_loop(kernel, step.loop, step)
    subject = f"loop {step.loop!r}"
    check_serial(loop, LoopKind.PARALLEL, step, "parallelize a serial loop")
    _check_nesting(loop, step)
    for block in blocks_inside(loop):
        if reduces_over(block, loop):
            reason = f"block {block.block_name!r} reduces over it: its iterations add to the same elements"
            raise refusal(step, subject, reason, "parallelize a loop of a spatial variable")
        private = {op.memref for op in ops_of(loop, memref.AllocOp)}
        shared = [buffer for buffer in block.writes if buffer not in private]
        if shared and loop.extent != 1 and loop.index not in block.binding_operands:
            reason = f"block {block.block_name!r} does not depend on it: every iteration writes the same elements"
            raise refusal(step, subject, reason, "parallelize a loop of a spatial variable")
    loop.kind = LoopKind.PARALLEL


def _check_nesting(loop: ForOp, step: Parallelize) -> None:
    inside = [op for op in structure_of(loop) if isinstance(op, ForOp)]
    for other in [*enclosing_loops(loop), *inside]:
        if other.kind is LoopKind.PARALLEL and not (_may_nest(other, loop) or _may_nest(loop, other)):
            reason = f"{other.loop_name!r} is parallel already, and parallel loops do not nest"
            raise refusal(step, f"loop {step.loop!r}", reason, "fuse the two loops, or parallelize one of them")


def _may_nest(outer: ForOp, inner: ForOp) -> bool:
    """Whether two parallel loops may nest: in a perfect nest whose inner extent is a value, which `fuse` refuses."""
    return only_op(outer) is inner and inner.extent is None


LoopParallelizePass = primitive_pass(Parallelize, "loop=n")
