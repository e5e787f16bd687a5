"""Excerpts: the source line that a message is about, and a caret below its column."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLACE = re.compile(r"(?P<name>.*?):(?P<line>\d+):(?P<column>\d+): (?:error|note|warning|remark): ")
MAX_WIDTH = 120
"""The characters of a line that are shown; a longer one is cut around the caret."""


def excerpt(message: str, sources: Mapping[str, str]) -> list[str]:
    """The line at `name:line:column: …` of a message and the line with the caret, where `sources` has the text `name`.

    Nothing for a message about another file or about no place of one.
    """
    place = _PLACE.match(message)
    if place is None or place["name"] not in sources:
        return []
    lines = sources[place["name"]].split("\n")
    number, column = int(place["line"]), int(place["column"])
    if not 1 <= number <= len(lines):
        return []
    line = "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in lines[number - 1].rstrip("\r"))
    if column > len(line) + 1 or not line:
        return []
    start = max(0, min(column - 1 - MAX_WIDTH // 2, len(line) - MAX_WIDTH))
    shown = line[start : start + MAX_WIDTH]
    before = "".join("\t" if char == "\t" else " " for char in shown[: column - 1 - start])
    return [shown, before + "^"]
