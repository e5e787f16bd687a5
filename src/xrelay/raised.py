"""Errors that wrap an exception of user code and are also instances of that exception's class.

A user's pass, hook or instrument may raise any exception. The caller receives an `XRelayError` that names the pass or
hook, and an `except RuntimeError` around a user's own pass still catches it.
"""

from __future__ import annotations

from contextlib import suppress
from types import GetSetDescriptorType, MemberDescriptorType, new_class
from typing import TypeVar, cast

from xrelay.errors import XRelayError, one_line

E = TypeVar("E", bound=XRelayError)

_OWN = ("__dict__", "__weakref__")
"""Descriptors that are not fields."""


def raised(error: Exception) -> str:
    """Returns the end of a message that describes `error`: `raised KeyError: 'bias'`."""
    text = error.message if isinstance(error, XRelayError) else str(error)
    return f"raised {type(error).__name__}: {one_line(text)}"


def combine_classes(found: E, error: Exception) -> E:
    """Returns `found` as an instance of the class of `error` too, to be raised from `error`.

    The result has the arguments and attributes of `error`. Returns `found` itself if no such class can be made: the
    class of `error` cannot be subclassed, cannot be combined with that of `found`, or has a `message` that cannot be
    set.
    """
    kind = type(found)
    try:
        made = _instance(kind, error)
    except Exception:  # User-defined constructors and metaclasses may raise anything.
        return found
    made.__dict__.update(vars(error) | vars(found))
    return made if str(made) == str(found) else found


def _instance(kind: type[E], error: Exception) -> E:
    """Returns an instance of `kind` and of the class of `error`, with the slots and other descriptors of `error`."""
    given = type(error)
    bases = (given,) if issubclass(given, kind) else (kind,) if issubclass(kind, given) else (kind, given)

    def reduce(self: E) -> tuple[object, ...]:
        return _rebuild, (kind, error), vars(self)

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


def _rebuild(kind: type[E], error: Exception) -> E:
    """Rebuilds such an error for copy and pickle, which then restore its attributes."""
    return combine_classes(kind(""), error)
