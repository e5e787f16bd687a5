"""`tune` measures the best candidates for the schedule of each kernel of a model, and appends records to a file.

Another process compiles and runs the candidates (`process.py`). If it crashes or hangs, it is started again, and
the candidates of the kernel are measured one by one.
"""

from __future__ import annotations

import select
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from os import PathLike
from types import TracebackType
from typing import Final, Self

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from xrelay import environment
from xrelay.api.kernels.workers import read_message, write_message
from xrelay.api.request import chosen_level, chosen_target
from xrelay.api.sources import Shapes, Source, load_source
from xrelay.api.stage_runner import Progress, StageRunner, selected_passes
from xrelay.api.tuning.messages import TuningAnswer, TuningJob, TuningTask
from xrelay.arguments import GivenShapes, checked_integer, checked_path, checked_shapes
from xrelay.dialects.loop import WeightOp
from xrelay.dialects.loop.extents import index_arguments
from xrelay.dialects.loop.signature import input_arguments
from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.dialects.shared.op_lists import calls_by_callee
from xrelay.errors import ArtifactError, InputError, did_you_mean
from xrelay.lowering.kernel_units import isolated_kernel, sources_of
from xrelay.lowering.pipelines import compile_stages, remaining_stages, stages_before
from xrelay.lowering.topi_to_loop.explain_schedules import RankedSchedule, explain_schedule
from xrelay.lowering.topi_to_loop.tuning_records import (
    FORMAT_VERSION,
    Measurement,
    TuningRecord,
    append_record,
    kernel_digest,
    read_records,
    records_by_kernel,
)
from xrelay.passes.infra.printing import print_module
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.target.host import host_facts
from xrelay.target.target import Target
from xrelay.version import __version__

_MODULE: Final = "xrelay.api.tuning.process"
"""The module that the measuring process runs."""
TIMEOUT_SECONDS: Final = 60.0
"""The time to compile a candidate, or to measure those of a kernel, after which the process is ended."""
DEFAULT_CANDIDATES: Final = 8
CONFIRMATIONS: Final = 3
"""How often the default and the best candidate are measured again, as long as they differ."""


@dataclass(frozen=True)
class TunedKernel:
    """The record of a kernel of the model, with the number of kernels of the model that are equal to it."""

    record: TuningRecord
    count: int
    is_new: bool
    """Whether the record was measured now, and not found in the file."""


@dataclass(frozen=True)
class TuningSummary:
    """The result of `tune`."""

    kernels: tuple[TunedKernel, ...]
    """The kernels with several candidates."""
    decided: int
    """The number of kernels without a choice: one legal candidate, or a schedule that they already had."""
    dynamic: int
    """The number of kernels with dynamic extents, which are not measured."""


def tune(
    source: Source,
    records: str | PathLike[str],
    *,
    target: str | Target | None = None,
    opt_level: int | None = None,
    threads: int | None = None,
    shapes: GivenShapes | None = None,
    candidates: int = DEFAULT_CANDIDATES,
    kernel: str | None = None,
    again: bool = False,
    progress: Progress | None = None,
) -> TuningSummary:
    """Measures the candidates for the schedule of each kernel of a model, and appends the times to a file.

    `compile(source, records=records)` then uses the fastest. The candidates are the `candidates` cheapest that the
    families propose, see `xrelay explain schedule`. Each kernel runs by itself, with random floats and zero integers.
    The file gets one line a kernel, so that a run that is interrupted continues where it ended: kernels with a record
    are skipped, unless `again`. `kernel` selects the kernels with this name or source. `source`, `target`, `opt_level`,
    `threads`, `shapes` and `progress` are those of `compile`; kernels with dynamic extents are not measured, so
    `shapes` should fix all inputs. Measure on a machine without other work.

    Raises the errors of `compile`, and `InputError` for a target that is not this machine, for an unknown `kernel`, and
    for a file that cannot be read or written.
    """
    path, chosen = checked_path("the file of records", records), chosen_target(target, threads)
    if not chosen.runs_here():
        raise InputError(f"code for {chosen} does not run here", help="tune on a machine with that CPU")
    number = checked_integer("candidates", candidates)
    if number < 2:
        raise InputError(f"candidates is {number}, at least 2 are needed to choose")
    level = chosen_level(opt_level)
    found = _kernels(source, chosen, level, checked_shapes(shapes), kernel)
    known = records_by_kernel(read_records(path) if path.exists() else (), str(chosen))
    tuned: list[TunedKernel] = []
    decided = 0
    with MeasuringProcess(chosen) as process:
        for done, each in enumerate(found.kernels):
            if progress is not None:
                progress(done, len(found.kernels), each.name)
            record = None if again else known.get(each.digest)
            is_new = record is None
            if record is None:
                record = _measured(each, chosen, level, number, process)
                if record is not None:
                    append_record(path, record)
            if record is None:
                decided += each.count
            else:
                tuned.append(TunedKernel(record, each.count, is_new))
    if progress is not None:
        progress(len(found.kernels), len(found.kernels), "done")
    return TuningSummary(tuple(tuned), decided, found.dynamic)


