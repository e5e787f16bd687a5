"""`xrelay bench`."""

from __future__ import annotations

import json
import statistics
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from time import perf_counter_ns
from typing import ClassVar

from xrelay.tools.commands.base import Command
from xrelay.tools.commands.feeding import add_input_options, make_inputs
from xrelay.tools.commands.options import add_compile_options, add_memory_limit, add_source, add_trust, compiled_model


class BenchCommand(Command):
    """Measure how long a run of a model takes.

    Runs the model a few times unmeasured, then as often as asked, and prints median, 90th and 99th percentile, the
    shortest and the longest run in milliseconds. Inputs are random unless given.
    """

    name: ClassVar[str] = "bench"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The model and how often to run it."""
        add_source(parser)
        add_input_options(parser)
        add_compile_options(parser)
        add_trust(parser)
        add_memory_limit(parser)
        parser.add_argument("--warmup", type=_count, default=3, help="runs before measuring (3)")
        parser.add_argument("--iters", type=_count, default=20, help="runs measured (20)")
        parser.add_argument("--json", action="store_true", help="print the numbers as JSON")

    def run(self, args: Namespace) -> int:
        """Compile, run, print."""
        model = compiled_model(args)
        args.random = True
        inputs = make_inputs(args, model.inputs)
        times = measure(lambda: model.run(inputs), warmup=args.warmup, iters=max(args.iters, 1))
        result = {**percentiles(times), "iters": len(times), "threads": model.num_threads}
        if args.json:
            sys.stdout.write(json.dumps(result) + "\n")
        else:
            sys.stdout.write("".join(f"{name:>10} {value:.3f} ms\n" for name, value in percentiles(times).items()))
            sys.stdout.write(f"{len(times)} runs on up to {model.num_threads} threads\n")
        return 0


def measure(action: Callable[[], object], *, warmup: int, iters: int) -> list[float]:
    """Milliseconds of `iters` runs of `action` after `warmup` runs that are not counted."""
    for _ in range(warmup):
        action()
    times: list[float] = []
    for _ in range(iters):
        start = perf_counter_ns()
        action()
        times.append((perf_counter_ns() - start) / 1e6)
    return times


def percentiles(times: list[float]) -> dict[str, float]:
    """Median, p90, p99, shortest and longest."""
    ordered = sorted(times)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return {
        "median": statistics.median(ordered),
        "p90": at(0.9),
        "p99": at(0.99),
        "min": ordered[0],
        "max": ordered[-1],
    }


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)
