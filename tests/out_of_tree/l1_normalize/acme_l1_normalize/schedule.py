"""The schedule of kernels with an L1 normalisation."""

from xrelay.extend import schedules

SUM = "l1_sum"


def schedule(draft: schedules.ScheduleDraft) -> bool:
    """Computes the sum of a row at the row's loop, vectorizes both, and distributes rows over threads."""
    blocks = {block.block_name: block for block in draft.blocks()}
    rows = schedules.loops_of_kind(draft.blocks()[-1], schedules.IterKind.SPATIAL)
    if SUM not in blocks or len(rows) < 2 or draft.attempt(schedules.ComputeAt(SUM, rows[-2])) is not None:
        return False
    schedules.vectorize_row(draft, rows[-1], draft.lanes(draft.blocks()[-1]))
    schedules.parallelize_outer(draft, rows[:-1], schedules.points(blocks[SUM]))
    draft.record_reason(f"{SUM} is computed at {rows[-2]}")
    return True


schedules.register_family("l1_normalize", schedule)
