"""`contract` and the pass `loop-contract`: each lane of a loop sums the products of the loop inside."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, LoopKind, ValueMap
from xrelay.dialects.loop.extents import extents_of
from xrelay.dialects.loop.for_op import MAX_LANES
from xrelay.dialects.loop.schedule import Contract
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.loop.nest_queries import only_op
from xrelay.passes.loop.primitives.dot_products import DotStep, dot_step
from xrelay.passes.loop.primitives.legality import check_serial, find_loop, refusal, static_extent
from xrelay.passes.loop.primitives.rewrites import primitive_pass, rewrites
from xrelay.passes.loop.primitives.vectorize import over_loops, stride_along


@rewrites(Contract)
def contract(kernel: func.FuncOp, step: Contract) -> None:
    """Marks `step.lanes` as vectorized and `step.loop`, directly inside it, as contracted.

    ```
    loop.for "o" %o to 16 {
      loop.for "k" %k to 4 {
        loop.block "dot" (%vo : spatial 16 = %o, %vk : reduce 4 = %k) reads(%X, %W) writes(%Y) {…}
      }
    }
    ```
    becomes
    ```
    loop.for "o" %o to 16 vectorized {
      loop.for "k" %k to 4 contracted {
        loop.block "dot" (%vo : spatial 16 = %o, %vk : reduce 4 = %k) reads(%X, %W) writes(%Y) {…}
      }
    }
    ```

    The block adds the product of two bytes to an i32: `X[…, %vk]`, the same in every lane, and `W[…, %vo, %vk]`. One
    factor is ui8, the other i8. The four bytes of each lane are contiguous, and so are the lanes. Or the block adds the
    product of two bf16 to an f32: `%vk` has two iterations, and the factors are in this order. CPUs have instructions
    for these operations.

    Raises `ScheduleError` for any other block, a loop that has another number of iterations, more than 1024 lanes,
    extents known only at run time, loops that are not serial, and factors in another order.
    """
    lanes, loop = find_loop(kernel, step.lanes, step), find_loop(kernel, step.loop, step)
    subject = f"loop {step.loop!r}"
    if only_op(lanes) is not loop:
        reason = f"it is not the only loop directly inside of {step.lanes!r}"
        raise refusal(step, subject, reason, "reorder the loops first")
    terms = static_extent(loop, step)
    if (count := static_extent(lanes, step)) > MAX_LANES:
        reason = f"it has {count} iterations, a vector at most {MAX_LANES} lanes"
        raise refusal(step, f"loop {step.lanes!r}", reason, "split it, and contract the inner loop")
    check_serial(lanes, LoopKind.VECTORIZED, step, "contract serial loops")
    check_serial(loop, LoopKind.CONTRACTED, step, "contract serial loops")
    block = only_op(loop)
    if not isinstance(block, BlockOp):
        raise refusal(step, subject, "it does not contain exactly one block", "contract an innermost loop")
    if (dot := dot_step(block.body.block)) is not None and terms != dot.terms:
        reason = f"it has {terms} iterations, {dot.terms} products are added up at once"
        raise refusal(step, subject, reason, f"split it by {dot.terms} and contract the inner loop")
    problems = [_problem(each, lanes, loop) for each in ((None,) if dot is None else dot.orders)]
    if (problem := problems[0]) is not None and None not in problems:
        reason = f"block {block.block_name!r} {problem}"
        raise refusal(step, subject, reason, "vectorize the loop of lanes, or change the layout")
    lanes.kind, loop.kind, loop.no_unroll = LoopKind.VECTORIZED, LoopKind.CONTRACTED, False


def _problem(found: DotStep | None, lanes: ForOp, loop: ForOp) -> str | None:
    """Returns the reason why a block is not a dot product in lanes, or `None`."""
    if found is None:
        return "does not add the product of a ui8 and an i8 to an i32, or of two bf16 to an f32"
    stride = ElementStrides()
    if stride(found.sum, loop) != 0:
        return "does not add up along it"
    if stride(found.sum, lanes) != 1:
        return f"has its sums {stride(found.sum, lanes)} elements apart in neighbouring lanes, not 1"
    for load, wanted in ((found.data, (0, 1)), (found.weight, (found.terms, 1))):
        strides = stride(load, lanes), stride(load, loop)
        if strides != wanted:
            return f"reads factors {strides} elements apart along the two loops, not {wanted}"
    return None


class ElementStrides:
    """The distances in elements between the reads of consecutive iterations of loops, while the loops do not change.

    The distance is `None` if it varies, and `DYNAMIC_INDEX` if it is known only at run time.
    """

    def __init__(self) -> None:
        self._dimensions = dict[LoadOp, list[tuple[ValueMap, int]]]()

    def __call__(self, load: LoadOp, loop: ForOp) -> int | None:
        """Returns the distance of a load along a loop."""
        if load not in self._dimensions:
            self._dimensions[load] = _dimensions_of(load)
        total, is_known, counter = 0, True, loop.index
        for index, step in self._dimensions[load]:
            own = stride_along(index, counter)
            if own is None:
                return None
            is_known = is_known and (own == 0 or step != 0)
            total += own * step
        return total if is_known else DYNAMIC_INDEX


def _dimensions_of(load: LoadOp) -> list[tuple[ValueMap, int]]:
    """Returns the index of each dimension over loops, with the distance of its elements; 0 if that is not known."""
    index, step = over_loops(load.index), 1
    found: list[tuple[ValueMap, int]] = []
    for position, extent in reversed(list(enumerate(extents_of(load.memref)))):
        found.append((index[position], step))
        step = step * extent if isinstance(extent, int) else 0
    return found


LoopContractPass = primitive_pass(Contract, "loop=k lanes=o", EXACT)
