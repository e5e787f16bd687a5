"""The process of one engine: opens a model, runs it once, then runs a round for each line that it reads.

    python -m xrelay.tools.comparison.worker FOLDER ENGINE THREADS CORE…

Answers are lines of JSON on standard output; other output of the engine is redirected to stderr. The first answer has
the costs of opening the model and of its first run, and each later one the milliseconds of the runs of a round.
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
"""The unmeasured runs after the first."""
LEAST_RUNS, MOST_RUNS = 3, 1000
"""The minimum and maximum number of runs of a round."""


def main() -> None:
    """Serves one engine until standard input ends."""
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
    """Returns the milliseconds of wall and of CPU time of each run, for about `seconds`."""
    wall: list[float] = []
    cpu: list[float] = []
    end = time.perf_counter() + seconds
    run()  # reloads the caches that another engine used
    while len(wall) < LEAST_RUNS or (time.perf_counter() < end and len(wall) < MOST_RUNS):
        started, start = time.process_time_ns(), time.perf_counter_ns()
        run()
        wall.append((time.perf_counter_ns() - start) / 1e6)
        cpu.append((time.process_time_ns() - started) / 1e6)
    return {"wall": wall, "cpu": cpu}


def cpu_seconds() -> float:
    """Returns the CPU time of this process and of its children that have ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_megabytes() -> float:
    """Returns the peak resident memory of this process."""
    try:
        # Linux does not reset ru_maxrss on exec, so it may be the parent's.
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    main()
