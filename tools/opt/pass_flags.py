"""The flags of `xrelay-opt` that make it run passes as a `PassContext` would: which, with what options, and why."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.passes import ModulePass

from xrelay.errors import PassError
from xrelay.passes.catalogue.relay_names import RELAY_PASSES, relay_pass, remember_names
from xrelay.passes.infra.config import parse_configs
from xrelay.passes.infra.hooks_adapter import Hooks
from xrelay.passes.infra.instruments import Instrument
from xrelay.passes.infra.pass_context import DEFAULT_OPT_LEVEL, PassContext, PassDecision
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pipeline import PassTable, parse_grouped, parse_passes
from xrelay.passes.infra.source import read_text
from xrelay.passes.relay_api.named_passes import configured
from xrelay.passes.relay_api.passes import IMMUTABLE, VERIFY
from xrelay.tools.opt.catalogue import named_pipelines

_WORD_OR_OPTIONS = re.compile(r"\{[^}]*\}|[\w-]+")


@dataclass(frozen=True)
class PlannedPass:
    """A pass of the pipeline, and whether it runs."""

    current: ModulePass
    level: int
    decision: PassDecision
    group: str = ""
    """The named pipeline that it comes from."""


@dataclass(frozen=True)
class Plan:
    """The pipeline that the flags describe: `passes` with decisions, at `opt_level` where one filters."""

    passes: tuple[PlannedPass, ...]
    opt_level: int | None
    verify_each: bool = True

    @property
    def running(self) -> list[ModulePass]:
        """The passes that run."""
        return [planned.current for planned in self.passes if planned.decision.runs]

    @property
    def groups(self) -> list[str]:
        """The named pipeline of each pass that runs."""
        return [planned.group for planned in self.passes if planned.decision.runs]

    def render(self) -> str:
        """A line for every pass: whether it runs, its level, its options, and why."""
        width = max((len(str(planned.current)) for planned in self.passes), default=0)
        title = "pipeline" if self.opt_level is None else f"pipeline at opt_level {self.opt_level}"
        lines = [
            f"  {'run ' if planned.decision.runs else 'skip'}  {planned.level}  {planned.current!s:{width}}  "
            f"{planned.decision.reason}"
            for planned in self.passes
        ]
        return "\n".join([f"{title}:", *lines]) + "\n"


def add_pass_flags(parser: ArgumentParser) -> None:
    """Declare the flags."""
    group = parser.add_argument_group("which passes run (passes have Relay's names too: FuseOps is relay-fuse-ops)")
    group.add_argument(
        "--opt-level",
        type=int,
        metavar="N",
        help="run the passes whose level is at most N: of -p, or of the default graph pipeline without -p",
    )
    group.add_argument("--disabled-pass", action="append", default=[], metavar="PASS", help="skip this pass")
    group.add_argument(
        "--required-pass", action="append", default=[], metavar="PASS", help="run this pass whatever its level"
    )
    group.add_argument(
        "--pass-config", action="append", default=[], metavar="KEY=VALUE", help="set an option of a PassContext"
    )
    group.add_argument(
        "--print-pipeline", action="store_true", help="print which passes run, which are skipped, and why; run none"
    )
    group = parser.add_argument_group("when a pass goes wrong")
    group.add_argument(
        "--check-numerics",
        action="store_true",
        help="run the program before and after each pass on random inputs; fail naming the first that changes results",
    )
    group.add_argument(
        "--numerics-seed", type=_seed, default=0, metavar="N", help="make the inputs of --check-numerics from this seed"
    )
    group.add_argument(
        "--crash-reproducer", metavar="FILE", help="when a pass fails, write the program it was given and its options"
    )
    group.add_argument("--run-reproducer", action="store_true", help="run the pass that the input's header names")


def _seed(text: str) -> int:
    """A seed for random numbers; `ValueError`, which argparse reports, for what is none."""
    seed = int(text)
    if seed < 0:
        raise ValueError(text)
    return seed


def plan_pipeline(args: Namespace, available: PassTable) -> Plan:
    """The pipeline of `args`; `PassError` for names, options, levels and config that are none."""
    _refuse_idle_flags(args)
    remember_names(available)
    available = {**available, **{row.name: available[row.pass_name] for row in RELAY_PASSES}}
    context = _context(args)
    if args.run_reproducer:
        return _replayed(args, available)
    filtering = args.opt_level is not None or bool(args.disabled_pass or args.required_pass)
    level = context.opt_level if args.opt_level is not None else None
    text = _unwrap(args.passes)
    if not text and (filtering or args.print_pipeline):
        passes, level = _default_passes(available), context.opt_level
    else:
        found = parse_grouped(own_names(text), available, named_pipelines)
        passes = [(current, _level_of(current), group) for group, current in found]
    planned = tuple(_planned(current, needs, group, context, level) for current, needs, group in passes)
    return Plan(planned, level, bool(context.get_config(VERIFY, True)))


def _refuse_idle_flags(args: Namespace) -> None:
    """`PassError` for a flag that would do nothing beside the others."""
    chosen = {
        "-p": args.passes,
        "--opt-level": args.opt_level is not None,
        "--disabled-pass": args.disabled_pass,
        "--required-pass": args.required_pass,
        "--pass-config": args.pass_config,
    }
    idle = [flag for flag, given in chosen.items() if given]
    if args.run_reproducer and idle:
        raise PassError("--run-reproducer runs what the file names", help=f"leave out {', '.join(idle)}")
    if args.timing_format is not None and not args.timing and args.timing_file is None:
        raise PassError("--timing-format says nothing without --timing or --timing-file")


def pass_instruments(args: Namespace) -> list[Instrument]:
    """The instruments that the flags ask for."""
    found: list[Instrument] = []
    if args.crash_reproducer is not None:
        from xrelay.tools.opt.reporting import ReportingReproducer

        # First, so that its hook after a pass comes last: what the others find is a failure of the pass too.
        flags = f" --check-numerics --numerics-seed {args.numerics_seed}" if args.check_numerics else ""
        found.append(Hooks(ReportingReproducer(args.crash_reproducer, flags)))
    if args.check_numerics:
        from xrelay.tools.opt.reporting import ReportingCheck

        found.append(Hooks(ReportingCheck(seed=args.numerics_seed)))
    if args.pass_statistics:
        from xrelay.tools.opt.reporting import ReportingStatistics

        found.append(Hooks(ReportingStatistics()))
    return found


def own_names(pipeline: str) -> str:
    """The pipeline with Relay's names of passes replaced by those of the passes."""

    def own(match: re.Match[str]) -> str:
        row = relay_pass(match[0])
        if row is None or match[0] == row.pass_name:
            return match[0]
        fixed = " ".join(f"{name}={value}" for name, value in row.fixed.items())
        return f"{row.pass_name}{{{fixed}}}" if fixed else row.pass_name

    return _WORD_OR_OPTIONS.sub(own, pipeline)


