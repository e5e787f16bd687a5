"""`unroll`: a loop is to become straight code."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.dialects.loop import LoopKind
from xrelay.dialects.loop.schedule import Unroll
from xrelay.passes.loop.primitives.nest import find_loop, refusal, static_extent


def unroll(kernel: func.FuncOp, step: Unroll) -> None:
    """Mark `step.loop` unrolled. The loop stays one op: LLVM unrolls it, and arrays of accumulators become registers.

    ```
    loop.for "w_i" %w_i to 14 {…}
    ```
    becomes
    ```
    loop.for "w_i" %w_i to 14 unrolled {…}
    ```

    Refuses a loop that is not serial, or whose extent is known only at run time.
    """
    loop = find_loop(kernel, step.loop, step)
    static_extent(loop, step)
    if loop.kind not in (LoopKind.SERIAL, LoopKind.UNROLLED):
        raise refusal(step, f"loop {step.loop!r}", f"it is {loop.kind}", "unroll a serial loop")
    loop.kind, loop.no_unroll = LoopKind.UNROLLED, False
