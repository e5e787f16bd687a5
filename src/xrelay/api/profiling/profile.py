"""`Profile`, the time that a run of a compiled model spends in each kernel, and `profile_runs`, which measures it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Final, TypeAlias

from xrelay.api.profiling.data import GIGA, KernelProfile, ProfileData
from xrelay.errors import ArtifactError, DimensionError
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.call_tracer import CallTracer, TracedCall
from xrelay.runtime.dim_text import evaluate
from xrelay.runtime.executable import Executable
from xrelay.runtime.kernel_work import KernelWork
from xrelay.runtime.metadata import KernelInfo
from xrelay.runtime.roofline import Roofline, measured_roofline

WARMUP: Final = 2
"""The number of unmeasured runs."""

Run: TypeAlias = Callable[[Executable], object]
"""Runs a model by an executable."""


class Profile(ProfileData):
    """The fastest of several traced runs of a model. `str(profile)` is a table."""

    def trace_text(self) -> str:
        """Returns the calls as a trace in Chrome's JSON format, which Perfetto and `chrome://tracing` show."""
        from xrelay.api.profiling.trace import trace_text

        return trace_text(self)

    def roofline_svg(self) -> str:
        """Returns a chart of the kernels under the roofline of this machine, as SVG."""
        from xrelay.api.profiling.chart import roofline_svg

        return roofline_svg(self)

    def __str__(self) -> str:
        from xrelay.api.profiling.table import table

        return table(self)

    def _repr_html_(self) -> str:
        """Returns the table and the chart as HTML, for notebooks."""
        from xrelay.api.profiling.notebook import profile_html

        return profile_html(self, self.roofline_svg())


def profile_runs(artifact: Artifact, untraced: Executable, run: Run, *, runs: int, threads: int) -> Profile:
    """Runs a model alternately with and without tracing, `runs` times each, and returns the fastest traced run."""
    tracer = CallTracer(artifact.metadata.kernels)
    traced = Executable(artifact, tracer)
    roofline = measured_roofline(threads)
    found: list[tuple[int, int, list[TracedCall]]] = []
    others: list[int] = []
    for _ in range(WARMUP):
        run(untraced)
        _traced_run(traced, tracer, run)
    for _ in range(runs):
        begin = perf_counter_ns()
        run(untraced)
        others.append(perf_counter_ns() - begin)
        found.append(_traced_run(traced, tracer, run))
    duration, start, events = min(found, key=lambda each: each[0])
    kernels, numbers = _kernels(artifact.metadata.kernels, events, duration, roofline)
    return Profile(
        artifact.metadata.name,
        duration / GIGA,
        min(others) / GIGA,
        threads,
        kernels,
        roofline,
        start,
        tuple(TracedCall(numbers[each.kernel], each.thread, each.start, each.end, each.is_part, each.extents)
              for each in events),
    )  # fmt: skip


def _traced_run(traced: Executable, tracer: CallTracer, run: Run) -> tuple[int, int, list[TracedCall]]:
    """Returns duration and start in nanoseconds, and the events of a run; repeats it while memory is too small."""
    while True:
        tracer.begin()
        start = perf_counter_ns()
        run(traced)
        duration, events = perf_counter_ns() - start, tracer.end()
        if events is not None:
            return duration, start, events


def _kernels(
    known: Sequence[KernelInfo], events: Sequence[TracedCall], duration: int, roofline: Roofline
) -> tuple[tuple[KernelProfile, ...], dict[int, int]]:
    """Returns the kernels by decreasing time, and maps their numbers in the model to positions."""
    calls: defaultdict[int, list[TracedCall]] = defaultdict(list)
    workers: defaultdict[int, set[int]] = defaultdict(set)
    for event in events:
        if event.is_part:
            workers[event.kernel].add(event.thread)
        else:
            calls[event.kernel].append(event)
    order = sorted(calls, key=lambda number: -_nanoseconds(calls[number]))
    profiles = tuple(
        _kernel(known, number, calls[number], max(1, len(workers[number])), duration, roofline) for number in order
    )
    return profiles, {number: position for position, number in enumerate(order)}


def _nanoseconds(calls: Sequence[TracedCall]) -> int:
    return sum(call.end - call.start for call in calls)


def _kernel(
    known: Sequence[KernelInfo],
    number: int,
    calls: Sequence[TracedCall],
    threads: int,
    duration: int,
    roofline: Roofline,
) -> KernelProfile:
    kernel = known[number]
    equal = [each for each in known if each.code == kernel.code]
    seconds, work = _nanoseconds(calls) / GIGA, kernel.work
    operations = [_amount(work.operations, call.extents) for call in calls]
    sizes = [_amount(work.bytes, call.extents) for call in calls]
    pairs = [pair for pair in zip(operations, sizes, strict=True) if None not in pair]
    least = sum(roofline.least_seconds(count or 0, size or 0) for count, size in pairs)
    return KernelProfile(
        name=" = ".join(each.symbol for each in equal),
        sources=tuple(dict.fromkeys(source for each in equal for source in each.sources)),
        schedule=work.schedule,
        calls=len(calls),
        seconds=seconds,
        share=seconds * GIGA / duration,
        threads=threads,
        operations=_total(operations),
        bytes=_total(sizes),
        expected_seconds=_expected_seconds(work, calls, roofline),
        roofline_share=least / seconds if len(pairs) == len(calls) and seconds else None,
    )


def _expected_seconds(work: KernelWork, calls: Sequence[TracedCall], roofline: Roofline) -> float | None:
    """Returns the time of calls by the cost model, `None` if unknown.

    The estimate for the typical extents is scaled by the operations, or by the bytes of a kernel that only moves data.
    """
    typical, counted = _amount(work.operations, work.typical), work.operations
    if not typical:
        typical, counted = _amount(work.bytes, work.typical), work.bytes
    amounts = [_amount(counted, call.extents) for call in calls]
    total = _total(amounts)
    return work.cycles / roofline.cycles * total / typical if work.cycles and typical and total is not None else None


def _amount(text: str, extents: Sequence[int]) -> int | None:
    """Returns the value of a text over the extents of a call; `None` if it is unknown."""
    try:
        return evaluate(text, {f"d{number}": size for number, size in enumerate(extents)}) if text else None
    except (DimensionError, ArtifactError):
        return None


def _total(amounts: Sequence[int | None]) -> int | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
