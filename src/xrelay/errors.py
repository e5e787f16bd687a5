"""The exceptions of xrelay: each has a one-line message, and may have a location and a hint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MAX_CHARACTERS: Final = 4000
"""The maximum number of characters printed of a message, a location or a hint."""


def printable(text: str) -> str:
    """Returns `text` with control characters escaped.

    Names in foreign models may contain line breaks or terminal commands.
    """
    return text if text.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def one_line(message: str) -> str:
    """Returns `message` on one line: whitespace runs become single blanks, control characters are escaped."""
    return printable(" ".join(message.split()))


def shortened(text: str) -> str:
    """Returns `text`, or the two ends of an over-long text and its number of characters."""
    if len(text) <= MAX_CHARACTERS:
        return text
    return f"{text[: MAX_CHARACTERS // 2]}… ({len(text)} characters) …{text[-MAX_CHARACTERS // 2 :]}"


class XRelayError(Exception):
    """Base class of the errors that xrelay raises.

    `location` is `file:line:col` or the name of a source node; `help` describes the remedy. Both are optional.
    `str(error)` is `location: message; help: …`, to which Python prepends the class name. Tools print `render()`, which
    adds the word `error:`. Both are one line and shorten long texts.
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
        """Returns the line that tools print: `location: error: message; help: …`."""
        return self._line("error: ")

    def add_place(self, message: str, location: str) -> None:
        """Adds a note about another location, such as that of a first definition."""
        self.add_note(f"{location}: note: {message}")

    def notes(self) -> list[str]:
        """Returns the notes, one line each: `location: note: message`, or `note: message` without a location."""
        notes: list[str] = getattr(self, "__notes__", [])
        return [printable(shortened(note) if ": note: " in note else f"note: {shortened(note)}") for note in notes]

    def _line(self, severity: str) -> str:
        # Names in foreign models may contain line breaks and terminal commands.
        place = f"{shortened(self.location)}: " if self.location else ""
        hint = f"; help: {shortened(self.help)}" if self.help else ""
        return printable(f"{place}{severity}{shortened(self.message)}{hint}")


class ConstraintError(XRelayError):
    """A violated constraint (C1, C2, …) of an op, identified by `op_name` and `constraint`."""

    op_name: str
    constraint: str

    def __init__(
        self, op_name: str, constraint: str, message: str, *, location: str | None = None, help: str | None = None
    ):
        self.op_name, self.constraint = op_name, constraint
        super().__init__(f"[{op_name} {constraint}] {message}", location=location, help=help)
        self.args = (op_name, constraint, message)  # the arguments that copy and pickle pass to the class


class DimensionError(XRelayError):
    """An expression over dimensions has no value: it divides by zero, or its extents do not broadcast."""


class ContradictionError(DimensionError):
    """A fact about dimensions contradicts known facts."""


class TypeInferenceError(XRelayError):
    """Type inference failed: the constraints contradict each other or leave a type undetermined."""


class TensorTypeError(TypeInferenceError, ValueError):
    """A type without a shape or element type is used as a tensor, or dimension names do not fit the extents."""


class ModelImportError(XRelayError):
    """A foreign model cannot be read or converted."""


class PassError(XRelayError):
    """A pass was misused or failed."""


class ScheduleError(XRelayError):
    """A schedule primitive refused; the message names the primitive, its target and the reason."""


class LoweringError(XRelayError):
    """A construct has no lowering to the next level."""


class InterpreterError(XRelayError):
    """A program cannot be interpreted."""


class InputError(XRelayError):
    """An argument of a compiled model or of the API is invalid: a name, shape, dtype or option."""


class ExecutionError(XRelayError):
    """Native code returned an error status."""


class OutOfMemoryError(XRelayError, MemoryError):
    """The system provides no more memory, address space or threads."""


class ArtifactError(XRelayError):
    """A saved model cannot be loaded: it is damaged, or of another version or ABI."""


class ParseError(XRelayError):
    """Text is not valid IR."""


class VerificationError(XRelayError):
    """A module violates a rule of its dialects or of SSA form."""


def with_article(noun: str) -> str:
    """Returns `noun` with its indefinite article: `an int`, `a list`."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Returns the help for an unknown name: a suggestion of the closest in `known`, or `otherwise` if none is close."""
    close = closest(name, known)
    return otherwise if close is None else f"did you mean {close!r}?"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name that is closest to an unknown one; `None` if none is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), n=1)), None)
