"""`prefetch` and the pass `loop-prefetch`: loads weights into the cache in advance."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64

from xrelay.dialects.loop import LoopKind
from xrelay.dialects.loop.schedule import Prefetch
from xrelay.dialects.shared.attribute_names import PREFETCH
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.primitives.legality import find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(Prefetch)
def prefetch(kernel: func.FuncOp, step: Prefetch) -> None:
    """Marks `step.loop` over the terms of sums, so that its iterations prefetch the weights of the next panel.

    ```
    loop.for "k" %k to 512 {…}
    ```
    becomes
    ```
    loop.for "k" %k to 512 attributes {loop.prefetch} {…}
    ```

    The panel of the next columns is read from memory while the products of this panel are computed, instead of by the
    first rows of the next one, which wait for it. `convert-loop-to-scf` finds the panel: it is read in lanes, and only
    the loop around those over rows changes it. The mark has no effect if there is no such panel.

    With `ahead`, every tile prefetches its own weights for the iteration that is so many later: `loop.prefetch = 32 :
    i64`. A panel that fills most of the L2 cache then comes from memory just in time.

    Raises `ScheduleError` unless the loop is serial.
    """
    loop = find_loop(kernel, step.loop, step)
    if loop.kind is not LoopKind.SERIAL:
        raise refusal(step, f"loop {step.loop!r}", f"it is {loop.kind}", "name the loop over the terms of a sum")
    loop.attributes[PREFETCH] = IntegerAttr(step.ahead, i64) if step.ahead else UnitAttr()


LoopPrefetchPass = primitive_pass(Prefetch, "loop=k", EXACT)
