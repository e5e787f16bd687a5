"""Candidates: schedules that a family proposes for a kernel, with their estimated costs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from xrelay.lowering.topi_to_loop.schedules.cost_model import Cost, rest_cost
from xrelay.lowering.topi_to_loop.schedules.kernel_view import KernelView
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tile_model import MIN_GAIN


@dataclass(frozen=True)
class Candidate:
    """A schedule that a family proposes. It is applied only if it is the cheapest."""

    name: str
    """A name that is unique among the candidates of the family for the kernel."""
    reason: str
    """The parameters of the schedule, and the reason to propose it."""
    estimate: Callable[[], Cost] = field(repr=False)
    """Returns the cost of the blocks in `covers`."""
    apply: Callable[[ScheduleDraft], object] = field(repr=False)
    """Schedules the kernel of a draft; raises `ScheduleError` if that is not legal.

    The draft has its own copy of the kernel, so blocks and loops are looked up in it by name.
    """
    covers: frozenset[str] | None = None
    """The blocks that this candidate schedules in its own way; None for all. The others are scheduled one by one."""
    decisions: Callable[[], Hashable] | None = field(default=None, repr=False)
    """Returns the decisions of `apply` that depend on extents and are not in the name.

    Kernels that differ in extents alone may share a schedule if these are equal; None if they may not.
    """

    @cached_property
    def cost(self) -> Cost:
        """The cost of the blocks in `covers`, estimated once."""
        return self.estimate()

    def total(self, view: KernelView) -> Cost:
        """Returns the cost of the whole kernel."""
        return self.cost if self.covers is None else self.cost + rest_cost(view, self.covers)


@dataclass(frozen=True)
class Refusal:
    """A schedule of a family that is not possible for the kernel, with the reason."""

    name: str
    reason: str


Proposal: TypeAlias = Candidate | Refusal


def cheapest(candidates: Sequence[Candidate], view: KernelView) -> int:
    """Returns the index of the cheapest candidate; of candidates whose costs are nearly equal, the first."""
    if len(candidates) == 1:
        return 0
    same = len({candidate.covers for candidate in candidates}) == 1
    costs = [(candidate.cost if same else candidate.total(view)).cycles for candidate in candidates]
    best = 0
    for index, cost in enumerate(costs):
        if cost < costs[best] * (1 - MIN_GAIN):
            best = index
    return best


def in_order(candidates: Sequence[Candidate], view: KernelView) -> Iterator[int]:
    """Yields the indices of the candidates in the order of preference, each time the cheapest of the others."""
    left = list(range(len(candidates)))
    while left:
        yield left.pop(cheapest([candidates[index] for index in left], view))
