"""Schedules of kernels: families that propose a schedule, the primitives they apply, and new primitives.

    register_family("l1_normalize", schedule_l1_normalize)  # (ScheduleDraft) -> bool or candidates

A family examines the draft of a kernel and returns False if it does not apply to the kernel. If it schedules the kernel
and returns True, its schedule is used. It may also return `Candidate`s, which compete with those of other families by
their `Cost`; each is applied to a draft of its own. A primitive is a frozen dataclass decorated with
`@register_primitive`; a function decorated with `@rewrites(…)` implements it.
"""

from xrelay.dialects.loop import BlockOp, IterKind
from xrelay.dialects.loop.schedule import (
    CacheInplace,
    CacheRead,
    CacheWrite,
    ComputeAt,
    DisableUnroll,
    Fuse,
    Guard,
    Parallelize,
    PartialSums,
    Prefetch,
    Reorder,
    ReverseComputeAt,
    Rfactor,
    SchedulePrimitive,
    SetTail,
    ShareResult,
    Split,
    StorageAlign,
    Tile,
    Unroll,
    Vectorize,
    register_primitive,
)
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Refusal
from xrelay.lowering.topi_to_loop.schedules.choose_family import register_family
from xrelay.lowering.topi_to_loop.schedules.common_steps import (
    parallelize_outer,
    schedule_remaining,
    vectorize_fold,
    vectorize_row,
)
from xrelay.lowering.topi_to_loop.schedules.cost_model import Cost
from xrelay.lowering.topi_to_loop.schedules.kernel_view import KernelView, loops_of_kind, points, readers_of
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.passes.loop.primitives.rewrites import rewrites

__all__ = [
    "BlockOp",
    "CacheInplace",
    "CacheRead",
    "CacheWrite",
    "Candidate",
    "ComputeAt",
    "Cost",
    "DisableUnroll",
    "Fuse",
    "Guard",
    "IterKind",
    "KernelView",
    "Parallelize",
    "PartialSums",
    "Prefetch",
    "Refusal",
    "Reorder",
    "ReverseComputeAt",
    "Rfactor",
    "ScheduleDraft",
    "ScheduleError",
    "SchedulePrimitive",
    "SetTail",
    "ShareResult",
    "Split",
    "StorageAlign",
    "Tile",
    "Unroll",
    "Vectorize",
    "loops_of_kind",
    "parallelize_outer",
    "points",
    "readers_of",
    "register_family",
    "register_primitive",
    "rewrites",
    "schedule_remaining",
    "vectorize_fold",
    "vectorize_row",
]
