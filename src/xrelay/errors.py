"""The project's own family of exceptions: one line each, naming the place, what is wrong, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

LONGEST: Final = 4000
"""The number of characters that a message, a location or a help is printed with."""


def printable(text: str) -> str:
    """`text` with control characters escaped, as names of foreign models may hold them: one line, and no commands."""
    return text if text.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def one_line(message: str) -> str:
    """A message with runs of blanks and line breaks folded into single blanks, and control characters escaped."""
    return printable(" ".join(message.split()))


def shortened(text: str) -> str:
    """`text`, or both ends of a longer text and the number of its characters."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]}… ({len(text)} characters) …{text[-LONGEST // 2 :]}"


class XRelayError(Exception):
    """Base of every error that a user of xrelay can meet.

    `location` is `file:line:col` or the name of a source node; `help` says what to do. Both may be absent. Python
    writes the name of the class before `str(error)`, which is therefore `location: message; help: …`; tools print
    `render()`, which has the word `error:` as well. Both are one line, in which long texts are shortened.
    """

    message: str
    location: str | None
    help: str | None

    def __init__(self, message: str, *, location: str | None = None, help: str | None = None):
        self.message, self.location, self.help = message, location, help
        super().__init__(message)

    def __str__(self) -> str:
        return self._line("")

    def render(self) -> str:
        """The line that tools print: `location: error: message; help: …`."""
        return self._line("error: ")

    def add_place(self, message: str, location: str) -> None:
        """Add a note about another place, such as that of a first definition."""
        self.add_note(f"{location}: note: {message}")

    def notes(self) -> list[str]:
        """The notes, a line each: `location: note: message`, or `note: message` for one without a place."""
        notes: list[str] = getattr(self, "__notes__", [])
        return [printable(shortened(note) if ": note: " in note else f"note: {shortened(note)}") for note in notes]

    def _line(self, severity: str) -> str:
        # Names of foreign models may have line breaks and commands for the terminal.
        place = f"{shortened(self.location)}: " if self.location else ""
        hint = f"; help: {shortened(self.help)}" if self.help else ""
        return printable(f"{place}{severity}{shortened(self.message)}{hint}")


class ConstraintError(XRelayError):
    """A constraint (C1, C2, …) of an op does not hold. `op_name` and `constraint` identify it."""

    op_name: str
    constraint: str

    def __init__(
        self, op_name: str, constraint: str, message: str, *, location: str | None = None, help: str | None = None
    ):
        self.op_name, self.constraint = op_name, constraint
        super().__init__(f"[{op_name} {constraint}] {message}", location=location, help=help)
        self.args = (op_name, constraint, message)  # what copies and pickles call the class with


class DimensionError(XRelayError):
    """An expression over dimensions has no value: it divides by zero, or its extents do not broadcast."""


class ContradictionError(DimensionError):
    """A fact about dimensions contradicts those that are known already."""


class TypeInferenceError(XRelayError):
    """Types cannot be solved: contradictory, or not enough is known."""


class TensorTypeError(TypeInferenceError, ValueError):
    """A tensor's shape or element type is asked of what is no tensor, or whose names do not suit its extents."""


class ModelImportError(XRelayError):
    """A foreign model cannot be read or converted."""


class PassError(XRelayError):
    """A pass was misused or failed."""


class ScheduleError(XRelayError):
    """A schedule primitive refuses: the message says which primitive, on what, and why."""


class LoweringError(XRelayError):
    """Something has no meaning at the next level."""


class InterpreterError(XRelayError):
    """A program cannot be interpreted."""


class InputError(XRelayError):
    """An argument of a compiled model or of the API is wrong: name, shape, dtype, option."""


class ExecutionError(XRelayError):
    """Native code reported a failing status."""


class OutOfMemoryError(XRelayError, MemoryError):
    """The system gives no more memory, address space or threads."""


class ArtifactError(XRelayError):
    """A saved model cannot be loaded: damaged, or of another version or ABI."""


class ParseError(XRelayError):
    """Text is not valid IR."""


class VerificationError(XRelayError):
    """A module breaks a rule of its dialects, or of SSA form."""


def with_article(noun: str) -> str:
    """A noun with the article before it: `an int`, `a list`."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """The help for a name that is not among `known`: the closest of them, or `otherwise` where none is close."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else otherwise
