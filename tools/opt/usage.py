"""Reports invalid command lines: one line on stderr with the closest flag or word, and exit code 2."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from typing import NoReturn

from xrelay.errors import did_you_mean

_FLAG = re.compile(r"(?<!\S)--?[\w-]+")
_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")


def answer_in_one_line(parser: ArgumentParser) -> None:
    """Makes `parser` report errors on one line instead of printing its usage."""

    def error(message: str) -> NoReturn:
        sys.stderr.write(f"{parser.prog}: error: {message}; help: {_hint(message, parser)}\n")
        sys.exit(2)

    parser.error = error


def _hint(message: str, parser: ArgumentParser) -> str:
    """Returns the valid flag or word closest to an invalid one, else a pointer to their list."""
    listed = f"{parser.prog} --help lists the flags"
    choice = _CHOICE.search(message)
    if choice is not None:
        return did_you_mean(choice[1], re.findall(r"[^', ]+", choice[2]), listed)
    if not message.startswith("unrecognized arguments"):
        return listed
    known = _FLAG.findall(parser.format_help())
    hints = (did_you_mean(flag, known, "") for flag in _FLAG.findall(message))
    return next(filter(None, hints), listed)
