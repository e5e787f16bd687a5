"""`PassInfo` is the record of a pass; errors of its arguments, and of others that are misused, stand beside it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import cast

from xrelay.errors import PassError, XRelayError
from xrelay.raised import also, raised


class PassArgumentError(PassError, ValueError):
    """An argument of a pass, decorator or context has a value it cannot have."""


class PassTypeError(PassError, TypeError):
    """An argument of a pass, decorator or context is of the wrong type."""


@dataclass(frozen=True)
class PassInfo:
    """The record by which contexts and instruments know a pass.

    `opt_level` is the lowest level of a context at which a `Sequential` runs the pass, `required` the names of the
    passes that the `Sequential` runs just before it, `traceable` is Relay's mark, kept for those who read it. `spec` is
    the pass as `xrelay-opt -p` reads it, empty for passes that exist in Python only, and `unwritten` are its options
    that no text can hold, such as functions; the two take no part in comparisons.

    Raises `PassTypeError` and `PassArgumentError` for a level, name or list of names that is none.
    """

    opt_level: int
    name: str
    required: tuple[str, ...] = ()
    traceable: bool = False
    spec: str = field(default="", compare=False, kw_only=True)
    unwritten: tuple[str, ...] = field(default=(), compare=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check what users pass; a list of required names becomes a tuple."""
        check_level(self.opt_level, "PassInfo")
        required = check_names(self.required, "Required")
        object.__setattr__(self, "required", required)
        (name,) = check_names([self.name], "PassInfo")
        if not name:
            raise PassArgumentError("PassInfo: a pass needs a name")

    @property
    def title(self) -> str:
        """The pass in headings and reports: with its options where `spec` has the same name, else the name."""
        return self.spec if self.spec.startswith(self.name) else self.name

    def __repr__(self) -> str:
        return f"PassInfo(name={self.name!r}, opt_level={self.opt_level}, required={list(self.required)})"

    __str__ = __repr__


def check_level(level: object, owner: str) -> int:
    """`level` as an optimisation level; `PassTypeError` or `PassArgumentError` naming `owner` for what is none."""
    if isinstance(level, bool) or not isinstance(level, int):
        raise PassTypeError(f"{owner}: opt_level must be an int, found {level!r}")
    if level < 0:
        raise PassArgumentError(f"{owner}: opt_level must not be negative, found {level}")
    return level


def check_names(names: object, what: str) -> tuple[str, ...]:
    """`names`, a list, tuple or set of strings, as a tuple; None is none. `PassTypeError` for anything else."""
    if names is None:
        return ()
    if not isinstance(names, list | tuple | set | frozenset):
        raise PassTypeError(f"{what} is expected to be the type of list/tuple, found {type(names).__name__}")
    found: list[str] = []
    for name in cast("Collection[object]", names):
        if not isinstance(name, str):
            raise PassTypeError(f"{what} must hold names of passes, found {name!r}")
        found.append(name)
    return tuple(sorted(found)) if isinstance(names, set | frozenset) else tuple(found)


def naming(error: Exception, name: str, *, doing: str = "", aliases: tuple[str, ...] = ()) -> XRelayError:
    """`error` as one of the project's family whose message names the pass `name`.

    An error of the family stays the object it is; for anything else a `PassError` is made, to be raised from it, that
    `except` catches by the other's class too.
    `doing` says what went on, e.g. which hook of an instrument; a message that names the pass already is not changed.
    """
    if isinstance(error, XRelayError):
        if not any(f"[{known}]" in error.message for known in (name, *aliases)):
            message = error.message
            for known in (name, *aliases):
                message = message.removeprefix(f"{known}: ")
            error.message = f"[{name}] {doing + ': ' if doing else ''}{message}"
        return error
    if isinstance(error, RecursionError):
        return also(PassError(f"[{name}] the program is nested too deeply", help="split the function"), error)
    return also(PassError(f"[{name}] {doing + ' ' if doing else ''}{raised(error)}"), error)
