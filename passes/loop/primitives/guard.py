"""`guard` and the pass `loop-guard`: makes blocks skip iterations beyond the extent of a loop."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, IndexType

from xrelay.dialects.loop import BlockOp, ForOp, IterKind
from xrelay.dialects.loop.base import IterKindAttr
from xrelay.dialects.loop.schedule import Guard
from xrelay.index_algebra.value_map import ValueMap, join_maps
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.nest_queries import blocks_inside, is_ordered_in, reduces_over
from xrelay.passes.loop.primitives.legality import find_loop, refusal, static_extent
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(Guard)
def guard(kernel: func.FuncOp, step: Guard) -> None:
    """Adds a variable with the extent of `step.loop` to each block inside, so that any factor may split the loop.

    ```
    loop.for "i_i" %ii to 5 {
      loop.block "b" (%v : spatial 10 = %io * 5 + %ii) …
    ```
    becomes with `guard("i_i")`
    ```
    loop.for "i_i" %ii to 5 {
      loop.block "b" (%v : spatial 10 = %io * 5 + %ii, %g : spatial 5 = %ii) …
    ```

    A split by 3 then has 6 iterations, and the block skips the last one. Raises `ScheduleError` for extents known only
    at run time, and for a block that depends on the order of the iterations.
    """
    loop = find_loop(kernel, step.loop, step)
    extent = static_extent(loop, step)
    blocks = blocks_inside(loop)
    for block in blocks:
        if is_ordered_in(block, loop):
            reason = f"block {block.block_name!r} depends on the order of its iterations"
            raise refusal(step, f"loop {step.loop!r}", reason, "split it by a divisor of its extent")
    for block in blocks:
        _add_variable(block, loop, extent)


def _add_variable(block: BlockOp, loop: ForOp, extent: int) -> None:
    """Adds a variable that is bound to the index of a loop and unused in the body."""
    kind = IterKind.REDUCE if reduces_over(block, loop) else IterKind.SPATIAL
    bindings = join_maps([block.bindings, ValueMap.identity([loop.index])])
    extents = (*block.extents, extent)
    block.kinds_attr = ArrayAttr([*block.kinds_attr, IterKindAttr(kind)])
    block.set_extents(extents)
    block.bindings = bindings
    body = block.body.block
    body.insert_arg(IndexType(), len(body.args)).name_hint = loop.index.name_hint
    if block.has_init and kind is IterKind.SPATIAL:
        block.init.block.insert_arg(IndexType(), len(block.init.block.args))


LoopGuardPass = primitive_pass(Guard, "loop=i_i", EXACT)
