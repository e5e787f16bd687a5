"""A process that measures schedules of kernels for another process, see `tuner.py`.

It ends at the end of its input. A schedule whose code crashes or hangs ends only this process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter_ns, process_time_ns
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.parser import Parser

from xrelay.api.build_artifact import build_artifact
from xrelay.api.kernels.worker_process import worker_streams
from xrelay.api.kernels.workers import read_message, write_message
from xrelay.api.model import CompiledModel
from xrelay.api.tuning.messages import TuningAnswer, TuningJob, TuningTask
from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.errors import XRelayError
from xrelay.lowering.kernel_units import kernel_of
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.runtime.metadata import TensorSpec
from xrelay.target.host import set_host_facts
from xrelay.target.target import Target

MIN_ROUNDS: Final = 5
"""The number of rounds in which each candidate runs at least once."""
ROUNDS_NANOSECONDS: Final = 60_000_000
"""The time of each candidate's runs, unless they are fewer than `MIN_ROUNDS`."""
MAX_SETS: Final = 8
"""The maximum number of sets of weights."""


class CandidateRunner:
    """A kernel with one schedule, and its arguments.

    Runs take sets of weights in turn. Together the sets exceed the L2 cache, because a kernel of a network finds its
    weights outside of it, and its other inputs inside.
    """

    def __init__(self, model: CompiledModel, is_weight: Sequence[bool], l2_bytes: int):
        self._model = model
        # Other work on the machine changes the least CPU time little, but threads make it longer.
        self._clock = process_time_ns if model.num_threads == 1 else perf_counter_ns
        size = sum(spec.nbytes for spec, rotates in zip(model.inputs, is_weight, strict=True) if rotates)
        count = min(MAX_SETS, max(1, math.ceil(2 * l2_bytes / size))) if size else 1
        data = [_values(spec) for spec in model.inputs]
        self._sets = [
            [array.copy() if rotates else array for array, rotates in zip(data, is_weight, strict=True)]
            for _ in range(count)
        ]
        self._outputs = [np.empty(spec.known_shape, spec.numpy_dtype) for spec in model.outputs]
        self.nanoseconds = 0
        """The least time of a run so far."""
        self._runs = 0

    def run(self) -> None:
        """Runs the kernel once with the next set of weights, and updates the least time."""
        inputs = self._sets[self._runs % len(self._sets)]
        self._runs += 1
        start = self._clock()
        self._model.run(inputs, out=self._outputs)
        time = self._clock() - start
        self.nanoseconds = min(self.nanoseconds or time, time)


def _values(spec: TensorSpec) -> NDArray[Any]:
    """Returns values for an input: normal floats; zeros for integers, which are in range as indices and sizes."""
    if np.issubdtype(spec.numpy_dtype, np.floating):
        return np.random.default_rng(0).standard_normal(spec.known_shape).astype(spec.numpy_dtype)
    return np.zeros(spec.known_shape, spec.numpy_dtype)


def candidate_model(context: Context, job: TuningJob, schedule: str, target: Target) -> CompiledModel:
    """Returns the kernel of a job compiled with a schedule. Raises the errors of `compile`."""
    module = parse_module(context, job.kernel, "kernel")
    kernel_of(module).attributes[SCHEDULE] = Parser(context, schedule, "schedule").parse_attribute()
    artifact = build_artifact(module, target, cache=False, opt_level=job.opt_level).artifact
    return CompiledModel(artifact, num_threads=target.threads)


def measure(candidates: Sequence[CandidateRunner | None]) -> tuple[int, ...]:
    """Returns the least time of each candidate; 0 for those that are `None`. They run in turn, round by round."""
    running = [candidate for candidate in candidates if candidate is not None]
    start, rounds = perf_counter_ns(), 0
    while rounds < MIN_ROUNDS or perf_counter_ns() - start < ROUNDS_NANOSECONDS * len(running):
        rounds += 1
        for candidate in running:
            candidate.run()
    return tuple(0 if candidate is None else candidate.nanoseconds for candidate in candidates)


def main() -> None:
    """Serves standard input."""
    with worker_streams() as (requests, answers):
        task: TuningTask | None = read_message(requests, TuningTask)
        if task is None:
            return
        set_host_facts(task.host)
        target, context = Target.parse(task.target), full_context()
        while (job := read_message(requests, TuningJob)) is not None:
            found: list[CandidateRunner | None] = []
            for schedule in job.schedules:
                try:
                    model = candidate_model(context, job, schedule, target)
                    found.append(CandidateRunner(model, job.weights, target.l2))
                except XRelayError:
                    found.append(None)
                write_message(answers, TuningAnswer().message())
            write_message(answers, TuningAnswer(measure(found)).message())


if __name__ == "__main__":
    main()
