"""What a wrong command line is answered: one line on stderr, with the closest flag, and exit code 2."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from difflib import get_close_matches
from typing import NoReturn

_FLAG = re.compile(r"(?<!\S)--?[\w-]+")


def answer_in_one_line(parser: ArgumentParser) -> None:
    """Let `parser` report errors by one line instead of its whole usage."""

    def error(message: str) -> NoReturn:
        sys.stderr.write(f"{parser.prog}: error: {message}; help: {_hint(message, parser)}\n")
        sys.exit(2)

    parser.error = error


def _hint(message: str, parser: ArgumentParser) -> str:
    """The flag closest to one that does not exist, else where they are listed."""
    unknown = _FLAG.findall(message) if message.startswith("unrecognized arguments") else []
    known = _FLAG.findall(parser.format_help())
    for flag in unknown:
        close = get_close_matches(flag, known, 1)
        if close:
            return f"did you mean {close[0]}?"
    return f"{parser.prog} --help lists the flags"
