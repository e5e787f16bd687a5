"""`--run-reproducer`: replays a run with the flags that its reproducer records."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from xrelay.errors import ParseError, PassError, XRelayError
from xrelay.passes.infra.source import read_text

if TYPE_CHECKING:
    from xrelay.passes.instruments.reproducer import Reproducer

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
    """Makes `parser` prepend the flags that the reproducer of `--run-reproducer` records to the command line."""
    parse = parser.parse_args

    def parse_args(args: list[str] | None = None) -> Namespace:
        written = sys.argv[1:] if args is None else list(args)
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
