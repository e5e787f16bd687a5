"""The process of one engine: opens a model, runs it once, then a round of runs for each line that it reads.

    python -m xrelay.tools.comparison.worker FOLDER ENGINE THREADS CORE…

Answers are lines of JSON on standard output, which is closed to everything else that the engine prints. The first has
the costs of opening the model and of its first run, each later one the milliseconds of the runs of a round.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

from xrelay.tools.comparison.engines import ENGINES, Run, Workload

WARMUP = 2
"""Runs after the first that are not measured."""
LEAST_RUNS, MOST_RUNS = 3, 1000
"""Runs of a round, whatever its length in seconds."""


def main() -> None:
    """Serve one engine until standard input ends."""
    folder, engine, threads = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    cores = {int(core) for core in sys.argv[4:]}
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    workload, inputs = Workload.load(folder)
    start, cpu = time.perf_counter(), cpu_seconds()
    run = ENGINES[engine](workload, inputs, threads)
    outputs = run()
    costs = {"seconds": time.perf_counter() - start, "cpu": cpu_seconds() - cpu, "peak": peak_megabytes()}
    np.savez(folder / f"{engine}.npz", *outputs)
    for _ in range(WARMUP):
        run()
    answers.write(json.dumps(costs) + "\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(round_of_runs(run, float(line))) + "\n")
        answers.flush()


def round_of_runs(run: Run, seconds: float) -> dict[str, list[float]]:
    """Milliseconds of wall and of CPU time of each run, for about `seconds`."""
    wall: list[float] = []
    cpu: list[float] = []
    end = time.perf_counter() + seconds
    run()  # brings the caches back that another engine used
    while len(wall) < LEAST_RUNS or (time.perf_counter() < end and len(wall) < MOST_RUNS):
        started, start = time.process_time_ns(), time.perf_counter_ns()
        run()
        wall.append((time.perf_counter_ns() - start) / 1e6)
        cpu.append((time.process_time_ns() - started) / 1e6)
    return {"wall": wall, "cpu": cpu}


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_megabytes() -> float:
    """The most resident memory that this process has had."""
    try:
        # ru_maxrss of Linux is not reset by exec: it may be the parent's.
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    main()
