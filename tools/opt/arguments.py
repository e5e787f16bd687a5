"""The command line of `xrelay-opt`."""

from __future__ import annotations

from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace

from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError

from xrelay.tools.command_line import add_switches, answer_in_one_line
from xrelay.tools.opt.mlir_spelling import flag_or_pass_hint
from xrelay.tools.opt.pass_flags import add_pass_flags, add_recorded_flags


def add_arguments(parser: ArgumentParser, version: str) -> None:
    """Declares every flag, grouped by purpose."""
    answer_in_one_line(parser, flag_or_pass_hint)
    add_recorded_flags(parser)
    parser.add_argument("input_file", nargs="?", help="input file; '-' or omitted: standard input")
    parser.add_argument("-v", "--version", action="version", version=version)
    _add_input(parser)
    _add_passes(parser)
    add_pass_flags(parser)
    _add_output(parser)
    _add_dumps(parser)
    _add_catalogues(parser)


class _Pipeline(Action):
    """Adds passes after those of earlier flags."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: object, option_string: str | None = None
    ) -> None:
        texts = [vars(namespace)[self.dest], str(values)]
        setattr(namespace, self.dest, ",".join(filter(None, texts)))


def _add_input(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("input")
    add_switches(
        group.add_argument,
        {
            "--allow-unregistered-dialect": "accept ops of unknown dialects",
            "--no-implicit-module": "require an explicit module in the file",
            "--split-input-file": "process the parts between '// -----' lines separately",
            "--verify-diagnostics": (
                "match errors, warnings, notes and remarks with the file's comments 'expected-error {{…}}', "
                "'expected-warning', 'expected-note' and 'expected-remark'; fail on any difference"
            ),
        },
    )


def _add_passes(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("passes")
    group.add_argument(
        "-p",
        "--passes",
        "--pass-pipeline",
        action=_Pipeline,
        default="",
        metavar="PIPELINE",
        help="passes and named pipelines to run: a,b{option=1}; func.func(a,b) runs passes on each function alone; "
        "repeatable",
    )
    add_switches(
        group.add_argument,
        {
            "--disable-verify": "do not verify the program",
            "--no-verify-each": "verify only the input, not after each pass",
            "--timing": "print to stderr the time of each step as a tree",
            "--pass-statistics": (
                "print to stderr the ops before and after each pass, and how often its patterns were tried and applied"
            ),
            "--debug": "show Python tracebacks of errors (or set XRELAY_DEBUG)",
        },
    )
    group.add_argument("--timing-format", choices=("text", "json"), help="format of --timing (text)")
    group.add_argument("--timing-file", metavar="FILE", help="write the timing to FILE instead")
    group.add_argument(
        "--remarks",
        action="append",
        nargs="?",
        const="",
        metavar="PASS",
        help="print to stderr what this pass did to each op, or why it left it alone; every pass without a name",
    )


def _add_output(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output-file", metavar="FILE", help="output file; '-' or omitted: standard output")
    group.add_argument("-t", "--target", type=_target, default="mlir", help="output format: mlir, llvm-ir, asm, …")
    add_switches(
        group.add_argument,
        {
            "--print-op-generic": "print every op in generic form",
            "--print-no-properties": "print properties as attributes",
            "--print-debuginfo": "print source locations",
            "--syntax-highlight": "print with colours",
        },
    )


def _add_dumps(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("debugging output (to stderr)")
    for when in ("before", "after"):
        group.add_argument(
            f"--print-ir-{when}",
            action="append",
            nargs="?",
            const="",
            metavar="PASS",
            help=f"print the program {when} this pass; {when} every pass without a name",
        )
    add_switches(
        group.add_argument,
        {
            "--print-ir-before-all": "print the program before every pass",
            "--print-ir-after-all": "print the program after every pass",
            "--print-ir-after-change": "print the program after passes that changed it",
            "--print-ir-after-failure": "print the program after a pass fails",
            "--print-ir-diff": "print the changes of each pass as a unified diff",
        },
    )
    group.add_argument(
        "--dump-stages", "--print-ir-tree-dir", metavar="DIR", help="write the program after every pass into DIR"
    )


def _add_catalogues(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("catalogues")
    add_switches(
        group.add_argument,
        {
            "--list-passes": "list passes and named pipelines",
            "--list-configs": "list the keys of --pass-config",
            "--show-dialects": "list dialects",
        },
    )
    group.add_argument("--help-pass", metavar="NAME", help="describe a pass and its options")


def _target(text: str) -> str:
    """Parses a target such as `mlir` or `llvm{…}`, checking its form only."""
    try:
        parse_spec(text)
    except ArgSpecParseError:
        raise ArgumentTypeError(f"{text!r} is not of the form name{{option=value}}") from None
    return text
