"""The thread pool: cost of a parallel loop, balance, locality, a busy core, and two callers at once.

    python benchmarks/bench_threads.py [--threads N] [--rounds N]

Each case runs parallel loops with one thread and with several, in turns. The table lists the microseconds of a loop
(the fastest round of an undisturbed case, the median round of a disturbed one) and a ratio with its goal.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter_ns

import numpy as np

from xrelay.runtime.abi import Context
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.object_code.llvm_compiler import compile_ir
from xrelay.runtime.object_code.native_library import NativeLibrary
from xrelay.runtime.thread_pool import thread_pool

# `work` takes costs[i] steps of a chain of multiplications for each index i, and `rows` updates a row of 1024 floats.
BODIES = """
declare i32 @xrelay_parallel_for(ptr, ptr, ptr, i64)
define i32 @work(ptr %ctx, ptr %env, i64 %begin, i64 %end) {
entry:
  br label %index
index:
  %i = phi i64 [ %begin, %entry ], [ %i.next, %index.end ]
  %p = getelementptr i64, ptr %env, i64 %i
  %steps = load i64, ptr %p
  %any = icmp sgt i64 %steps, 0
  br i1 %any, label %step, label %index.end
step:
  %s = phi i64 [ %steps, %index ], [ %s.next, %step ]
  %same = call i64 asm sideeffect "imul $$1, $1, $0", "=r,r"(i64 %s)
  %s.next = sub i64 %same, 1
  %more.steps = icmp sgt i64 %s.next, 0
  br i1 %more.steps, label %step, label %index.end
index.end:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %end
  br i1 %more, label %index, label %exit
exit:
  ret i32 0
}
define i32 @rows(ptr %ctx, ptr %env, i64 %begin, i64 %end) {
entry:
  %first = mul i64 %begin, 64
  %last = mul i64 %end, 64
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %i.next, %loop ]
  %p = getelementptr <16 x float>, ptr %env, i64 %i
  %x = load <16 x float>, ptr %p, align 64
  %y = fmul <16 x float> %x, %x
  store <16 x float> %y, ptr %p, align 64
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %last
  br i1 %more, label %loop, label %exit
exit:
  ret i32 0
}
define i32 @repeat(ptr %ctx, ptr %body, ptr %env, i64 %n, i64 %times) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %r = call i32 @xrelay_parallel_for(ptr %ctx, ptr %body, ptr %env, i64 %n)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %times
  br i1 %more, label %loop, label %exit
exit:
  ret i32 %r
}
"""
STEPS_PER_MICROSECOND = 700
ROW = 1024
BURST = 8
"""The measurements of a round."""
SPIN = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
print(flush=True)
while True:
    pass
"""


@dataclass(frozen=True)
class Loop:
    """A parallel loop over `data`: its body's address, its iterations, and how often a round runs it."""

    body: int
    data: np.ndarray
    iterations: int
    times: int


class Bench:
    """The compiled bodies, and the number of threads to compare with one."""

    def __init__(self, threads: int):
        pool = thread_pool()
        code = compile_ir(BODIES, cpu="", features="")
        exports = ("work", "rows", "repeat")
        self._library = NativeLibrary.load([code], exports=exports, imports={"xrelay_parallel_for": pool.parallel_for})
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, pointer, number, number)
        self._repeat = prototype(self._library.address("repeat"))
        self.threads = threads

    def work(self, microseconds: Sequence[float], times: int) -> Loop:
        """Returns a loop whose iterations take these times."""
        steps = np.array([each * STEPS_PER_MICROSECOND for each in microseconds], np.int64)
        return Loop(self._library.address("work"), steps, steps.size, times)

    def rows(self, count: int, times: int) -> Loop:
        """Returns a loop over rows of 4 KiB."""
        memory = np.zeros(count * ROW + 16, np.float32)
        start = -memory.ctypes.data % 64 // 4
        return Loop(self._library.address("rows"), memory[start:], count, times)

    def time(self, loop: Loop, threads: int) -> float:
        """Returns the microseconds that one execution of a loop takes."""
        context = Context(0, threads)
        start = perf_counter_ns()
        self._repeat(ctypes.addressof(context), loop.body, loop.data.ctypes.data, loop.iterations, loop.times)
        return (perf_counter_ns() - start) / 1e3 / loop.times

    def one_and_several(
        self, loop: Loop, rounds: int, best: Callable[[Sequence[float]], float] = min
    ) -> tuple[float, float]:
        """Returns the microseconds of a loop with one thread, and with several."""
        times: dict[int, list[float]] = {1: [], self.threads: []}
        for _ in range(rounds):
            for threads, measured in times.items():
                self.time(loop, threads)  # wakes the workers
                measured += [self.time(loop, threads) for _ in range(BURST)]
        return best(times[1]), best(times[self.threads])

    def callers(self, loop: Loop, together: bool) -> float:
        """Returns the microseconds of a loop of each of two callers, together or one after the other."""
        start = perf_counter_ns()
        callers = [threading.Thread(target=self.time, args=(loop, self.threads)) for _ in range(2)]
        for caller in callers:
            caller.start()
            if not together:
                caller.join()
        for caller in callers:
            caller.join()
        return (perf_counter_ns() - start) / 1e3 / loop.times


