"""`xrelay`: import, compile, run, measure and inspect models from the command line.

Results are written to stdout, everything else to stderr. Exit codes: 0 success, 1 the model is invalid or a check
failed, 2 the command line is invalid.
"""

from __future__ import annotations

import sys
import traceback
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from xrelay import __version__, environment
from xrelay.errors import ParseError, VerificationError, XRelayError
from xrelay.tools.command_line import (
    answer_in_one_line,
    discard_standard_output,
    escape_unencodable,
    excerpt,
    line_of,
    plain_warnings,
    standard_output,
)
from xrelay.tools.commands import all_commands
from xrelay.tools.commands.base import UsageError


def main(args: Sequence[str] | None = None) -> int:
    """Runs the subcommand in the command line or `args`; returns the exit code."""
    escape_unencodable()
    parser = ArgumentParser(prog="xrelay", description="Compile and run deep-learning models on the CPU.")
    parser.add_argument("-v", "--version", action="version", version=f"xrelay {__version__}")
    answer_in_one_line(parser)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", required=True)
    commands = {command.name: command for command in all_commands()}
    found: dict[str, ArgumentParser] = {}
    for name, command in commands.items():
        found[name] = subparser = subparsers.add_parser(
            name, help=command.summary(), description=command.description(), formatter_class=RawDescriptionHelpFormatter
        )
        answer_in_one_line(subparser)
        subparser.add_argument("--debug", action="store_true", help="show Python tracebacks (or set XRELAY_DEBUG)")
        command.add_arguments(subparser)
    if not (sys.argv[1:] if args is None else args):
        parser.print_help()
        return 0
    parsed, unknown = parser.parse_known_args(args)
    if unknown:
        found[parsed.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        with standard_output(), plain_warnings():
            return commands[parsed.command].run(parsed)
    except BrokenPipeError:
        discard_standard_output()
        return 1
    except Exception as error:
        if parsed.debug or environment.debug():
            traceback.print_exception(error)
        sys.stderr.writelines(line + "\n" for line in _shown(error, vars(parsed).get("model")))
        return 2 if isinstance(error, UsageError) else 1


def _shown(error: Exception, model: Path | None) -> Iterator[str]:
    """Yields the error and its notes, each with the source line that it refers to if the model is a text."""
    messages = [line_of(error), *(error.notes() if isinstance(error, XRelayError) else ())]
    sources: dict[str, str] = {}
    if model is not None and isinstance(error, ParseError | VerificationError) and model.suffix == ".mlir":
        with suppress(OSError, UnicodeDecodeError):
            sources[str(model)] = model.read_text(encoding="utf-8")
    for message in messages:
        yield message
        yield from excerpt(message, sources)


if __name__ == "__main__":
    sys.exit(main())
