"""Modules outside of xrelay that have registered anything that affects compilation.

Every registration of an op, its evaluation, an implementation, a schedule or a converter notes its module here. The
cache of compiled models reads the list: its keys cover the files of installed plugins, but not the registrations of a
program itself.
"""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from inspect import currentframe
from typing import Final, TypeVar, cast

from xrelay.forking import forks_wait

KeyT = TypeVar("KeyT")
ThingT = TypeVar("ThingT")
OtherT = TypeVar("OtherT")

BEGAN_NANOSECONDS: Final = time.time_ns()
"""The time of the first import of this module in this process; extensions register when they are imported."""

_modules: set[str] = set()
_in_scope: ContextVar[bool] = ContextVar("in a scope with registrations", default=False)


def note_registration(thing: object) -> None:
    """Notes the module that defines a function or class being registered."""
    name = getattr(thing, "__module__", None)
    module = name if isinstance(name, str) else "?"
    if not module.startswith("xrelay."):
        _modules.add(module)


def registering(table: dict[KeyT, ThingT], *keys: KeyT) -> Callable[[OtherT], OtherT]:
    """Returns a decorator that enters a function or class in `table` under `keys`, in place of earlier entries."""

    def register(thing: OtherT) -> OtherT:
        table.update(dict.fromkeys(keys, cast(ThingT, thing)))
        note_registration(thing)
        return thing

    return register


def note_caller() -> None:
    """Notes the module from which the calling function was called.

    For registered values that do not name their module.
    """
    here = currentframe()
    registrar = None if here is None else here.f_back
    caller = None if registrar is None else registrar.f_back
    name = "?" if caller is None else str(caller.f_globals.get("__name__", "?"))
    if not name.startswith("xrelay."):
        _modules.add(name)


def importing_module() -> str:
    """Returns the module whose import calls this function; `?` outside of an import."""
    frame = currentframe()
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return "?" if frame is None else str(frame.f_globals.get("__name__", "?"))


@cache
def import_modules(package: str) -> None:
    """Imports every module in `package`, at any depth, once per process, so that each registers its definitions.

    A family of ops, evaluations, implementations or converters is one file in the folder of its kind. No handwritten
    list names it; `make stubs` writes the tables by which a single family is imported.
    """
    with forks_wait():
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)


def import_registrations(modules: Iterable[str]) -> None:
    """Imports modules, so that each registers its definitions."""
    with forks_wait():
        for module in modules:
            import_module(module)


@contextmanager
def registration_scope() -> Generator[None]:
    """A `with` block whose registrations are temporary and apply to this thread only."""
    token = _in_scope.set(True)
    try:
        yield
    finally:
        _in_scope.reset(token)


def in_registration_scope() -> bool:
    """Whether this thread is in a `registration_scope`."""
    return _in_scope.get()


def registering_modules() -> frozenset[str]:
    """Returns the names of the modules noted so far; `?` is an unknown module."""
    return frozenset(_modules)
