"""`vectorize` and the pass `loop-vectorize`: turns the iterations of a loop into lanes of vectors."""

from __future__ import annotations

from typing import Final

from xdsl.dialects import func, scf
from xdsl.ir import SSAValue

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, LoopKind, RowOp, StoreOp, ValueMap
from xrelay.dialects.loop.extents import in_loop_indices
from xrelay.dialects.loop.for_op import MAX_LANES
from xrelay.dialects.loop.schedule import Vectorize
from xrelay.dialects.shared.op_lists import is_kind, ops_in
from xrelay.index_algebra.affine_bounds import stride
from xrelay.passes.loop.nest_edits import simplified
from xrelay.passes.loop.nest_queries import blocks_inside, reduces_over, structure_of
from xrelay.passes.loop.primitives.legality import check_serial, find_loop, refusal, static_extent
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites

MAX_STRIDE: Final = 4
"""The maximum distance in a row of the elements that neighbouring lanes read by shuffles of whole vectors.

Elements at greater distances are read one by one.
"""


@rewrites(Vectorize)
def vectorize(kernel: func.FuncOp, step: Vectorize) -> None:
    """Marks `step.loop` as vectorized.

    ```
    loop.for "c_i" %c_i to 16 {
      loop.block "b" (…, %v : spatial 16 = %c_i) reads(%X) writes(%Y) {…}
    ```
    becomes
    ```
    loop.for "c_i" %c_i to 16 vectorized {
      loop.block "b" (…, %v : spatial 16 = %c_i) reads(%X) writes(%Y) {…}
    ```

    Every access inside is then contiguous in the lanes (stride 1 in the last dimension) or the same for all lanes. With
    `access = masked`, branches may differ between lanes, and accesses in them are masked. With `access = any`, all
    other accesses are allowed too, also at computed indices that differ between lanes; each lane is then accessed
    separately. Raises `ScheduleError` for a reduction, a loop that is not innermost, accesses with another stride or
    computed indices that differ between lanes, conditions and computations that depend on the lane, a sort, more than
    1024 iterations, and extents known only at run time.
    """
    loop = find_loop(kernel, step.loop, step)
    subject = f"loop {step.loop!r}"
    if (extent := static_extent(loop, step)) > MAX_LANES:
        reason = f"it has {extent} iterations, a vector at most {MAX_LANES} lanes"
        raise refusal(step, subject, reason, "split it and vectorize the inner loop")
    check_serial(loop, LoopKind.VECTORIZED, step, "vectorize a serial loop")
    inner = next((op for op in structure_of(loop) if isinstance(op, ForOp)), None)
    if inner is not None:
        reason = f"it is not innermost: loop {inner.loop_name!r} is inside it"
        raise refusal(step, subject, reason, "make it innermost with reorder, or split and vectorize the inner loop")
    for block in blocks_inside(loop):
        if reduces_over(block, loop):
            reason = f"block {block.block_name!r} reduces over it: its iterations add to the same element"
            raise refusal(step, subject, reason, "vectorize a loop of a spatial variable")
        if (problem := _lane_problem(block, loop, step.access)) is not None:
            reason = f"block {block.block_name!r} {problem}"
            raise refusal(step, subject, reason, "vectorize another loop, or change the layout")
    loop.kind = LoopKind.VECTORIZED


def _lane_problem(block: BlockOp, loop: ForOp, access: str) -> str | None:
    """The reason why the body cannot run for all lanes at once, or `None`."""
    bindings = block.bindings
    variables = {v for k, v in enumerate(block.variables) if loop.index in bindings[k].operands}
    if block.has_init:
        variables |= {block.init.block.args[n] for n, k in enumerate(block.spatial) if block.variables[k] in variables}
    lanes: set[SSAValue] = {*variables, loop.index}
    fixed = set(block.variables) - lanes
    inside = [op for region in block.regions for op in ops_in(region)]
    for op in inside:
        if is_kind(type(op), (RowOp,)):
            return "works on whole rows"
        if type(op) is LoadOp or type(op) is StoreOp:
            problem = _access_problem(op, loop, lanes - {loop.index} - variables, fixed, access)
            if problem is not None:
                return problem
        elif any(operand in lanes for operand in op.operands):
            if isinstance(op, scf.IfOp) and access != "any":
                if access == "rows":
                    return "runs different branches in different lanes"
                if not any(map(_is_position, op.results)):
                    continue
            lanes.update(op.results)
            # Conditions and indices are checked at their uses.
            if access == "any" or all(map(_is_position, op.results)):
                continue
            return f"computes with its index in '{op.name}'"
    return None


def _is_position(value: SSAValue) -> bool:
    """Whether a value is an index or a condition."""
    return str(value.type) in ("index", "i1")


def _access_problem(
    op: LoadOp | StoreOp, loop: ForOp, computed: set[SSAValue], fixed: set[SSAValue], access: str
) -> str | None:
    """The reason why the access cannot be vectorized, or `None`; `computed` differs between lanes, `fixed` does not."""
    word = "reads" if isinstance(op, LoadOp) else "writes"
    index = op.index
    is_computed = any(operand in computed for operand in index.operands)
    if is_computed and access != "any":
        return f"{word} at an index that is computed for each lane"
    strides = [
        0 if fixed.issuperset(index[k].operands) else index_stride(index[k], loop.index) for k in range(len(index))
    ]
    if access != "any" and (any(s != 0 for s in strides[:-1]) or (strides and strides[-1] not in (0, 1))):
        return f"{word} with strides {strides} in its buffer's dimensions: only the last may differ from 0, and be 1"
    if isinstance(op, StoreOp) and strides and not is_computed and all(s == 0 for s in strides):
        return "writes the same element from every lane"
    return None


def index_stride(index: ValueMap, value: SSAValue) -> int | None:
    """The increase of the one expression of `index` per iteration of a loop; `None` if it varies."""
    return stride_along(over_loops(index), value)


def over_loops(index: ValueMap) -> ValueMap:
    """`index` over loop indices, simplified by their ranges: (jo * 64 + ji) mod 64 is ji."""
    return simplified(in_loop_indices(index))


def stride_along(bound: ValueMap, value: SSAValue) -> int | None:
    """The `index_stride` of an expression of `over_loops`."""
    return stride(bound.exprs[0], bound.operands.index(value)) if value in bound.operands else 0


LoopVectorizePass = primitive_pass(Vectorize, "loop=c_i")
