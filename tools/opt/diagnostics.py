"""Pieces of an input file, their diagnostics, and the comments that expect these (`--verify-diagnostics`).

`// expected-error {{text}}` expects an error that contains the text, on the line of the comment; `expected-warning`,
`expected-note` and `expected-remark` are analogous. Notes and remarks need no comment. `@above`, `@below`, `@+2` and
`@-1` refer to another line, and `@unknown` to no location in the file. A comment may expect several diagnostics.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xrelay.errors import XRelayError, did_you_mean

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


_LINE = re.compile(r":(\d+):\d+$")


@dataclass(frozen=True)
class Diagnostic:
    """An `error`, `warning`, `note` or `remark` (`kind`) at `location`; `text` is the printed line."""

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


def error_diagnostics(errors: Iterable[XRelayError]) -> Iterator[Diagnostic]:
    """Yields the diagnostics of errors, each before those of its notes."""
    for error in errors:
        yield error_diagnostic(error)
        for text in error.notes():
            location, _, message = text.rpartition("note: ") if ": note: " not in text else text.partition(": note: ")
            yield Diagnostic("note", location or None, message, text)


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


KINDS = ("error", "warning", "note", "remark")
_EXPECTATION = re.compile(r"expected-(?P<kind>[a-z]+)(?:[ \t]*@[ \t]*(?P<where>[^\s{]*))?[ \t]*\{\{(?P<text>.*?)\}\}")


@dataclass(frozen=True)
class Expectation:
    """An expected diagnostic: on `line` (`None` is outside of the file), containing `text`."""

    line: int | None
    text: str
    written: int
    """The line of the comment itself."""
    kind: str = "error"

    def is_met_by(self, found: Diagnostic) -> bool:
        """Whether `found` is of the kind, on the line, and contains the text."""
        return (self.kind, self.line) == (found.kind, found.line) and self.text in found.text


def find_expectations(chunk: Chunk) -> list[Expectation]:
    """Returns the expectations in a piece of a file, with line numbers of the file."""
    found: list[Expectation] = []
    for number, text in enumerate(chunk.text.split("\n"), start=chunk.line_offset + 1):
        for match in _EXPECTATION.finditer(text):
            if match["kind"] not in KINDS:
                hint = did_you_mean(match["kind"], KINDS, f"use {', '.join(f'expected-{kind}' for kind in KINDS)}")
                raise XRelayError(
                    f"unknown expectation expected-{match['kind']}",
                    location=f"{chunk.name}:{number}",
                    help=hint,
                )
            line = _target_line(match["where"], number, chunk.name)
            found.append(Expectation(line, match["text"], number, match["kind"]))
    return found


def mismatches(
    chunk: Chunk, expected: Sequence[Expectation], diagnostics: Sequence[Diagnostic], *, all_remarks: bool = False
) -> list[str]:
    """Returns one line for each unexpected diagnostic, and for each unmet expectation.

    Unexpected notes are ignored, and unexpected remarks unless `all_remarks`.
    """
    open_expectations = list(expected)
    problems: list[str] = []
    for found in diagnostics:
        met = next((e for e in open_expectations if e.is_met_by(found)), None)
        if met is not None:
            open_expectations.remove(met)
        elif found.kind not in ("note", "remark") or (found.kind == "remark" and all_remarks):
            place = found.location if found.location is not None else chunk.name
            problems.append(f"{place}: error: unexpected {found.kind}: {found.message}")
    problems += (
        f"{chunk.name}:{e.written}: error: expected {e.kind} was not produced: {e.text}" for e in open_expectations
    )
    return problems


def _target_line(where: str | None, number: int, name: str) -> int | None:
    """Returns the line that an expectation written on line `number` refers to."""
    match where:
        case None:
            return number
        case "unknown":
            return None
        case "above":
            return number - 1
        case "below":
            return number + 1
        case _ if re.fullmatch(r"[+-]\d+", where):
            return number + int(where)
        case _:
            raise XRelayError(
                f"unknown position @{where} of an expectation",
                location=f"{name}:{number}",
                help="use @above, @below, @+N, @-N or @unknown",
            )
