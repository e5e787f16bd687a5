"""Diagnostics of one piece of the input: errors, warnings and remarks, each with its location."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from xrelay.errors import XRelayError

_LINE = re.compile(r":(\d+):\d+$")


@dataclass(frozen=True)
class Diagnostic:
    """An `error`, `warning` or `remark` (`kind`) at `location`; `text` is the printed line."""

    kind: str
    location: str | None
    message: str
    text: str

    @property
    def line(self) -> int | None:
        """The line of its location; `None` if that is not in a file."""
        match = _LINE.search(self.location) if self.location is not None else None
        return int(match[1]) if match is not None else None


def error_diagnostic(error: XRelayError) -> Diagnostic:
    """Returns the diagnostic of an error."""
    return Diagnostic("error", error.location, error.message, error.render())


def warning_diagnostic(message: str, location: str) -> Diagnostic:
    """Returns the diagnostic of a warning."""
    return Diagnostic("warning", location, message, f"{location}: warning: {message}")


@contextmanager
def collecting_remarks(args: Namespace) -> Generator[list[Diagnostic]]:
    """Collects remarks of passes that run in the block: of the passes that `--remarks` names, or all.

    Without `--remarks` and `--verify-diagnostics` nothing is collected.
    """
    found: list[Diagnostic] = []
    if args.remarks is None and not args.verify_diagnostics:
        yield found
        return
    from xrelay.passes.graph.remarks import Remark, listening
    from xrelay.tools.opt.pass_flags import own_name

    asked = frozenset(own_name(name) for name in args.remarks or ("",))

    def collect(remark: Remark) -> None:
        if "" in asked or remark.pass_name in asked:
            found.append(Diagnostic("remark", remark.location, remark.message, str(remark)))

    with listening(collect):
        yield found
