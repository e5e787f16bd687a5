"""`unroll` and the pass `loop-unroll`: marks a loop for unrolling."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.dialects.loop import ForOp, LoopKind
from xrelay.dialects.loop.for_op import MAX_COPIES
from xrelay.dialects.loop.schedule import Unroll
from xrelay.passes.loop.nest_queries import structure_of
from xrelay.passes.loop.primitives.legality import check_serial, find_loop, refusal, static_extent
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(Unroll)
def unroll(kernel: func.FuncOp, step: Unroll) -> None:
    """Marks `step.loop` as unrolled. It stays one op: LLVM unrolls it and keeps arrays of accumulators in registers.

    ```
    loop.for "w_i" %w_i to 14 {…}
    ```
    becomes
    ```
    loop.for "w_i" %w_i to 14 unrolled {…}
    ```

    Raises `ScheduleError` for a loop that is not serial, whose extent is known only at run time, or whose body would be
    repeated more than 1024 times, counting the unrolled loops around it and inside.
    """
    loop = find_loop(kernel, step.loop, step)
    extent = static_extent(loop, step)
    check_serial(loop, LoopKind.UNROLLED, step, "unroll a serial loop")
    unrolled = [op for op in structure_of(loop) if isinstance(op, ForOp) and op.kind is LoopKind.UNROLLED]
    copies = max(inner.copies for inner in (loop, *unrolled)) * (extent if loop.kind is LoopKind.SERIAL else 1)
    if copies > MAX_COPIES:
        reason = f"its body would be written out {copies} times, {MAX_COPIES} are allowed"
        raise refusal(step, f"loop {step.loop!r}", reason, "split it and unroll the inner loop")
    loop.kind, loop.no_unroll = LoopKind.UNROLLED, False


LoopUnrollPass = primitive_pass(Unroll, "loop=w_i")
