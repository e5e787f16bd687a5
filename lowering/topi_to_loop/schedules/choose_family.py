"""Selects the schedule of a kernel: families propose candidates, and the cheapest legal one is applied.

Registered families are tried first. If a family schedules the kernel itself, its schedule is used. If it returns
candidates, they compete by cost with those of the built-in families.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Literal

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.attribute_names import SCHEDULE_CYCLES, SCHEDULE_REASON
from xrelay.errors import LoweringError, ScheduleError
from xrelay.lowering.topi_to_loop.schedules.attention import propose_attention
from xrelay.lowering.topi_to_loop.schedules.block_products import propose_block_products
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal, in_order
from xrelay.lowering.topi_to_loop.schedules.common_steps import propose_injective
from xrelay.lowering.topi_to_loop.schedules.conv2d import propose_conv2d_nchw, propose_conv2d_nchwc
from xrelay.lowering.topi_to_loop.schedules.kernel_view import KernelView
from xrelay.lowering.topi_to_loop.schedules.matmul import propose_batch_matmul, propose_dense
from xrelay.lowering.topi_to_loop.schedules.reduction import propose_pool, propose_reductions, split_long_sums
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.softmax import propose_softmax
from xrelay.lowering.topi_to_loop.schedules.winograd import propose_winograd
from xrelay.passes.loop.parametrize_kernels import MergedKernels
from xrelay.plugins import load_plugins
from xrelay.raised import combine_classes, raised
from xrelay.registrations import note_caller, note_registration
from xrelay.target import Target

Family = Callable[[ScheduleDraft], bool | Sequence[Proposal]]
"""Returns candidates for the kernel of a draft, or none if the family does not apply.

A family without costs schedules the draft itself, by its primitives, and returns True; or False if it does not apply.
"""

FAMILIES: dict[str, Callable[[KernelView], Sequence[Proposal]]] = {
    "conv2d_nchwc": propose_conv2d_nchwc,
    "conv2d_nchw": propose_conv2d_nchw,
    "winograd": propose_winograd,
    "dense": propose_dense,
    "block_products": propose_block_products,
    "batch_matmul": propose_batch_matmul,
    "attention": propose_attention,
    "pool": propose_pool,
    "softmax": propose_softmax,
    "reduction": propose_reductions,
    "injective": propose_injective,
}
"""The built-in families. Of candidates whose costs are equal, that of the first family is applied."""

REGISTERED: dict[str, Family] = {}
"""The families of other packages and of programs, latest first; `register_family` adds one.

