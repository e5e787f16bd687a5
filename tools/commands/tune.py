"""`xrelay tune`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from xrelay.errors import printable
from xrelay.tools.command_line import progress_bar
from xrelay.tools.commands.base import Command, add_shapes, add_source, add_threads, prepare_outputs

if TYPE_CHECKING:
    from xrelay.api.tuning.tuner import TunedKernel, TuningSummary


class TuneCommand(Command):
    """Measure the schedules of a model's kernels on this machine.

    For each kernel, the cheapest candidates by the cost model are compiled and run in turn, and their least times are
    appended to a file of records. `xrelay compile`, `run` and `bench` with --records FILE then use the fastest. A run
    that is interrupted continues where it ended: kernels with a record are skipped, unless --again. Kernels with
    dynamic extents are not measured; --shapes fixes them. The table lists the kernels that became faster, with the time
    of the schedule without tuning. Measure on a machine without other work.
    """

    name: ClassVar[str] = "tune"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, the file of records, and the extent of the search."""
        add_source(parser, "model: .onnx or .mlir")
        add_shapes(parser)
        add_threads(parser)
        parser.add_argument(
            "-o", "--output", type=Path, metavar="FILE", help="file of records (default: MODEL.records.jsonl)"
        )
        parser.add_argument("--candidates", type=int, default=8, metavar="N", help="candidates per kernel (8)")
        parser.add_argument("--kernel", metavar="NAME", help="tune this kernel only: its name, or a node it computes")
        parser.add_argument("--again", action="store_true", help="measure kernels that have a record, too")
        parser.add_argument(
            "-O", dest="opt_level", type=int, choices=range(4), default=3, help="optimisation level (3)"
        )

    def run(self, args: Namespace) -> int:
        """Tunes the model and prints the table."""
        from xrelay.api.tuning.tuner import tune

        output: Path = args.model.with_suffix(".records.jsonl") if args.output is None else args.output
        prepare_outputs(args.model, output)
        try:
            with progress_bar("tuning") as progress:
                summary = tune(
                    args.model,
                    output,
                    opt_level=args.opt_level,
                    threads=args.threads,
                    shapes=dict(args.shapes),
                    candidates=args.candidates,
                    kernel=args.kernel,
                    again=args.again,
                    progress=progress,
                )
        except KeyboardInterrupt:
            sys.stderr.write(f"interrupted; the records so far are in {output}, the same command continues\n")
            return 130
        sys.stdout.writelines(printable(line) + "\n" for line in summary_lines(summary, output))
        return 0


def summary_lines(summary: TuningSummary, output: Path) -> Iterator[str]:
    """Yields the kernels that became faster, slowest first, and the totals."""
    faster = [each for each in summary.kernels if each.record.best is not each.record.default]
    if faster:
        yield f"{'first, µs':>10} {'best, µs':>10} {'ratio':>6} {'times':>5}  kernel: best candidate"
    yield from map(_kernel_line, sorted(faster, key=lambda each: -each.record.default.nanoseconds * each.count))
    new = sum(each.is_new for each in summary.kernels)
    yield f"kernels in {output}: {len(summary.kernels)}, measured now: {new}, with a faster schedule: {len(faster)}"
    if summary.decided:
        yield f"kernels without a choice: {summary.decided}"
    if summary.dynamic:
        yield f"kernels with dynamic extents, which are not measured: {summary.dynamic}; --shapes fixes the inputs"
    before = sum(each.record.default.nanoseconds * each.count for each in summary.kernels)
    after = sum(each.record.best.nanoseconds * each.count for each in summary.kernels)
    if before:
        yield f"all of them: {before / 1e6:.3f} ms by the first choice, {after / 1e6:.3f} ms tuned"


def _kernel_line(kernel: TunedKernel) -> str:
    record = kernel.record
    first, best = record.default.nanoseconds, record.best.nanoseconds
    numbers = f"{first / 1e3:>10.1f} {best / 1e3:>10.1f} {best / first:>6.2f} {kernel.count:>5}"
    return f"{numbers}  @{record.name}: {record.best.candidate}"
