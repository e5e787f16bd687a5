"""LLVM IR and assembly as levels, linked by the locations of instructions and the names of functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from xrelay.api.stage_dump import NativePiece
from xrelay.tools.explore.linked_text import Level, Span, names_of, nodes_of

_DEFINITION: Final = re.compile(r'define .*?@"?([^"(]+)"?\(')
_LABEL: Final = re.compile(r'"?([^".\s][^"\s]*?)"?:')
_END_OF_FUNCTION: Final = ".Lfunc_end"


def llvm_level(pieces: Sequence[NativePiece], computed: Mapping[str, Sequence[str]]) -> Level:
    """Returns the LLVM IR of all pieces of a program."""
    found = [{line: names_of(location) for line, location in piece.locations.items()} for piece in pieces]
    texts = [piece.text for piece in pieces]
    text = "\n".join(texts)
    title = "LLVM IR before LLVM's optimiser"
    return Level("llvm-ir", title, text, tuple(_definitions(text, computed)), _joined(texts, found))


def assembly_level(pieces: Sequence[NativePiece], computed: Mapping[str, Sequence[str]]) -> Level:
    """Returns the assembly of all pieces of a program."""
    found: list[Mapping[int, tuple[str, ...]]] = []
    for piece in pieces:
        places = piece.locations
        origins = {line: origin for line, origin in piece.listing.lines.items() if origin in places}
        found.append({line: names_of(places[origin]) for line, origin in origins.items()})
    texts = [piece.listing.text for piece in pieces]
    text = "\n".join(texts)
    title = "assembly after LLVM's optimiser"
    return Level("assembly", title, text, tuple(_labelled(text, computed)), _joined(texts, found))


def _joined(texts: Sequence[str], nodes: Sequence[Mapping[int, tuple[str, ...]]]) -> dict[int, tuple[str, ...]]:
    """Returns the nodes of lines of joined texts, without lines that have none."""
    joined: dict[int, tuple[str, ...]] = {}
    first = 0
    for text, own in zip(texts, nodes, strict=True):
        joined |= {first + line: names for line, names in own.items() if names}
        first += text.count("\n") + 1
    return joined


def _definitions(text: str, computed: Mapping[str, Sequence[str]]) -> Iterator[Span]:
    start, nodes = 0, ()
    for number, line in enumerate(text.split("\n")):
        if (found := _DEFINITION.match(line)) is not None:
            start, nodes = number, nodes_of(found[1], computed)
        elif line == "}" and nodes:
            yield Span(start, number, nodes)
            nodes = ()


def _labelled(text: str, computed: Mapping[str, Sequence[str]]) -> Iterator[Span]:
    """Yields the lines from the label of each function to the local label at its end."""
    start, nodes = 0, ()
    for number, line in enumerate(text.split("\n")):
        if line.startswith(_END_OF_FUNCTION):
            if nodes:
                yield Span(start, number, nodes)
            nodes = ()
        elif not nodes and (found := _LABEL.match(line)) is not None:
            start, nodes = number, nodes_of(found[1], computed)