@dataclass(frozen=True)
class _Kernel:
    """A kernel of the model without schedule."""

    function: func.FuncOp
    digest: str
    name: str
    weights: tuple[bool, ...]
    """Whether each input is a weight in the first call of the kernel."""
    count: int


@dataclass(frozen=True)
class _Kernels:
    """The different kernels of a model, and the number of those with dynamic extents."""

    kernels: tuple[_Kernel, ...]
    dynamic: int


def _kernels(source: Source, target: Target, opt_level: int, shapes: Shapes, name: str | None) -> _Kernels:
    """Returns the kernels of a model, or those with a name or source; equal kernels once."""
    module = _module_of_kernels(source, target, opt_level, shapes)
    all_kernels = kernels_of(module)
    chosen = [kernel for kernel in all_kernels if name is None or name.removeprefix("@") in _names(kernel)]
    if name is not None and not chosen:
        names = sorted({each for kernel in all_kernels for each in _names(kernel)})
        raise InputError(f"no kernel is called {name!r}", help=did_you_mean(name, names, "leave it out to tune all"))
    found: dict[str, _Kernel] = {}
    calls = _weight_operands(module)
    static = [kernel for kernel in chosen if not index_arguments(kernel)]
    for kernel in static:
        digest = kernel_digest(kernel)
        count = found[digest].count + 1 if digest in found else 1
        weights = tuple(number in calls.get(kernel.sym_name.data, ()) for number in range(len(input_arguments(kernel))))
        found[digest] = _Kernel(kernel, digest, kernel.sym_name.data, weights, count)
    return _Kernels(tuple(found.values()), len(chosen) - len(static))


def _module_of_kernels(source: Source, target: Target, opt_level: int, shapes: Shapes) -> ModuleOp:
    """Returns the model at the loop level before schedules are assigned."""
    module = load_source(source, shapes=shapes)
    stages = compile_stages(
        opt_level=opt_level,
        vector_lanes=target.lanes(),
        schedule_target=str(target),
        tile_products=target.tile_products,
        selection=selected_passes(),
    )
    with target:
        StageRunner(stages_before("loop-assign-schedules", remaining_stages(stages, module))).run(module)
    return module


def _weight_operands(module: ModuleOp) -> dict[str, set[int]]:
    """Returns the numbers of the operands that are weights in the first call of each function."""
    return {
        name: {number for number, operand in enumerate(calls[0].arguments) if isinstance(operand.owner, WeightOp)}
        for name, calls in calls_by_callee(module).items()
    }


def _names(kernel: func.FuncOp) -> tuple[str, ...]:
    """Returns the symbol of a kernel and the nodes that it computes."""
    return kernel.sym_name.data, *sources_of(kernel)


