"""Excerpts: the source line that a message refers to, with a caret below its column."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LOCATION = re.compile(r"(?P<name>.*?):(?P<line>\d+):(?P<column>\d+): (?:error|note|warning|remark): ")
MAX_WIDTH = 120
"""The maximum number of characters shown of a line; a longer line is cut around the caret."""


def excerpt(message: str, sources: Mapping[str, str]) -> list[str]:
    """Returns the source line of a message `name:line:column: …` and the line with the caret, if `sources` has `name`.

    Returns nothing for a message about another file or without a location.
    """
    location = _LOCATION.match(message)
    if location is None or location["name"] not in sources:
        return []
    lines = sources[location["name"]].split("\n")
    number, column = int(location["line"]), int(location["column"])
    if not 1 <= number <= len(lines):
        return []
    line = "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in lines[number - 1].rstrip("\r"))
    if column > len(line) + 1 or not line:
        return []
    start = max(0, min(column - 1 - MAX_WIDTH // 2, len(line) - MAX_WIDTH))
    shown = line[start : start + MAX_WIDTH]
    before = "".join("\t" if char == "\t" else " " for char in shown[: column - 1 - start])
    return [shown, before + "^"]