def own_name(name: str) -> str:
    """The name of a pass that may be Relay's."""
    row = relay_pass(name)
    return name if row is None else row.pass_name


def _context(args: Namespace) -> PassContext:
    config = parse_configs(args.pass_config)
    if IMMUTABLE in config:
        raise PassError(f"{IMMUTABLE} has no meaning here", help="xrelay-opt's passes rewrite what they are given")
    return PassContext(
        DEFAULT_OPT_LEVEL if args.opt_level is None else args.opt_level,
        required_pass=_split(args.required_pass),
        disabled_pass=_split(args.disabled_pass),
        config=config,
    )


def _split(names: Sequence[str]) -> list[str]:
    """The names of a repeatable flag, each of whose values may hold several."""
    return [name.strip() for value in names for name in value.split(",")]


def _planned(current: ModulePass, needs: int, group: str, context: PassContext, level: int | None) -> PlannedPass:
    """Decide about one pass; without a level only the names decide."""
    decision = context.decide(PassInfo(needs if level is not None else 0, current.name))
    if decision.runs and level is None and "opt_level" in decision.reason:
        decision = PassDecision(True, "the pipeline names it")
    return PlannedPass(configured(current, context, use_level=level is not None), needs, decision, group)


def _level_of(current: ModulePass) -> int:
    row = relay_pass(current.name)
    return 0 if row is None else row.opt_level


def _default_passes(available: PassTable) -> list[tuple[ModulePass, int, str]]:
    """The graph pipeline of the compiler: every pass with the level from which it runs."""
    from xrelay.passes.catalogue.default_pipeline import DEFAULT_PIPELINE

    rows = [(0, "relay-infer-type"), *((row.opt_level, row.spec) for row in DEFAULT_PIPELINE), (0, "relay-fuse-ops")]
    specs = [(level, spec.replace("{vector-lanes={lanes}}", "")) for level, spec in rows]
    return [(current, level, "") for level, spec in specs for current in parse_passes(spec, available)]


def _replayed(args: Namespace, available: PassTable) -> Plan:
    """The pipeline of a reproducer: what it names runs, whatever its level."""
    from xrelay.passes.instruments.reproducer import read_reproducer

    if args.input_file in (None, "-"):
        raise PassError("--run-reproducer needs the reproducer as a file")
    recorded = read_reproducer(read_text(Path(args.input_file)), args.input_file)
    if recorded.python_only:
        message = f"the pass {recorded.pipeline!r} exists in Python only"
        raise PassError(message, location=args.input_file, help="run it on this module where it is defined")
    for option in recorded.python_values:
        sys.stderr.write(f"{args.input_file}: note: option {option!r} was a Python value; the pass runs without it\n")
    context = PassContext(recorded.opt_level, config=recorded.config)
    passes = parse_passes(own_names(recorded.pipeline), available, named_pipelines)
    decision = PassDecision(True, "the reproducer names it")
    planned = [
        PlannedPass(configured(current, context, use_level=True), _level_of(current), decision) for current in passes
    ]
    return Plan(tuple(planned), None)


def _unwrap(pipeline: str) -> str:
    """The passes of `builtin.module(a,b)`, as mlir-opt writes pipelines."""
    text, opening = pipeline.strip(), "builtin.module("
    if not text.startswith(opening):
        return text
    if not text.endswith(")"):
        raise PassError(f"malformed pass pipeline {pipeline!r}: it lacks a ')'", help="write builtin.module(a,b)")
    return text.removeprefix(opening).removesuffix(")")