def _measured(
    kernel: _Kernel, target: Target, opt_level: int, number: int, process: MeasuringProcess
) -> TuningRecord | None:
    """Returns the record of a kernel; `None` if it has no choice, or if its first candidate fails."""
    if SCHEDULE in kernel.function.attributes:
        return None
    ranking = explain_schedule(kernel.function, target).ranking
    schedules = {str(ranked.schedule): ranked for ranked in reversed(ranking) if ranked.schedule is not None}
    chosen = list(reversed(schedules.items()))[:number]
    if len(chosen) < 2:
        return None
    text = print_module(isolated_kernel(kernel.function), generic=True)
    job = TuningJob(text, opt_level, tuple(schedule for schedule, _ in chosen), kernel.weights)
    measured = [
        Measurement(_label(ranked), schedule, time)
        for (schedule, ranked), time in zip(chosen, process.measure(job), strict=True)
    ]
    if not measured[0].nanoseconds:
        return None
    record = TuningRecord(
        version=FORMAT_VERSION,
        kernel=kernel.digest,
        name=kernel.name,
        sources=sources_of(kernel.function),
        target=str(target),
        machine=host_facts().cpu,
        packages={"xrelay": __version__, **{name: version(name) for name in ("xdsl", "llvmlite")}},
        measured=tuple(measured),
    )
    for _ in range(CONFIRMATIONS):
        if record.best is not record.default:
            record = _confirmed(record, job, process)
    return record


def _confirmed(record: TuningRecord, job: TuningJob, process: MeasuringProcess) -> TuningRecord:
    """Returns the record after the default and the best candidate were measured again: the least time counts."""
    again = (record.default, record.best)
    times = process.measure(replace(job, schedules=tuple(each.schedule for each in again)))
    known = {each.schedule: time for each, time in zip(again, times, strict=True) if time}
    measured = [
        replace(each, nanoseconds=min(each.nanoseconds, known.get(each.schedule, each.nanoseconds)))
        for each in record.measured
    ]
    return replace(record, measured=tuple(measured))


def _label(ranked: RankedSchedule) -> str:
    return f"{ranked.family}: {ranked.name}" if ranked.name else ranked.family


class MeasuringProcess:
    """The process that measures candidates; it is started when it is needed, and again when it has ended."""

    def __init__(self, target: Target):
        self._target = target
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def measure(self, job: TuningJob) -> tuple[int, ...]:
        """Returns the least time of a call for each schedule of a job; 0 for those that fail, crash or hang."""
        times = self._answer(job)
        if times is not None:
            return times
        alone = [self._answer(replace(job, schedules=(schedule,))) for schedule in job.schedules]
        return tuple(0 if times is None else times[0] for times in alone)

    def _answer(self, job: TuningJob) -> tuple[int, ...] | None:
        """Returns the times of a job; `None` if the process ended or answered too late."""
        process = self._running()
        try:
            _write(process, asdict(job))
            for _ in range(len(job.schedules) + 1):
                answer = _next_answer(process)
                if answer is None:
                    break
                if answer.nanoseconds:
                    return answer.nanoseconds
        except OSError:  # the pipe is broken
            pass
        self._end()
        return None

    def _running(self) -> subprocess.Popen[bytes]:
        """Returns the process, and starts it if necessary."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment.with_one_thread(),
            )
            _write(self._process, asdict(TuningTask(str(self._target), host_facts())))
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # pending writes may fail
                    stream.close()


def _write(process: subprocess.Popen[bytes], message: Mapping[str, object]) -> None:
    if process.stdin is not None:
        write_message(process.stdin, message)


def _next_answer(process: subprocess.Popen[bytes]) -> TuningAnswer | None:
    """Returns the next answer of a process; `None` if it ended or answered too late."""
    if process.stdout is None or not select.select([process.stdout], [], [], TIMEOUT_SECONDS)[0]:
        return None
    try:
        return read_message(process.stdout, TuningAnswer)
    except (OSError, ArtifactError):
        return None
