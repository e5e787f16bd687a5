"""LLVM IR and assembly as levels, linked by the names of functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from xrelay.tools.explore.linked_text import Level, Span, nodes_of

_DEFINITION: Final = re.compile(r'define .*?@"?([^"(]+)"?\(')
_LABEL: Final = re.compile(r'"?([^".\s][^"\s]*?)"?:')
_END_OF_FUNCTION: Final = ".Lfunc_end"


def llvm_level(texts: Sequence[str], computed: Mapping[str, Sequence[str]]) -> Level:
    """Returns the LLVM IR of all pieces of a program."""
    text = "\n".join(texts)
    return Level("llvm-ir", "LLVM IR before LLVM's optimiser", text, tuple(_definitions(text, computed)))


def _definitions(text: str, computed: Mapping[str, Sequence[str]]) -> Iterator[Span]:
    start, nodes = 0, ()
    for number, line in enumerate(text.split("\n")):
        if (found := _DEFINITION.match(line)) is not None:
            start, nodes = number, nodes_of(found[1], computed)
        elif line == "}" and nodes:
            yield Span(start, number, nodes)
            nodes = ()


def assembly_level(listings: Sequence[str], computed: Mapping[str, Sequence[str]]) -> Level:
    """Returns the assembly of all pieces of a program."""
    text = "\n".join(listings)
    return Level("assembly", "assembly after LLVM's optimiser", text, tuple(_labelled(text, computed)))


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
