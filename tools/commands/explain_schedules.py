"""`xrelay explain schedule`: the candidates for the schedule of each kernel, their costs, and the chosen one."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.func import FuncOp

from xrelay.dialects.loop.schedule import primitive_text
from xrelay.errors import InputError, did_you_mean
from xrelay.lowering.kernel_units import sources_of
from xrelay.lowering.topi_to_loop.explain_schedules import ExplainedSchedule, RankedSchedule
from xrelay.target import Target

WIDTH = 120
"""The maximum length of a line."""

FORMAT_VERSION = 1
"""The version of the JSON form."""


def select_kernels(kernels: Sequence[FuncOp], name: str | None) -> Sequence[FuncOp]:
    """Returns the kernels with this name or source location, or all kernels without a name.

    Raises `InputError` if there is no such kernel.
    """
    if name is None:
        return kernels
    plain = name.removeprefix("@")
    names = [(kernel.sym_name.data, *sources_of(kernel)) for kernel in kernels]
    chosen = [kernel for kernel, words in zip(kernels, names, strict=True) if plain in words]
    if not chosen:
        known = sorted({word for words in names for word in words})
        hint = did_you_mean(plain, known, "leave out --kernel to see all")
        raise InputError(f"no kernel is called {name!r}", help=hint)
    return chosen


def schedule_lines(explained: Iterable[ExplainedSchedule], target: Target, *, in_full: bool) -> Iterator[str]:
    """Yields the lines of the ranking of each kernel; `in_full` with the primitives of the chosen schedule."""
    yield f"estimated cycles on {target}"
    for kernel in explained:
        sources = f" of {', '.join(kernel.sources)}" if kernel.sources else ""
        yield from _wrapped(f"@{kernel.kernel}{sources}", "", "  ")
        if kernel.given is not None:
            reason = f": {kernel.given_reason}" if kernel.given_reason is not None else ""
            yield from _wrapped(f"the schedule is given{reason}", "  ", "    ")
        elif kernel.ranking:
            yield f"  {'cycles':>12} {'arithmetic':>12} {'memory':>12}  candidate"
        for ranked in kernel.ranking:
            yield from _ranked_lines(ranked, is_chosen=ranked is kernel.chosen)
        if in_full:
            yield from _full_lines(kernel)


def _ranked_lines(ranked: RankedSchedule, *, is_chosen: bool) -> Iterator[str]:
    cost = ranked.cost
    numbers = ["-"] * 3 if cost is None else [f"{x:,.0f}" for x in (cost.cycles, cost.arithmetic, cost.memory)]
    head = f"{'*' if is_chosen else ' '} {' '.join(f'{number:>12}' for number in numbers)}  "
    name = f"{ranked.family}: {ranked.name}" if ranked.name else ranked.family
    reason = ranked.reason if ranked.refused is None else f"refused: {ranked.refused}"
    yield from _wrapped(f"{name}; {reason}" if reason else name, head, " " * (len(head) + 2))


def _full_lines(kernel: ExplainedSchedule) -> Iterator[str]:
    chosen = kernel.chosen
    schedule = kernel.given if chosen is None else chosen.schedule
    if chosen is not None and chosen.decisions:
        yield "  decisions"
        for decision in chosen.decisions:
            yield from _wrapped(decision, "    ", "      ")
    if schedule is not None:
        yield "  primitives"
        yield from (f"    {primitive_text(step)}" for step in schedule.data)


def _wrapped(text: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def schedules_to_json(explained: Iterable[ExplainedSchedule], target: Target) -> str:
    """Returns the rankings as JSON."""
    kernels = [kernel.as_data() for kernel in explained]
    return json.dumps({"version": FORMAT_VERSION, "target": str(target), "kernels": kernels}, indent=2)
