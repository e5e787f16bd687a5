"""Pieces of an input file that are processed separately."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SEPARATOR = re.compile(r"^// -----[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True)
class Chunk:
    """A piece of the file `name`; `line_offset` is the number of lines before it."""

    text: str
    name: str
    line_offset: int


def split_chunks(text: str, name: str, *, split: bool) -> list[Chunk]:
    """Returns the pieces between lines `// -----`, or the whole text."""
    if not split:
        return [Chunk(text, name, 0)]
    chunks: list[Chunk] = []
    line_offset = 0
    start = 0
    for match in _SEPARATOR.finditer(text):
        chunks.append(Chunk(text[start : match.start()], name, line_offset))
        line_offset += text.count("\n", start, match.end())
        start = match.end()
    chunks.append(Chunk(text[start:], name, line_offset))
    return chunks
