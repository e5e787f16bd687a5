"""Schedules of several kernels: kernels that differ in extents alone share those of the most expensive ones.

`loop-parametrize-kernels` then replaces them by one kernel, and few schedules are tried. A network of 120 convolutions
may have five.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.dialects.loop.extents import index_arguments
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.shared.attribute_names import VERSION
from xrelay.lowering.topi_to_loop.schedules.candidates import in_order
from xrelay.lowering.topi_to_loop.schedules.choose_family import (
    FamilyProposals,
    KernelSchedule,
    Origin,
    proposals_for,
    schedule_kernel,
)
from xrelay.lowering.topi_to_loop.schedules.common_steps import work_of
from xrelay.lowering.topi_to_loop.schedules.kernel_view import KernelView
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.passes.loop.parametrize_kernels import kernels_by_structure, may_be_replaced, merged_on_schedule
from xrelay.target import Target
from xrelay.target.cpus import MIN_PARALLEL_WORK

SHARED: Final = 8
"""The maximum number of schedules that kernels which differ in extents alone share."""


def schedule_kernels(
    module: ModuleOp, kernels: Sequence[FuncOp], target: Target, origin: Origin = "all", *, only_merged: bool = False
) -> dict[FuncOp, KernelSchedule]:
    """Returns a schedule for each of the kernels of a module. Does not change them.

    With `only_merged`, kernels that cannot become one with others have no schedule: those without dynamic extents or
    versions that differ from all others in more than constant extents.

    Kernels share a schedule if they differ in extents alone, the same candidate with the same decisions is preferred
    for each, and `loop-parametrize-kernels` replaces them by one kernel. It is the schedule that `schedule_kernel`
    returns for the most expensive of them.
    """
    known = set(kernels)
    replaced = [kernel for kernel in may_be_replaced(module) if kernel in known]
    chosen: dict[FuncOp, KernelSchedule] = {}
    for group in kernels_by_structure(replaced) if len(replaced) > 1 else ():
        if len(group) > 1:
            chosen |= _schedule_group(group, target, origin)
    alone = set(_without_extents(module)) - chosen.keys() if only_merged else ()
    return {
        kernel: chosen[kernel] if kernel in chosen else schedule_kernel(kernel, target, origin)
        for kernel in kernels
        if kernel not in alone
    }


def _without_extents(module: ModuleOp) -> list[FuncOp]:
    """Returns the kernels that neither have dynamic extents or versions nor are versions."""
    found = kernels_of(module)
    versions = versions_by_kernel(found)
    return [
        kernel
        for kernel in found
        if not index_arguments(kernel) and VERSION not in kernel.attributes and kernel.sym_name.data not in versions
    ]


@dataclass(frozen=True)
class _Preference:
    """The proposals for a kernel, and the preferred one."""

    kernel: FuncOp
    found: FamilyProposals
    choice: Hashable
    """Decisions that kernels which share a schedule have in common; None if the kernel may not share one."""
    cycles: int


def _schedule_group(group: Sequence[FuncOp], target: Target, origin: Origin) -> dict[FuncOp, KernelSchedule]:
    """Returns the schedules of kernels that differ in extents alone."""
    by_choice: dict[Hashable, list[_Preference]] = {}
    for kernel in group:
        preference = _preference(kernel, target, origin)
        by_choice.setdefault(preference.choice, []).append(preference)
    chosen: dict[FuncOp, KernelSchedule] = {}
    for choice, preferences in by_choice.items():
        limit = 0 if choice is None else SHARED
        chosen |= _schedule_alike(preferences, target, origin, limit)
    return chosen


def _preference(kernel: FuncOp, target: Target, origin: Origin) -> _Preference:
    """Returns the preferred candidate of a kernel, if it reports its decisions."""
    found = proposals_for(kernel, target, origin)
    candidates = found.candidates if found.taken is None else ()
    first = next(in_order([candidate for _, candidate in candidates], found.view), None)
    decisions = None if first is None else candidates[first][1].decisions
    if first is None or decisions is None:
        return _Preference(kernel, found, None, 0)
    family, candidate = candidates[first]
    choice = family, candidate.name, decisions(), _parallel(found.view)
    return _Preference(kernel, found, choice, round(candidate.total(found.view).cycles))


def _parallel(view: KernelView) -> tuple[bool, ...]:
    """Returns for each block of a kernel whether several threads may share its work."""
    return tuple(view.target.threads > 1 and work_of(block) >= MIN_PARALLEL_WORK for block in view.blocks())


def _schedule_alike(
    preferences: Sequence[_Preference], target: Target, origin: Origin, limit: int
) -> dict[FuncOp, KernelSchedule]:
    """Returns the schedules of kernels with the same preferred candidate. At most `limit` of them are shared."""
    chosen: dict[FuncOp, KernelSchedule] = {}
    for first in sorted(preferences, key=lambda each: -each.cycles):
        if first.kernel in chosen:
            continue
        left = {each.kernel: each for each in preferences if each.kernel not in chosen}
        own = chosen[first.kernel] = schedule_kernel(first.kernel, target, origin, first.found)
        if limit == 0 or len(left) == 1:
            continue
        limit -= 1
        merged = merged_on_schedule(list(left), first.kernel, own.schedule)
        if merged is not None:
            shared = {kernel: replace(own, scheduled=None, cycles=left[kernel].cycles) for kernel in merged.kernels}
            chosen |= {**shared, first.kernel: replace(own, merged=merged)}
    return chosen
