"""Seeded random schedules of primitives that are often legal."""

from __future__ import annotations

from random import Random

from xdsl.dialects import func

from xrelay.dialects.loop import ForOp, SchedulePrimitive, Tail
from xrelay.dialects.loop.schedule import (
    CacheInplace,
    CacheRead,
    CacheWrite,
    ComputeAt,
    Cut,
    DisableUnroll,
    Fuse,
    Parallelize,
    PartialSums,
    Reorder,
    ReverseComputeAt,
    Rfactor,
    SetTail,
    ShareResult,
    Split,
    StorageAlign,
    Tile,
    Unroll,
    Vectorize,
)
from xrelay.errors import ScheduleError
from xrelay.passes.loop.nest_queries import blocks_of, enclosing_loops, loops_of, only_op
from xrelay.passes.loop.schedule import Schedule

TRIES = 40


def random_primitive(kernel: func.FuncOp, random: Random) -> SchedulePrimitive:
    """A primitive on loops and blocks of the kernel."""
    loops, blocks = loops_of(kernel), sorted(blocks_of(kernel))
    loop, other = random.choice(sorted(loops)), random.choice(sorted(loops))
    factor, tail = random.randint(1, 5), random.choice(list(Tail))
    pairs = [(name, inner.loop_name) for name, op in loops.items() if isinstance(inner := only_op(op), ForOp)]
    around = [op.loop_name for op in enclosing_loops(loops[loop])]
    order = random.sample([*around, loop], random.randint(1, len(around) + 1))
    return random.choice(
        [
            Split(loop, factor, tail),
            Split(loop, factor, tail),
            Cut(loop, random.randint(0, 3), random.randint(1, 3)),
            Fuse(*random.choice(pairs)) if pairs else Unroll(loop),
            Reorder(tuple(order)),
            Reorder(tuple(order)),
            Tile(loop, other, factor, random.randint(1, 5), tail),
            Unroll(loop),
            Vectorize(loop),
            Parallelize(loop),
            CacheWrite(random.choice(blocks)),
            CacheRead(random.choice(blocks), random.randint(0, 2), random.randint(-1, 1)),
            ComputeAt(random.choice(blocks), loop),
            ComputeAt(random.choice(blocks), loop),
            PartialSums(random.choice(blocks), loop),
            CacheInplace(random.choice(blocks), loop),
            Rfactor(random.choice(blocks), loop),
            ReverseComputeAt(random.choice(blocks), loop),
            ShareResult(random.choice(blocks)),
            StorageAlign(random.choice(blocks), random.randint(0, 2), factor + 1, factor),
            SetTail(loop, tail),
            DisableUnroll(loop),
        ]
    )


def random_schedule(kernel: func.FuncOp, random: Random) -> Schedule:
    """Applies two to nine primitives; checks that an illegal primitive leaves the kernel unchanged and is named."""
    schedule = Schedule(kernel)
    wanted = random.randint(2, 9)
    for _ in range(TRIES):
        if len(schedule.primitives) == wanted:
            break
        step, before = random_primitive(kernel, random), str(kernel)
        refusal: ScheduleError | None = None
        try:
            schedule.apply(step)
        except ScheduleError as error:
            refusal = error
        if refusal is not None:
            assert refusal.message.startswith(step.primitive)
            assert str(kernel) == before
    return schedule
