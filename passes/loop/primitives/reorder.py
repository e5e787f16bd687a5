"""`reorder` and the pass `loop-reorder`: permutes the loops of one perfect nest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import func

from xrelay.dialects.loop import ForOp, LoopKind, SchedulePrimitive
from xrelay.dialects.loop.extents import loop_of_index
from xrelay.dialects.loop.schedule import Reorder
from xrelay.passes.loop.nest_queries import (
    blocks_inside,
    enclosing_loops,
    is_ordered_in,
    is_spatial_in,
    only_op,
    reduces_over,
)
from xrelay.passes.loop.primitives.legality import find_loops, refusal
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(Reorder)
def reorder(kernel: func.FuncOp, step: Reorder) -> None:
    """Puts the named loops into the given order; other loops between them keep their positions.

    ```
    loop.for "i" %i to 8 {
      loop.for "j" %j to 8 {
        loop.for "k" %k to 64 {
          loop.block "gemm" (%vi : spatial 8 = %i, %vj : spatial 8 = %j, %vk : reduce 64 = %k) … init {…} {…}
    ```
    becomes with `reorder("k", "i", "j")`
    ```
    loop.for "k" %k to 64 {
      loop.for "i" %i to 8 {
        loop.for "j" %j to 8 {
          loop.block "gemm" (…) … init {…} {…}
    ```

    `init` still runs once for each point, when all other variables are zero. So a reduction may move outwards, unless
    an op that reads its result would be inside it. Raises `ScheduleError` for loops that are not one perfect nest (a
    reduction would move away from its init and its consumers), a vectorized loop that would not stay innermost, another
    order of the loops of ordered variables, which must ascend, and another order of the parts of a fused spatial and
    reduce loop, which would initialise some elements too late.
    """
    named = find_loops(kernel, step.loops, step)
    chain, following = _perfect_chain(named, step), iter(named)
    order = [next(following) if loop in named else loop for loop in chain]
    _check_order(chain, order, step)
    _rebuild(chain, order)


def _perfect_chain(named: Sequence[ForOp], step: SchedulePrimitive) -> list[ForOp]:
    """The perfectly nested loops from the outermost to the innermost of `named`; refuses other nests."""
    innermost = max(named, key=lambda loop: len(enclosing_loops(loop)))
    around = [*enclosing_loops(innermost), innermost]
    for loop in named:
        if loop not in around:
            reason = f"it is not in one nest with {innermost.loop_name!r}"
            raise refusal(step, f"loop {loop.loop_name!r}", reason, "reorder loops of one nest only")
    chain = around[min(around.index(loop) for loop in named) :]
    for outer, inner in pairwise(chain):
        if only_op(outer) is not inner:
            raise _not_perfect(outer, inner, step)
    return chain


def _not_perfect(outer: ForOp, inner: ForOp, step: SchedulePrimitive) -> Exception:
    others = [block for block in blocks_inside(outer) if not inner.is_ancestor(block)]
    names = ", ".join(repr(block.block_name) for block in others)
    reason = f"{inner.loop_name!r} is not perfectly nested in it: " + (
        f"block {names} is next to it" if others else "a buffer is allocated next to it"
    )
    inside = list(blocks_inside(inner))
    if any(reduces_over(block, inner) for block in inside):
        reason += f", and moving reduction {inner.loop_name!r} outwards would run it on partial results"
    return refusal(step, f"loop {outer.loop_name!r}", reason, "reorder the loops on each side of it separately")


def _check_order(chain: Sequence[ForOp], order: Sequence[ForOp], step: SchedulePrimitive) -> None:
    for loop in order[:-1]:
        if loop.kind is LoopKind.VECTORIZED:
            reason = "it is vectorized and would not stay innermost"
            raise refusal(step, f"loop {loop.loop_name!r}", reason, "reorder before vectorizing")
    for position, loop in enumerate(order):
        owner = None if loop.dynamic_extent is None else loop_of_index(loop.dynamic_extent)
        if owner is not None and owner in order[position:]:
            reason = f"its extent is the index of {owner.loop_name!r}"
            raise refusal(step, f"loop {loop.loop_name!r}", reason, "keep it inside")
    _check_kept_order(chain, order, step)


def _check_kept_order(chain: Sequence[ForOp], order: Sequence[ForOp], step: SchedulePrimitive) -> None:
    """Raises `ScheduleError` if loops whose relative order must stay would be in another order.

    Loops of ordered variables of one block must ascend. A reduction must not add to a point before the point is
    initialised: the first visit of a point has all reduce variables zero as long as the loops that drive both spatial
    and reduce variables keep their relative order. For example, after `fuse("j", "k")` and `split("j_k", 3)` of a
    reduction over 5, point j = 1 is visited at 5 = (1, 2) to 9 = (3, 0); with the inner loop outside, (2, 0) would come
    before (1, 2).
    """
    for block in blocks_inside(chain[-1]):
        ordered = [loop for loop in chain if is_ordered_in(block, loop)]
        mixed = [loop for loop in chain if block.has_init and reduces_over(block, loop) and is_spatial_in(block, loop)]
        for kept, text in (
            (ordered, "depends on the order of it and {}: each iteration uses the result of the previous one"),
            (
                mixed,
                "has spatial and reduce variables fused in it and in {}: in another order, some elements would be "
                "updated before their init",
            ),
        ):
            after = [loop for loop in order if loop in kept]
            moved = next((new for old, new in zip(kept, after, strict=True) if old is not new), None)
            if moved is not None:
                others = ", ".join(repr(loop.loop_name) for loop in kept if loop is not moved)
                reason = f"block {block.block_name!r} {text.format(others)}"
                advice = "keep the relative order of these loops"
                raise refusal(step, f"loop {moved.loop_name!r}", reason, advice)


def _rebuild(chain: Sequence[ForOp], order: Sequence[ForOp]) -> None:
    """Rebuilds the nest in the new order, with the ops of the innermost body."""
    content = list(chain[-1].body.block.ops)
    for op in [*content, *reversed(chain[1:])]:
        op.detach()
    place = chain[0].parent_block()
    if order[0] is not chain[0] and place is not None:
        place.insert_op_before(order[0], chain[0])
        chain[0].detach()
    for outer, inner in pairwise(order):
        outer.body.block.add_op(inner)
    order[-1].body.block.add_ops(content)


LoopReorderPass = primitive_pass(Reorder, "loops=k,i,j")
