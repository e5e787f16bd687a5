"""`xrelay profile`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import ClassVar

from xrelay.tools.commands.base import (
    Command,
    add_source,
    compiled_model,
    prepare_outputs,
)
from xrelay.tools.commands.feeding import add_run_options, make_inputs


class ProfileCommand(Command):
    """Print the time that a run of a model spends in each kernel.

    Runs the model --runs times with tracing and as often without, and describes the fastest traced run. Inputs are
    random unless given. For each kernel the table has the time of all calls, their number, the time that the cost model
    expects, arithmetic operations and bytes per second, the share of the speed that this machine's roofline allows, the
    number of threads that computed parts of it, its schedule, and the nodes of the model that it computes. The times
    add up to that of the run.

    The roofline (peak of f32 multiply-adds, bandwidths of caches and memory) is measured once and kept in the cache.
    Tracing links the same object code with stubs that read a clock, so it costs nothing in other runs.
    """

    name: ClassVar[str] = "profile"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, its inputs and the files to write."""
        add_source(parser)
        add_run_options(parser)
        parser.add_argument("--runs", type=int, default=10, help="traced runs (10)")
        parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
        parser.add_argument(
            "--trace",
            type=Path,
            metavar="FILE.json",
            help="write the calls by thread, for Perfetto or chrome://tracing",
        )
        parser.add_argument(
            "--roofline", type=Path, metavar="FILE.svg", help="write a chart of the kernels under the roofline"
        )

    def run(self, args: Namespace) -> int:
        """Profiles the model, prints the table and writes the files."""
        from xrelay.passes.infra.source import write_text

        prepare_outputs(args.model, args.trace, args.roofline)
        args.random = True
        model = compiled_model(args)
        profile = model.profile(make_inputs(args, model.inputs), runs=args.runs)
        sys.stdout.write(json.dumps(profile.as_data()) + "\n" if args.json else str(profile))
        if args.trace is not None:
            write_text(args.trace, profile.trace_text())
        if args.roofline is not None:
            write_text(args.roofline, profile.roofline_svg())
        return 0
