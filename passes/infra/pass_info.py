"""`PassInfo`, the description of a pass, and checks of arguments: levels, and names of passes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import cast

from xrelay.errors import PassError, XRelayError, did_you_mean
from xrelay.passes.catalogue.relay_names import ELSEWHERE, ROWS, canonical
from xrelay.passes.infra.xrelay_pass import UNKNOWN, Numerics
from xrelay.raised import combine_classes, raised


class PassArgumentError(PassError, ValueError):
    """An argument of a pass, decorator or context has an invalid value."""


class PassTypeError(PassError, TypeError):
    """An argument of a pass, decorator or context has the wrong type."""


@dataclass(frozen=True)
class PassInfo:
    """The description of a pass for contexts and instruments.

    `opt_level` is the lowest level of a context at which a `Sequential` runs the pass, `required` are the names of the
    passes that the `Sequential` runs directly before it, and `traceable` is Relay's flag, kept for compatibility.
    `spec` is the pass in the syntax of `xrelay-opt -p`, empty for passes that exist in Python only, and
    `unserializable` are its options that cannot be written as text, such as functions. `numerics` is the permitted
    change of results. These three are not compared.

    Raises `PassTypeError` or `PassArgumentError` for an invalid level, name or list of names.
    """

    opt_level: int
    name: str
    required: tuple[str, ...] = ()
    traceable: bool = False
    spec: str = field(default="", compare=False, kw_only=True)
    unserializable: tuple[str, ...] = field(default=(), compare=False, kw_only=True)
    numerics: Numerics = field(default=UNKNOWN, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        """Validates the fields; a list of required names becomes a tuple."""
        check_level(self.opt_level, "PassInfo")
        required = check_names(self.required, "Required")
        object.__setattr__(self, "required", required)
        (name,) = check_names([self.name], "PassInfo")
        if not name:
            raise PassArgumentError("PassInfo: a pass needs a name")

    @property
    def title(self) -> str:
        """The title of the pass in reports: `spec` with its options if it has the same name, else the name."""
        return self.spec if self.spec.startswith(self.name) else self.name

    def __repr__(self) -> str:
        return f"PassInfo(name={self.name!r}, opt_level={self.opt_level}, required={list(self.required)})"

    __str__ = __repr__


def check_level(level: object, owner: str) -> int:
    """Returns `level` if it is a valid optimisation level; the `PassTypeError` or `PassArgumentError` names `owner`."""
    if isinstance(level, bool) or not isinstance(level, int):
        raise PassTypeError(f"{owner}: opt_level must be an int, found {level!r}")
    if level < 0:
        raise PassArgumentError(f"{owner}: opt_level must not be negative, found {level}")
    return level


def check_names(names: object, what: str) -> tuple[str, ...]:
    """Returns a list, tuple or set of strings as a tuple, and None as an empty one; else raises `PassTypeError`."""
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
    """Returns `error` as an `XRelayError` whose message names the pass `name`.

    An `XRelayError` is changed in place. For any other exception, a new `PassError` is returned, to be raised from it;
    its class also derives from the exception's class.

    `doing` describes the activity, e.g. the hook of an instrument. A message that already names the pass is not
    changed.
    """
    if isinstance(error, XRelayError):
        if not any(f"[{known}]" in error.message for known in (name, *aliases)):
            message = error.message
            for known in (name, *aliases):
                message = message.removeprefix(f"{known}: ")
            error.message = f"[{name}] {doing + ': ' if doing else ''}{message}"
        return error
    if isinstance(error, RecursionError):
        return combine_classes(
            PassError(f"[{name}] the program is nested too deeply", help="split the function"), error
        )
    return combine_classes(PassError(f"[{name}] {doing + ' ' if doing else ''}{raised(error)}"), error)


_OTHER_NAMES: set[str] = set()


def remember_names(names: Iterable[str]) -> None:
    """Adds pass names for `check_known`: those of users' passes, and of other tables."""
    _OTHER_NAMES.update(names)


def known_names() -> list[str]:
    """Returns every pass name that a context accepts."""
    return [*ROWS, *sorted(_OTHER_NAMES), *sorted(ELSEWHERE - ROWS.keys())]


def check_known(names: object, what: str) -> frozenset[str]:
    """Returns `names` in canonical form; raises as `check_names`.

    Raises `PassArgumentError`, with the closest name, for an unknown one.
    """
    found: set[str] = set()
    for name in check_names(names, what):
        if name not in ROWS and name not in _OTHER_NAMES and name not in ELSEWHERE:
            hint = did_you_mean(name, known_names(), "create the pass before the context that names it")
            raise PassArgumentError(f"{what}: no pass is called {name!r}", help=hint)
        found.add(canonical(name))
    return frozenset(found)
