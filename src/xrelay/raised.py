"""Errors of the family that stand for what somebody else's code raised, and are caught as either.

A pass, a hook or an instrument of a user's raises what it likes. What reaches the caller says in one line which pass
and hook that was, so it is an `XRelayError`; and whoever wrote `except RuntimeError` around a pass of their own catches
it too.
"""

from __future__ import annotations

from contextlib import suppress
from types import GetSetDescriptorType, MemberDescriptorType, new_class
from typing import TypeVar, cast

from xrelay.errors import XRelayError, one_line

E = TypeVar("E", bound=XRelayError)

_OWN = ("__dict__", "__weakref__")
"""Descriptors that are no fields."""


def raised(error: Exception) -> str:
    """What was raised, as the end of a message: `raised KeyError: 'bias'`."""
    text = error.message if isinstance(error, XRelayError) else str(error)
    return f"raised {type(error).__name__}: {one_line(text)}"


def also(found: E, error: Exception) -> E:
    """Returns `found` as an instance of the class of `error` too, to be raised from `error`.

    It has the arguments and attributes of `error`. `found` itself is given where there can be no such class: one that
    has no subclasses, or none beside the class of `found`, or a `message` of its own that cannot be set.
    """
    kind = type(found)
    try:
        made = _instance(kind, error)
    except Exception:  # Constructors and metaclasses of strangers.
        return found
    made.__dict__.update(vars(error) | vars(found))
    return made if str(made) == str(found) else found


def _instance(kind: type[E], error: Exception) -> E:
    """An instance of `kind` and of the class of `error`, with what `error` keeps outside of its dictionary."""
    given = type(error)
    bases = (given,) if issubclass(given, kind) else (kind,) if issubclass(kind, given) else (kind, given)

    def reduce(self: E) -> tuple[object, ...]:
        return _again, (kind, error), vars(self)

    members: dict[str, object] = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "__init__": kind.__init__,
        "__reduce__": reduce,
    }
    combined = cast("type[E]", new_class(kind.__name__, bases, exec_body=lambda namespace: namespace.update(members)))
    made = combined.__new__(combined, *error.args)
    made.args = error.args
    for owner in given.__mro__[: given.__mro__.index(Exception)]:
        for name, descriptor in vars(owner).items():
            if isinstance(descriptor, MemberDescriptorType | GetSetDescriptorType) and name not in _OWN:
                with suppress(AttributeError, TypeError):
                    setattr(made, name, getattr(error, name))
    return made


def _again(kind: type[E], error: Exception) -> E:
    """What copies and pickles of such an error call; its attributes follow."""
    return also(kind(""), error)
