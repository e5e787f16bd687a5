"""`--verify-diagnostics`: errors compared with the comments that expect them.

`// expected-error {{text}}` expects an error whose message contains the text on its own line; `@above`, `@below`,
`@+2` and `@-1` say another line, `@unknown` an error without a place in the file. A comment may expect several.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xrelay.errors import XRelayError
from xrelay.tools.opt.chunks import Chunk

_EXPECTATION = re.compile(
    r"expected-(?P<kind>[a-z]+)(?:@(?P<where>[+-]\d+|above|below|unknown))?[ \t]*\{\{(?P<text>.*?)\}\}"
)
_LINE = re.compile(r":(\d+):\d+$")


@dataclass(frozen=True)
class Expectation:
    """An error that the file announces: on `line` (None is anywhere outside the file), containing `text`."""

    line: int | None
    text: str
    written: int
    """The line of the comment itself."""


def find_expectations(chunk: Chunk) -> list[Expectation]:
    """The expectations in a piece of a file, with line numbers of the file."""
    found: list[Expectation] = []
    for number, line in enumerate(chunk.text.split("\n"), start=chunk.line_offset + 1):
        for match in _EXPECTATION.finditer(line):
            if match["kind"] != "error":
                raise XRelayError(
                    f"expected-{match['kind']} is not known",
                    location=f"{chunk.name}:{number}",
                    help="use expected-error",
                )
            found.append(Expectation(_target_line(match["where"], number), match["text"], number))
    return found


def mismatches(chunk: Chunk, expected: Sequence[Expectation], errors: Sequence[XRelayError]) -> list[str]:
    """One line for each error nobody expected and for each expectation nothing met."""
    open_expectations = list(expected)
    problems: list[str] = []
    for error in errors:
        line = line_of(error)
        text = error.render()
        met = next((e for e in open_expectations if e.line == line and e.text in text), None)
        if met is None:
            place = error.location if error.location is not None else chunk.name
            problems.append(f"{place}: error: unexpected error: {error.message}")
        else:
            open_expectations.remove(met)
    problems += (
        f"{chunk.name}:{e.written}: error: expected error was not produced: {e.text}" for e in open_expectations
    )
    return problems


def line_of(error: XRelayError) -> int | None:
    """The line that an error points at."""
    match = _LINE.search(error.location) if error.location is not None else None
    return int(match[1]) if match is not None else None


def _target_line(where: str | None, number: int) -> int | None:
    """The line that an expectation written on line `number` is about."""
    match where:
        case None:
            return number
        case "unknown":
            return None
        case "above":
            return number - 1
        case "below":
            return number + 1
        case _:
            return number + int(where)
