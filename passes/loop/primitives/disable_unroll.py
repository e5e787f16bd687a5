"""`disable_unroll` and the pass `loop-disable-unroll`: prevents the unrolling of a loop."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.dialects.loop import LoopKind
from xrelay.dialects.loop.schedule import DisableUnroll
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.primitives.legality import find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(DisableUnroll)
def disable_unroll(kernel: func.FuncOp, step: DisableUnroll) -> None:
    """Marks `step.loop` as not to be unrolled: LLVM would otherwise unroll reductions and spill accumulators.

    ```
    loop.for "k" %k to 512 {…}
    ```
    becomes
    ```
    loop.for "k" %k to 512 unroll = disable {…}
    ```

    Raises `ScheduleError` for an unrolled or vectorized loop.
    """
    loop = find_loop(kernel, step.loop, step)
    if loop.kind in (LoopKind.UNROLLED, LoopKind.VECTORIZED):
        raise refusal(step, f"loop {step.loop!r}", f"it is {loop.kind}", "keep a serial or parallel loop rolled")
    loop.no_unroll = True


LoopDisableUnrollPass = primitive_pass(DisableUnroll, "loop=k", EXACT)
