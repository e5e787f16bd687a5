"""`xrelay bench`."""

from __future__ import annotations

import json
import statistics
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from xrelay.errors import printable
from xrelay.tools.commands.base import (
    Command,
    UsageError,
    add_compile_options,
    add_memory_limit,
    add_trust,
    compiled_model,
    parse_threads,
)
from xrelay.tools.commands.feeding import add_input_options, make_inputs
from xrelay.tools.comparison.engines import PEERS

if TYPE_CHECKING:
    from xrelay.tools.comparison.summary import Measured


class BenchCommand(Command):
    """Measure the time of a run of a model, alone or against other engines.

    Runs the model a few times unmeasured, then --iters times, and prints median, 90th and 99th percentile, minimum and
    maximum in milliseconds. Inputs are random unless given.

    With --against the model also runs in onnxruntime or OpenVINO, on the same inputs. Each engine has its own process,
    pinned to as many cores as threads. The engines run alternately, in --rounds rounds of a quarter of a second. A
    table for each number of threads lists minimum and median time, the ratio of xrelay's minimum to the engine's, CPU
    seconds and peak memory of compiling and the first run (cold, and from the cache), and the difference of the
    outputs. OpenVINO is compiled for the shapes of the inputs. The exit code is 1 if outputs differ or an engine fails.

    --against accepts several models. A last table lists the ratios of their minima and medians to those of the better
    engine, and the geometric means. The other options apply to every model.
    """

    name: ClassVar[str] = "bench"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model and the options of the measurement."""
        parser.add_argument("model", type=Path, nargs="+", help="model: .onnx, .mlir, or .xrelay (compiled)")
        add_input_options(parser)
        add_compile_options(parser)
        add_trust(parser)
        add_memory_limit(parser)
        parser.add_argument("--warmup", type=_count, default=3, help="warm-up runs (3)")
        parser.add_argument("--iters", type=_count, default=20, help="measured runs (20)")
        parser.add_argument(
            "--threads",
            type=_thread_counts,
            default=[None],
            metavar="N,…",
            help="threads per run (default: all available cores); with --against a list, e.g. 1,2,all",
        )
        parser.add_argument(
            "--against",
            type=_engines,
            metavar="ENGINE,…",
            help=f"engines to compare with: {', '.join(PEERS)}",
        )
        parser.add_argument("--rounds", type=_count, default=5, help="rounds per engine with --against (5)")
        parser.add_argument("--json", action="store_true", help="print the numbers as JSON")

    def run(self, args: Namespace) -> int:
        """Compiles and runs the model, and prints the times."""
        counts: list[int | None] = args.threads
        models: list[Path] = args.model
        args.threads, args.random = counts[0], True
        if args.against is not None:
            return _compare(args, models, counts)
        for option, given in (("--threads", counts), ("MODEL", models)):
            if len(given) > 1:
                raise UsageError(f"{option} has {len(given)} values", help="pass one, or add --against")
        (args.model,) = models
        model = compiled_model(args)
        inputs = make_inputs(args, model.inputs)
        times = measure(lambda: model.run(inputs), warmup=args.warmup, iters=max(args.iters, 1))
        result = {**percentiles(times), "iters": len(times), "threads": model.num_threads}
        if args.json:
            sys.stdout.write(json.dumps(result) + "\n")
        else:
            sys.stdout.write("".join(f"{name:>10} {value:.3f} ms\n" for name, value in percentiles(times).items()))
            sys.stdout.write(f"{len(times)} runs on up to {model.num_threads} threads\n")
        return 0


def _compare(args: Namespace, models: Sequence[Path], counts: Sequence[int | None]) -> int:
    """Compares with other engines and prints the tables; returns the exit code."""
    from xrelay.tools.comparison.compare import table
    from xrelay.tools.comparison.summary import summary

    for path in models:
        if path.suffix != ".onnx":
            raise UsageError(f"--against takes an .onnx model, not {path.suffix!r}")
    found: list[Measured] = []
    names = [path.name for path in models]
    for path in models:
        name = path.name if names.count(path.name) == 1 else str(path)
        for measured in _measured(args, path, name, counts):
            found.append(measured)
            if not args.json:
                title = f"{printable(measured.model)}, {'exact, ' if args.exact else ''}"
                sys.stdout.write(table(measured.rows, title))
                sys.stdout.flush()
    rows = [(each, row) for each in found for row in each.rows]
    if args.json:
        data = [{"model": each.model, "exact": args.exact, **row.as_json()} for each, row in rows]
        sys.stdout.write(json.dumps(data) + "\n")
    elif len(models) > 1 or len(args.against) > 1:
        sys.stdout.write(summary(found))
    return int(any(row.error or (row.difference and not row.difference.agrees) for _, row in rows))


def _measured(args: Namespace, path: Path, name: str, counts: Sequence[int | None]) -> Iterator[Measured]:
    """Yields the measurements of a model, called `name`, for each number of threads."""
    from xrelay.tools.comparison.compare import compare
    from xrelay.tools.comparison.engines import Workload
    from xrelay.tools.comparison.summary import Measured

    args.model = path
    model = compiled_model(args)
    inputs = make_inputs(args, model.inputs)
    arrays = [value for value in inputs.values() if isinstance(value, np.ndarray)]
    if len(arrays) < len(inputs):
        raise UsageError("--against supports array inputs only; this model has a sequence or optional input")
    workload = Workload(
        str(path),
        tuple(inputs),
        dict(args.shapes),
        args.opt_level,
        args.target,
        args.integers,
        args.exact,
        None if args.records is None else str(args.records),
    )
    for count in dict.fromkeys(count or model.num_threads for count in counts):
        rows = compare(workload, arrays, ["xrelay", *args.against], count, max(args.rounds, 1))
        yield Measured(name, rows)


def measure(action: Callable[[], object], *, warmup: int, iters: int) -> list[float]:
    """Returns the milliseconds of `iters` runs of `action`, after `warmup` unmeasured runs."""
    for _ in range(warmup):
        action()
    times: list[float] = []
    for _ in range(iters):
        start = perf_counter_ns()
        action()
        times.append((perf_counter_ns() - start) / 1e6)
    return times


def percentiles(times: list[float]) -> dict[str, float]:
    """Returns median, p90, p99, minimum and maximum."""
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


def _thread_counts(text: str) -> list[int | None]:
    """Parses `1,2,all`; `None` means all available cores."""
    return [None if part == "all" else parse_threads(part) for part in text.split(",")]


def _engines(text: str) -> list[str]:
    """Parses `onnxruntime,openvino`, the names of installed engines."""
    names = text.split(",")
    for name in names:
        if name not in PEERS:
            raise ArgumentTypeError(f"{name!r} is not an engine; use {', '.join(PEERS)}")
        if find_spec(name) is None:
            raise ArgumentTypeError(f"{name} is not installed: pip install {name}")
    return names


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a non-negative integer")
    return int(text)
