"""`fuse` and the pass `loop-fuse`: two nested loops become one."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import ForOp, Tail, ValueMap
from xrelay.dialects.loop.extents import expression_of
from xrelay.dialects.loop.schedule import Fuse
from xrelay.passes.loop.nest_edits import extent_value, replace_indices
from xrelay.passes.loop.nest_queries import blocks_inside, only_op, reduces_over
from xrelay.passes.loop.primitives.legality import check_new_names, find_loop, refusal, static_extent
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites


@rewrites(Fuse)
def fuse(kernel: func.FuncOp, step: Fuse) -> list[str]:
    """Replaces `step.outer` and `step.inner`, directly inside it, by one loop `step.name` (default `<outer>_<inner>`).

    ```
    loop.for "n" %n to 2 {
      loop.for "c" %c to 8 {
        loop.block "b" (%vn : spatial 2 = %n, %vc : spatial 8 = %c) …
    ```
    becomes with `fuse("n", "c")`
    ```
    loop.for "n_c" %n_c to 16 {
      loop.block "b" (%vn : spatial 2 = %n_c floordiv 8, %vc : spatial 8 = %n_c mod 8) …
    ```

    Raises `ScheduleError` for loops that are not perfectly nested or are of different kinds, for an inner loop whose
    extent is a value, and for a reduction with such an extent fused with a spatial loop.
    """
    outer, inner = find_loop(kernel, step.outer, step), find_loop(kernel, step.inner, step)
    name = f"{step.outer}_{step.inner}" if step.name is None else step.name
    inner_extent = _check(kernel, outer, inner, name, step)
    index, outer_index = inner.index, outer.index
    tail = inner.tail if outer.tail is Tail.PEEL else outer.tail
    fused = ForOp(
        name,
        extent_value(kernel, ValueMap.constant(0).plus(expression_of(outer.bound), inner_extent), f"{name}_extent"),
        inner.detach_region(0),
        kind=outer.kind,
        tail=tail,
        no_unroll=outer.no_unroll or inner.no_unroll,
    )
    index.name_hint = name
    assert outer.parent is not None, "it is in the kernel"
    outer.parent.insert_op_before(fused, outer)
    whole = AffineDimExpr(0)
    replace_indices(
        {
            outer_index: ValueMap.make([whole // inner_extent], (index,)),
            index: ValueMap.make([whole % inner_extent], (index,)),
        }
    )
    outer.detach()
    outer.erase()
    return [name]


def _check(kernel: func.FuncOp, outer: ForOp, inner: ForOp, name: str, step: Fuse) -> int:
    """Returns the extent of the inner loop; raises `ScheduleError` if the loops cannot be fused."""
    if only_op(outer) is not inner:
        reason = f"{step.inner!r} is not the only op directly inside it"
        raise refusal(step, f"loop {step.outer!r}", reason, "bring the two loops next to each other with reorder")
    if outer.kind is not inner.kind:
        reason = f"it is {outer.kind}, {step.inner!r} is {inner.kind}"
        raise refusal(step, f"loop {step.outer!r}", reason, "fuse before choosing kinds")
    check_new_names(kernel, [name], {step.outer, step.inner}, step)
    for block in blocks_inside(inner):
        if outer.extent is None and block.has_init and reduces_over(block, outer) and not reduces_over(block, inner):
            reason = f"block {block.block_name!r} reduces over it: without iterations, its init would not run"
            raise refusal(step, f"loop {step.outer!r}", reason, "fuse spatial loops")
    return static_extent(inner, step)


LoopFusePass = primitive_pass(Fuse, "outer=n inner=c into=nc")
