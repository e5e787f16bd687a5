"""`exit_early` and the pass `loop-exit-early`: ends a loop after the first iteration that changes nothing."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerType

from xrelay.dialects.loop import BlockOp, ForOp, LoopKind, StoreOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.schedule import ExitEarly
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.nest_queries import blocks_inside
from xrelay.passes.loop.primitives.legality import check_serial, find_loop, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(ExitEarly)
def exit_early(kernel: func.FuncOp, step: ExitEarly) -> None:
    """Marks `step.loop` as `early_exit`: its iterations are equal, so it ends after an iteration that changes nothing.

    ```
    loop.for "k" %k to 23 {
      loop.block "walk" (%vj : spatial 8 = %j, %vk : ordered 23 = %k) reads(%next) writes(%node) {…}
    ```
    becomes
    ```
    loop.for "k" %k to 23 early_exit {
      loop.block "walk" (%vj : spatial 8 = %j, %vk : ordered 23 = %k) reads(%next) writes(%node) {…}
    ```

    Raises `ScheduleError` for a loop that is not serial, blocks that compute with its index, and stores of anything but
    integers.
    """
    loop = find_loop(kernel, step.loop, step)
    subject = f"loop {step.loop!r}"
    check_serial(loop, LoopKind.EARLY_EXIT, step, "name a serial loop")
    for block in blocks_inside(loop):
        if (problem := _problem(block, loop)) is not None:
            raise refusal(step, subject, f"block {block.block_name!r} {problem}", "leave it serial")
    loop.kind = LoopKind.EARLY_EXIT


def _problem(block: BlockOp, loop: ForOp) -> str | None:
    """The reason why iterations of the loop differ, or why changes cannot be detected; `None` if there is no reason."""
    bindings = block.bindings
    if any(v.uses for k, v in enumerate(block.variables) if loop.index in bindings[k].operands):
        return "computes with its index"
    types = [memref_type(store.memref) for store in ops_of(block, StoreOp)]
    floats = [type for type in types if not isinstance(type.element_type, IntegerType)]
    return f"stores elements of {floats[0]}, not integers" if floats else None


LoopExitEarlyPass = primitive_pass(ExitEarly, "loop=k", EXACT)