@contextmanager
def busy_core() -> Generator[None]:
    """Keeps the last available core busy with another process."""
    core = max(os.sched_getaffinity(0))
    with subprocess.Popen([sys.executable, "-c", SPIN, str(core)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def line(name: str, one: float, several: float, ratio: float, goal: float) -> None:
    """Prints a row of the table."""
    verdict = "" if ratio <= goal else "  MISSED"
    print(f"{name:34} {one:10.2f} {several:10.2f} {ratio:8.2f} {goal:8.2f}{verdict}", flush=True)


def print_overhead(bench: Bench, rounds: int) -> None:
    """Prints the microseconds of a loop without work."""
    one, several = bench.one_and_several(bench.work([0] * 64, 1000), rounds)
    line("empty, one thread (µs)", one, several, one, 0.2)
    line("empty, several threads (µs)", one, several, several, 2.0)


def print_balance(bench: Bench, rounds: int) -> None:
    """Prints how loops scale with even work, with uneven work, and with data in the caches of the threads."""
    cases = {f"even, {total} µs": bench.work([total / 64] * 64, max(2, 2000 // total)) for total in (10, 100, 1000)}
    cases |= {
        "uneven, rising": bench.work([each / 32 for each in range(64)], 20),
        "uneven, heavy end": bench.work([0.5] * 48 + [5.0] * 16, 20),
        "uneven, one heavy of 16": bench.work([10.0] * 15 + [50.0], 20),
        "rows of 1 MiB a thread": bench.rows(256 * bench.threads, 20),
    }
    for name, loop in cases.items():
        one, several = bench.one_and_several(loop, rounds)
        line(name, one, several, several / one, 1.1 / bench.threads)


def print_busy_core(bench: Bench, rounds: int) -> None:
    """Prints how loops scale while another process keeps a core busy."""
    with busy_core():
        for total in (20, 200, 2000):
            loop = bench.work([total / 64] * 64, 100_000 // total)
            one, several = bench.one_and_several(loop, rounds, statistics.median)
            line(f"a core is busy, {total} µs", one, several, several / one, 1.3)


def print_callers(bench: Bench, rounds: int) -> None:
    """Prints how two callers share the pool: the first column is one after the other, the second is both at once."""
    for total in (20, 200, 2000):
        loop = bench.work([total / 64] * 64, 50_000 // total)
        times = [(bench.callers(loop, together=False), bench.callers(loop, together=True)) for _ in range(rounds)]
        apart, together = map(statistics.median, zip(*times, strict=True))
        line(f"two callers, {total} µs (apart)", apart, together, together / apart, 1.15)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=default_num_threads())
    parser.add_argument("--rounds", type=int, default=50)
    given = parser.parse_args()
    bench = Bench(given.threads)
    print(f"{'µs per loop':34} {'1 thread':>10} {f'{given.threads} threads':>10} {'ratio':>8} {'goal':>8}")
    print_overhead(bench, given.rounds)
    print_balance(bench, given.rounds)
    print_busy_core(bench, max(5, given.rounds // 10))
    print_callers(bench, max(5, given.rounds // 10))


if __name__ == "__main__":
    main()
