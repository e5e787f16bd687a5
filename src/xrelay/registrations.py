"""Modules outside of xrelay that have registered something which decides what is compiled.

Whatever registers an op, its meaning, an implementation, a schedule or a converter tells so here. The cache of compiled
models asks: it knows the files of installed plugins, but not what a program registers by itself.
"""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from inspect import currentframe
from typing import Final

BEGAN_NANOSECONDS: Final = time.time_ns()
"""When this process first imported a part of xrelay that others register with, which they do when they are imported."""

_modules: set[str] = set()
_in_scope: ContextVar[bool] = ContextVar("in a scope with registrations", default=False)


def note_registration(thing: object) -> None:
    """Note the module that defines a function or class which is being registered."""
    name = getattr(thing, "__module__", None)
    module = name if isinstance(name, str) else "?"
    if not module.startswith("xrelay."):
        _modules.add(module)


def note_caller() -> None:
    """Note the module that calls the calling function: it registers something of xrelay's own, such as a schedule."""
    here = currentframe()
    registrar = None if here is None else here.f_back
    caller = None if registrar is None else registrar.f_back
    name = "?" if caller is None else str(caller.f_globals.get("__name__", "?"))
    if not name.startswith("xrelay."):
        _modules.add(name)


@cache
def import_modules(package: str) -> None:
    """Import every module of the package called `package`, once in a process: those that register something do so then.

    A family of ops, meanings, implementations or converters is a file in the folder of its kind, and stands in no list.
    """
    for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        import_module(module.name)


@contextmanager
def registration_scope() -> Generator[None]:
    """What is registered for the time of a `with` block, by this thread alone."""
    token = _in_scope.set(True)
    try:
        yield
    finally:
        _in_scope.reset(token)


def in_registration_scope() -> bool:
    """Whether this thread is in a `registration_scope`."""
    return _in_scope.get()


def registering_modules() -> frozenset[str]:
    """The names of the modules noted so far; `?` stands for one that is not known."""
    return frozenset(_modules)
