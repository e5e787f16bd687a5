"""The operator as computes, and the schedule of kernels that contain it."""

from collections.abc import Sequence

from xdsl.dialects import math
from xdsl.ir import SSAValue

from acme_l1_normalize.ops import L1NormalizeOp
from xrelay.extend import schedules
from xrelay.extend.strategies import Body, TopiBuilder, element_of, implements, in_single, shape_of, variables

SUM = "l1_sum"


@implements(L1NormalizeOp, "l1_normalize.generic")
@in_single
def build(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """The sum of each row, and the elements divided by it."""
    data, axis = emitter.operand(0), emitter.integer("axis")
    shape, element = shape_of(data), element_of(data)
    axis %= len(shape)

    def add(b: Body) -> SSAValue:
        at = [*b.spatial[:axis], b.reduction[0], *b.spatial[axis:]]
        return b.accumulate(b.accumulators[0], b.add(math.AbsFOp(b.read(data, *at))))

    rows = variables("r", [*shape[:axis], *shape[axis + 1 :]])
    total = emitter.compute(SUM, rows, element, add, reduce={"k": shape[axis]}, init=[0.0])

    def divide(b: Body) -> SSAValue:
        return b.divide(b.read(data, *b.spatial), b.read(total, *b.spatial[:axis], *b.spatial[axis + 1 :]))

    return [emitter.compute("l1_normalize", variables("i", shape), element, divide)]


def schedule(draft: schedules.ScheduleDraft) -> bool:
    """Computes the sum of a row at the row's loop, vectorizes both, and distributes rows over threads."""
    blocks = {block.block_name: block for block in draft.blocks()}
    rows = schedules.loops_of_kind(draft.blocks()[-1], schedules.IterKind.SPATIAL)
    if SUM not in blocks or len(rows) < 2 or draft.attempt(schedules.ComputeAt(SUM, rows[-2])) is not None:
        return False
    schedules.vectorize_row(draft, rows[-1], draft.lanes(draft.blocks()[-1]))
    schedules.parallelize_outer(draft, rows[:-1], schedules.points(blocks[SUM]))
    draft.because(f"{SUM} is taken at {rows[-2]}")
    return True


schedules.register_family("l1_normalize", schedule)