They replace the built-in family of the same name.
"""

NO_FAMILY: Final = "none"
"""The family name of a kernel that no family accepts."""

Origin = Literal["all", "registered", "own"]
"""The set of families to try."""


def register_family(name: str, family: Family) -> None:
    """Registers a family of another package; it is tried before all others, and replaces a family of the same name."""
    others = {other: known for other, known in REGISTERED.items() if other != name}
    REGISTERED.clear()
    REGISTERED.update({name: family, **others})
    note_registration(family)
    note_caller()


def registered_families() -> dict[str, Family]:
    """Returns the registered families by name, in the order in which they are tried. Loads the installed plug-ins."""
    load_plugins("schedules")
    return dict(REGISTERED)


_MOST_CYCLES = (1 << 63) - 1
"""Eight dynamic extents of the typical size exceed it."""


@dataclass(frozen=True)
class KernelSchedule:
    """The primitives for a kernel, the family that chose them, and the reason."""

    family: str
    """`NO_FAMILY` if no family accepts the kernel."""
    schedule: ScheduleAttr
    reason: str
    refused: Mapping[str, str]
    """Reasons why schedules of other families are not legal, by family."""
    scheduled: func.FuncOp | None
    """A copy of the kernel with the schedule applied; None if the schedule is that of another kernel."""
    cycles: int | None = None
    """The cycles that the cost model expects; None for a schedule without a cost."""
    merged: MergedKernels | None = None
    """The kernel that replaces this kernel and those with its schedule, if it is known."""

    def describe(self, kernel: func.FuncOp) -> None:
        """Sets the attributes of a kernel that hold the reason for the schedule and the expected cycles."""
        kernel.attributes[SCHEDULE_REASON] = StringAttr(self.reason)
        if self.cycles is not None:
            kernel.attributes[SCHEDULE_CYCLES] = IntegerAttr(min(self.cycles, _MOST_CYCLES), i64)


@dataclass(frozen=True)
class FamilyProposals:
    """The answers of the families for a kernel."""

    view: KernelView
    """The kernel as it is; candidates estimate their costs on it."""
    taken: tuple[str, ScheduleDraft] | None
    """The registered family that has scheduled the kernel itself, and its draft."""
    proposals: Sequence[tuple[str, Proposal]]
    """The proposals of the families, in their order."""
    refused: Mapping[str, str]
    """Reasons why the schedules of registered families are not legal, by family."""

    @property
    def candidates(self) -> Sequence[tuple[str, Candidate]]:
        """The proposals that are candidates."""
        return [(name, proposal) for name, proposal in self.proposals if isinstance(proposal, Candidate)]


def proposals_for(kernel: func.FuncOp, target: Target, origin: Origin = "all") -> FamilyProposals:
    """Returns the proposals of the families of an origin, up to the first family that schedules the kernel itself.

    Raises `LoweringError` with the name of a registered family that raises another error than `ScheduleError`. So do
    the functions of its candidates.
    """
    refused: dict[str, str] = {}
    proposals: list[tuple[str, Proposal]] = []
    view, draft, registered = KernelView(kernel, target), None, registered_families()
    for name, family in registered.items() if origin != "own" else ():
        draft = draft if draft is not None and draft.is_fresh else ScheduleDraft(kernel, target)
        try:
            with _naming(name):
                answer = family(draft)
                if answer is not True:
                    proposals += [(name, _with_name(name, proposal)) for proposal in answer or ()]
            if answer is True:
                split_long_sums(draft)
                return FamilyProposals(view, (name, draft), proposals, refused)
        except ScheduleError as error:
            refused[name] = error.message
    for name, propose in FAMILIES.items() if origin != "registered" else ():
        try:
            proposals += [(name, proposal) for proposal in propose(view)] if name not in registered else []
        except ScheduleError as error:
            refused[name] = error.message
    return FamilyProposals(view, None, proposals, refused)


@contextmanager
def _naming(family: str) -> Generator[None]:
    """Adds the name of a registered family to errors inside, except `ScheduleError`."""
    try:
        yield
    except ScheduleError:
        raise
    except Exception as error:
        if family not in REGISTERED:
            raise
        hint = "set XRELAY_DEBUG=1 for a traceback"
        failed = LoweringError(f"the schedule family {family!r} {raised(error)}", help=hint)
        raise combine_classes(failed, error) from error


def _with_name(family: str, proposal: Proposal) -> Proposal:
    """Returns a proposal of a family whose functions raise errors with the name of the family."""
    if family not in REGISTERED or not isinstance(proposal, Candidate):
        return proposal
    naming = _naming(family)
    return replace(proposal, estimate=naming(proposal.estimate), apply=naming(proposal.apply))


def schedule_kernel(
    kernel: func.FuncOp, target: Target, origin: Origin = "all", found: FamilyProposals | None = None
) -> KernelSchedule:
    """Returns the schedule of a kernel on a target: the cheapest candidate that is legal. Does not change the kernel.

    Schedules that are not legal are skipped, and named in the reason. `found` are the proposals, if they are known.
    """
    found = proposals_for(kernel, target, origin) if found is None else found
    refused = dict(found.refused)
    if found.taken is not None:
        return _kernel_schedule(*found.taken, refused)
    candidates, view, draft = found.candidates, found.view, ScheduleDraft(kernel, target)
    for index in in_order([candidate for _, candidate in candidates], view):
        name, candidate = candidates[index]
        try:
            apply_candidate(candidate, draft)
        except ScheduleError as error:
            refused.setdefault(name, error.message)
            draft = ScheduleDraft(kernel, target)
            continue
        return _kernel_schedule(name, draft, refused, cycles=round(candidate.total(view).cycles))
    reason = _reason([f"{NO_FAMILY}: no family accepts the kernel"], refused)
    return KernelSchedule(NO_FAMILY, ScheduleAttr([]), reason, refused, draft.kernel)


def apply_candidate(candidate: Candidate, draft: ScheduleDraft) -> None:
    """Schedules the kernel of a draft by a candidate; raises `ScheduleError` if that is not legal."""
    candidate.apply(draft)
    split_long_sums(draft)


def _kernel_schedule(
    family: str, draft: ScheduleDraft, refused: Mapping[str, str], cycles: int | None = None
) -> KernelSchedule:
    reason = ": ".join(filter(None, (family, _reason(draft.reasons, refused))))
    return KernelSchedule(family, draft.schedule.attr, reason, refused, draft.kernel, cycles)


def _reason(reasons: Sequence[str], refused: Mapping[str, str]) -> str:
    return "; ".join([*reasons, *(f"{name} failed: {why}" for name, why in refused.items())])
