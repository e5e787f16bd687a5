"""Diagnostics of a text, the types of its values, and the result of a pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import Operation

from xrelay.errors import XRelayError
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verification_errors, walk_ops
from xrelay.tools.opt.diagnostics import split_chunks

_PLACE: Final = re.compile(r":(\d+):(\d+)$")


@dataclass(frozen=True)
class Finding:
    """An error at a line and column, which are counted from 0, with notes at other places of the text."""

    line: int
    column: int
    message: str
    notes: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Analysis:
    """The pieces of a text between lines `// -----` that are valid syntax, and the errors of all pieces."""

    modules: tuple[ModuleOp, ...]
    findings: tuple[Finding, ...]

    def op_at(self, line: int) -> Operation | None:
        """Returns the first op that begins on a line, counted from 0."""
        for op in (op for module in self.modules for op in walk_ops(module)):
            location = op.location
            if isinstance(location, FileLineColLoc) and location.line.data == line + 1:
                return op
        return None


def analyse(text: str, name: str) -> Analysis:
    """Parses and verifies each piece of a text. A module that is no valid syntax has one finding."""
    modules: list[ModuleOp] = []
    findings: list[Finding] = []
    for chunk in split_chunks(text, name, split=True):
        if not chunk.text.strip():
            continue
        try:
            module = parse_module(full_context(), chunk.text, name, line_offset=chunk.line_offset)
        except XRelayError as error:
            findings.append(_finding(error, chunk.line_offset))
            continue
        modules.append(module)
        findings += (_finding(error, chunk.line_offset) for error in verification_errors(module))
    return Analysis(tuple(modules), tuple(findings))


def _finding(error: XRelayError, first_line: int) -> Finding:
    line, column = _place(error.location) or (first_line, 0)
    message = error.message if error.help is None else f"{error.message}; help: {error.help}"
    return Finding(line, column, message, tuple(_notes(error)))


def _notes(error: XRelayError) -> Iterator[Finding]:
    for note in error.notes():
        head, _, message = note.partition(": note: ")
        if (place := _place(head)) is not None:
            yield Finding(*place, message)


def _place(location: str | None) -> tuple[int, int] | None:
    """Returns line and column of `file:line:col`, counted from 0."""
    found = None if location is None else _PLACE.search(location)
    return None if found is None else (int(found[1]) - 1, int(found[2]) - 1)


def run_pass(text: str, name: str, pipeline: str) -> str:
    """Returns the text after passes in the syntax of `xrelay-opt -p`. Raises errors of the parser and passes."""
    context = full_context()
    pieces: list[str] = []
    for chunk in split_chunks(text, name, split=True):
        module = parse_module(context, chunk.text, name, line_offset=chunk.line_offset)
        run_pipeline(module, parse_passes(pipeline, pass_thunks()), context=context)
        pieces.append(print_module(module) + "\n")
    return "// -----\n".join(pieces)
