"""`set_tail` and the pass `loop-set-tail`: selects the strategy for a partial last tile."""

from __future__ import annotations

from xdsl.dialects import func

from xrelay.dialects.loop.schedule import SetTail
from xrelay.passes.loop.primitives.legality import find_loop
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(SetTail)
def set_tail(kernel: func.FuncOp, step: SetTail) -> None:
    """Sets the strategy for a partial last tile of `step.loop`: peel or mask.

    ```
    loop.for "w_o" %w_o to 5 {…}
    ```
    becomes with `set_tail("w_o", mask)`
    ```
    loop.for "w_o" %w_o to 5 tail = mask {…}
    ```
    """
    find_loop(kernel, step.loop, step).tail = step.tail


LoopSetTailPass = primitive_pass(SetTail, "loop=w_o tail=mask")
