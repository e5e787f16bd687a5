"""The flags of `xrelay-opt` that select and configure passes as a `PassContext` does.

`--run-reproducer` replays a run with the flags that its reproducer records.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.passes import ModulePass

from xrelay.arguments import MAX_OPT_LEVEL
from xrelay.errors import ParseError, PassError, XRelayError
from xrelay.lowering.pipelines import graph_rows
from xrelay.passes.catalogue.extensions import level_of_pass
from xrelay.passes.catalogue.relay_names import RELAY_PASSES, ROWS, option_text, relay_pass
from xrelay.passes.infra.config import IMMUTABLE, VERIFY, parse_configs
from xrelay.passes.infra.pass_context import DEFAULT_OPT_LEVEL, PassContext, PassDecision, configured
from xrelay.passes.infra.pass_info import PassInfo, remember_names
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pipeline_text import FUNCTION, PassTable, PipelineEntry, parse_entries
from xrelay.passes.infra.source import read_text
from xrelay.tools.command_line import add_switches
from xrelay.tools.opt.catalogue import named_pipelines
from xrelay.tools.opt.mlir_spelling import own_spelling

if TYPE_CHECKING:
    from xrelay.passes.instruments.reproducer import Reproducer


_WORD_OR_OPTIONS = re.compile(r"\{[^}]*\}|[\w-]+")


@dataclass(frozen=True)
class PlannedPass:
    """A pass of the pipeline, and whether it runs."""

    entry: PipelineEntry
    level: int
    decision: PassDecision

    def __str__(self) -> str:
        return f"{FUNCTION}({self.entry.current})" if self.entry.anchor else str(self.entry.current)


@dataclass(frozen=True)
class Plan:
    """The pipeline that the flags describe: `passes` with decisions, filtered at `opt_level` if it is not `None`.

    `context` is the context of the run; its instruments are added for each module.
    """

    passes: tuple[PlannedPass, ...]
    opt_level: int | None
    context: PassContext

    @property
    def verify_each(self) -> bool:
        """Whether the output of each pass is verified."""
        return bool(self.context.get_config(VERIFY, True))

    @property
    def running(self) -> list[PipelineEntry]:
        """The passes that run."""
        return [planned.entry for planned in self.passes if planned.decision.runs]

    def runs(self) -> Iterator[tuple[str, bool, list[ModulePass]]]:
        """Yields the passes that run, grouped by named pipeline and by whether they run on functions."""
        for (group, anchor), entries in groupby(self.running, lambda entry: (entry.group, entry.anchor)):
            yield group, anchor > 0, [entry.current for entry in entries]

    def render(self) -> str:
        """Returns a line for every pass: whether it runs, its level, its options, and the reason."""
        width = max((len(str(planned)) for planned in self.passes), default=0)
        title = "pipeline" if self.opt_level is None else f"pipeline at opt_level {self.opt_level}"
        lines = [
            f"  {'run ' if planned.decision.runs else 'skip'}  {planned.level}  {planned!s:{width}}  "
            f"{planned.decision.reason}"
            for planned in self.passes
        ]
        return "\n".join([f"{title}:", *lines]) + "\n"


def add_pass_flags(parser: ArgumentParser) -> None:
    """Declares the flags."""
    group = parser.add_argument_group("which passes run (passes have Relay's names too: FuseOps is relay-fuse-ops)")
    group.add_argument(
        "--opt-level",
        type=int,
        choices=range(MAX_OPT_LEVEL + 1),
        metavar="N",
        help="run only the passes of -p (default: the graph pipeline) whose level is at most N",
    )
    group.add_argument("--disabled-pass", action="append", default=[], metavar="PASS", help="skip this pass")
    group.add_argument(
        "--required-pass", action="append", default=[], metavar="PASS", help="run this pass regardless of its level"
    )
    group.add_argument(
        "--pass-config", action="append", default=[], metavar="KEY=VALUE", help="set an option of a PassContext"
    )
    group.add_argument(
        "--print-pipeline", action="store_true", help="print which passes would run, which would be skipped, and why"
    )
    group = parser.add_argument_group("finding faulty passes")
    add_switches(
        group.add_argument,
        {
            "--check-numerics": (
                "run the program on random inputs before and after each pass; fail at the first pass that changes "
                "results"
            ),
            "--run-reproducer": "run the pass named in the header of the input",
        },
    )
    group.add_argument(
        "--numerics-seed", type=_seed, default=0, metavar="N", help="seed of the inputs of --check-numerics"
    )
    group.add_argument(
        "--crash-reproducer", metavar="FILE", help="if a pass fails, write its input program and options to this file"
    )


def _seed(text: str) -> int:
    """Parses a seed. Raises `ValueError`, which argparse reports, for a negative number."""
    seed = int(text)
    if seed < 0:
        raise ValueError(text)
    return seed


def plan_pipeline(args: Namespace, available: PassTable) -> Plan:
    """Returns the pipeline of `args`. Raises `PassError` for invalid names, options, levels and config."""
    _refuse_idle_flags(args)
    remember_names(available)
    available = {**available, **{row.name: available[row.pass_name] for row in RELAY_PASSES}}
    if args.run_reproducer:
        return _replayed(args, available)
    context = _context(args)
    filtering = args.opt_level is not None or bool(args.disabled_pass or args.required_pass)
    level = context.opt_level if args.opt_level is not None else None
    if not args.passes.strip() and (filtering or args.print_pipeline):
        passes, level = _default_passes(available), context.opt_level
    else:
        entries = parse_entries(own_names(args.passes), available, named_pipelines)
        passes = [(level_of_pass(entry.current.name), entry) for entry in entries]
    planned = tuple(_planned(entry, needs, context, level) for needs, entry in passes)
    return Plan(planned, level, context)


def _refuse_idle_flags(args: Namespace) -> None:
    """Raises `PassError` for a flag that has no effect in combination with the others."""
    chosen = {
        "-p": args.passes,
        "--opt-level": args.opt_level is not None,
        "--disabled-pass": args.disabled_pass,
        "--required-pass": args.required_pass,
        "--pass-config": args.pass_config,
    }
    idle = [flag for flag, given in chosen.items() if given]
    if args.run_reproducer and idle:
        raise PassError("--run-reproducer runs the pass named in the file", help=f"leave out {', '.join(idle)}")
    if args.timing_format is not None and not args.timing and args.timing_file is None:
        raise PassError("--timing-format needs --timing or --timing-file")


def pass_instruments(args: Namespace) -> list[PassInstrument]:
    """Returns the instruments that check passes or count, as requested by flags; the one for failures is last."""
    found: list[PassInstrument] = []
    if args.check_numerics:
        # Imported on demand, since they import numpy and the interpreters.
        from xrelay.tools.opt.reporting import ReportingCheck

        found.append(ReportingCheck(seed=args.numerics_seed))
    if args.pass_statistics:
        from xrelay.tools.opt.reporting import ReportingStatistics

        found.append(ReportingStatistics())
    if args.crash_reproducer is not None:
        from xrelay.tools.opt.reporting import ReportingReproducer

        found.append(ReportingReproducer(args.crash_reproducer, recorded_flags(args), settled=True))
    return found


def own_names(pipeline: str) -> str:
    """Returns the pipeline with Relay's pass names replaced by the project's."""

    def own(match: re.Match[str]) -> str:
        row = relay_pass(match[0])
        if row is None or match[0] == row.pass_name:
            return match[0]
        fixed = " ".join(f"{name}={option_text(value)}" for name, value in row.fixed.items())
        return f"{row.pass_name}{{{fixed}}}" if fixed else row.pass_name

    return _WORD_OR_OPTIONS.sub(own, pipeline)


def own_name(name: str) -> str:
    """Returns the project's name of a pass, which may be given by Relay's name."""
    row = relay_pass(name)
    return name if row is None else row.pass_name


def _context(args: Namespace) -> PassContext:
    config = parse_configs(args.pass_config)
    if args.no_verify_each or args.disable_verify:
        config[VERIFY] = False
    if IMMUTABLE in config:
        raise PassError(f"{IMMUTABLE} is not supported here", help="xrelay-opt rewrites the program in place")
    return PassContext(
        DEFAULT_OPT_LEVEL if args.opt_level is None else args.opt_level,
        required_pass=_split(args.required_pass),
        disabled_pass=_split(args.disabled_pass),
        config=config,
    )


def _split(names: Sequence[str]) -> list[str]:
    """Returns the names in a repeatable flag, whose values may each list several."""
    return [name.strip() for value in names for name in value.split(",")]


def _planned(entry: PipelineEntry, needs: int, context: PassContext, level: int | None) -> PlannedPass:
    """Decides whether a pass runs; without a level, by names only."""
    decision = context.decide(PassInfo(needs if level is not None else 0, entry.current.name))
    if decision.runs and level is None and "opt_level" in decision.reason:
        decision = PassDecision(True, "the pipeline names it")
    current = configured(entry.current, context, use_level=level is not None)
    return PlannedPass(replace(entry, current=current), needs, decision)


def _default_passes(available: PassTable) -> list[tuple[int, PipelineEntry]]:
    """Returns the graph pipeline of the compiler: every pass with its minimum level."""
    rows = graph_rows()
    return [(row.opt_level, entry) for row in rows for entry in parse_entries(row.default_spec, available)]


def _replayed(args: Namespace, available: PassTable) -> Plan:
    """Returns the pipeline of a reproducer: its passes run at any level, in the recorded context."""
    recorded = recorded_run(args)
    context = PassContext(
        recorded.opt_level,
        required_pass=[name for name in recorded.required if name in ROWS],
        disabled_pass=[name for name in recorded.disabled if name in ROWS],
        config=recorded.config,
    )
    decision = PassDecision(True, "the reproducer names it")
    planned: list[PlannedPass] = []
    for entry in parse_entries(own_names(recorded.pipeline), available, named_pipelines):
        current = configured(entry.current, context, use_level=not recorded.settled)
        planned.append(PlannedPass(replace(entry, current=current), level_of_pass(current.name), decision))
    return Plan(tuple(planned), None, context)


FLAGS = {"--check-numerics": 0, "--numerics-seed": 1, "--disable-verify": 0, "--allow-unregistered-dialect": 0}
"""The flags that a reproducer may record, with their numbers of values; none of them writes files."""


def recorded_flags(args: Namespace) -> list[str]:
    """Returns the flags that a reproducer records in addition to those of contexts and instruments."""
    given = {
        "--disable-verify": args.disable_verify,
        "--allow-unregistered-dialect": args.allow_unregistered_dialect,
    }
    return [flag for flag, is_given in given.items() if is_given]


def add_recorded_flags(parser: ArgumentParser) -> None:
    """Makes `parser` prepend the flags that the reproducer of `--run-reproducer` records to the command line.

    The command line may be spelt as for `mlir-opt`.
    """
    parse = parser.parse_args

    def parse_args(args: list[str] | None = None) -> Namespace:
        written = own_spelling(sys.argv[1:] if args is None else args, parser)
        namespace = parse(written)
        recorded = _recorded(namespace)
        return namespace if not recorded else parse([*recorded, *written])

    # xDSL's driver creates the parser and calls this method on it.
    vars(parser)["parse_args"] = parse_args


def recorded_run(args: Namespace) -> Reproducer:
    """Returns the record in the input, and prints a note for everything that the replay lacks.

    Raises `ParseError` for an input that is not a reproducer or records other flags, and `PassError` for a pass that
    exists in Python only.
    """
    if args.input_file in (None, "-"):
        raise PassError("--run-reproducer needs a file, not standard input")
    recorded = _read(args.input_file)
    unknown = [flag for flag in recorded.flags if flag.startswith("-") and flag not in FLAGS]
    if unknown:
        message = f"the reproducer records the flag {unknown[0]!r}"
        raise ParseError(message, location=args.input_file, help=f"it may record {', '.join(FLAGS)}")
    if recorded.python_only:
        message = f"the pass {recorded.pipeline!r} exists in Python only"
        raise PassError(message, location=args.input_file, help="run it from the Python program that defines it")
    for value in recorded.python_values:
        sys.stderr.write(f"{args.input_file}: note: {value} is a Python value; the pass runs without it\n")
    return recorded


def _read(path: str) -> Reproducer:
    # Imported on demand, since the instrument imports the relay dialect.
    from xrelay.passes.instruments.reproducer import read_reproducer

    return read_reproducer(read_text(Path(path)), path)


def _recorded(args: Namespace) -> list[str]:
    """Returns the flags that the input records; none for an invalid reproducer, which `recorded_run` reports later."""
    if not args.run_reproducer or args.input_file in (None, "-"):
        return []
    try:
        flags = _read(args.input_file).flags
    except XRelayError:
        return []
    position = 0
    while position < len(flags):
        values = FLAGS.get(flags[position])
        if values is None:
            return []
        position += 1 + values
    return list(flags)
