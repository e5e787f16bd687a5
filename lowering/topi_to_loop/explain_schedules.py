"""Explains the schedules of kernels: all candidates with their costs, legal or not, in the order of preference.

`explain_schedules` returns the ranking of each kernel as data. It applies every candidate to a copy of the kernel,
while a compilation applies candidates only until one is legal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.loop.schedule import primitive_text
from xrelay.dialects.shared.attribute_names import SCHEDULE, SCHEDULE_REASON
from xrelay.errors import ScheduleError
from xrelay.lowering.kernel_units import sources_of
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Refusal, in_order
from xrelay.lowering.topi_to_loop.schedules.choose_family import apply_candidate, proposals_for
from xrelay.lowering.topi_to_loop.schedules.cost_model import Cost
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.target import Target


@dataclass(frozen=True)
class RankedSchedule:
    """A schedule that a family proposes or refuses for a kernel."""

    family: str
    name: str
    """The name of the candidate; empty for a family that schedules kernels itself."""
    reason: str
    cost: Cost | None
    """The estimated cost of the whole kernel; None if the schedule has no estimate."""
    schedule: ScheduleAttr | None
    """The primitives; None if the schedule is not legal."""
    refused: str | None = None
    """The reason why the schedule is not legal, or why its family excludes it."""
    decisions: tuple[str, ...] = ()
    """The decisions that were made while the schedule was applied."""

    def as_data(self, *, is_chosen: bool) -> dict[str, object]:
        """Returns the schedule for JSON."""
        cost, schedule = self.cost, self.schedule
        keys = ("cycles", "arithmetic", "memory")
        return {
            "family": self.family,
            "name": self.name,
            "reason": self.reason,
            "cost": None if cost is None else {key: round(getattr(cost, key)) for key in keys},
            "refused": self.refused,
            "chosen": is_chosen,
            "schedule": None if schedule is None else list(map(primitive_text, schedule.data)),
            "decisions": list(self.decisions),
        }


@dataclass(frozen=True)
class ExplainedSchedule:
    """The choice of the schedule of a kernel."""

    kernel: str
    sources: tuple[str, ...]
    """The source locations of the kernel's ops."""
    ranking: tuple[RankedSchedule, ...]
    """The schedules in the order of preference, then those without an estimate."""
    given: ScheduleAttr | None = None
    """The schedule that the kernel had already; no other is then proposed."""
    given_reason: str | None = None

    @property
    def chosen(self) -> RankedSchedule | None:
        """The first legal schedule."""
        return next((ranked for ranked in self.ranking if ranked.schedule is not None), None)

    def as_data(self) -> dict[str, object]:
        """Returns the ranking for JSON."""
        return {
            "kernel": self.kernel,
            "sources": list(self.sources),
            "given": None if self.given is None else list(map(primitive_text, self.given.data)),
            "ranking": [ranked.as_data(is_chosen=ranked is self.chosen) for ranked in self.ranking],
        }


def explain_schedules(module: ModuleOp, target: Target) -> list[ExplainedSchedule]:
    """Explains the schedule of every kernel of a module at the loop level. Does not change the module."""
    return [explain_schedule(kernel, target) for kernel in kernels_of(module)]


def explain_schedule(kernel: func.FuncOp, target: Target) -> ExplainedSchedule:
    """Explains the schedule of a kernel. Does not change the kernel."""
    name, sources = kernel.sym_name.data, sources_of(kernel)
    if isinstance(given := kernel.attributes.get(SCHEDULE), ScheduleAttr):
        reason = kernel.attributes.get(SCHEDULE_REASON)
        return ExplainedSchedule(name, sources, (), given, reason.data if isinstance(reason, StringAttr) else None)
    return ExplainedSchedule(name, sources, tuple(_ranking(kernel, target)))


def _ranking(kernel: func.FuncOp, target: Target) -> Iterator[RankedSchedule]:
    """Yields the schedules of a kernel in the order of preference, then refused ones without an estimate."""
    found = proposals_for(kernel, target)
    if found.taken is not None:
        family, draft = found.taken
        schedule, decisions = draft.schedule.attr, tuple(draft.reasons)
        yield RankedSchedule(family, "", "registered without a cost", None, schedule, None, decisions)
    proposals = [(family, each) for family, each in found.proposals if isinstance(each, Candidate)]
    for index in in_order([candidate for _, candidate in proposals], found.view):
        family, candidate = proposals[index]
        draft, cost = ScheduleDraft(kernel, target), candidate.total(found.view)
        try:
            apply_candidate(candidate, draft)
        except ScheduleError as error:
            yield RankedSchedule(family, candidate.name, candidate.reason, cost, None, error.message)
            continue
        decisions = tuple(draft.reasons)
        yield RankedSchedule(family, candidate.name, candidate.reason, cost, draft.schedule.attr, None, decisions)
    for family, refusal in found.proposals:
        if isinstance(refusal, Refusal):
            yield RankedSchedule(family, refusal.name, "", None, None, refusal.reason)
    for family, reason in found.refused.items():
        yield RankedSchedule(family, "", "", None, None, reason)
