"""The contexts that a thread has entered, kept separate from `PassContext`.

A caller that only checks for an entered context does not need to import the passes.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol


class EnteredContext(Protocol):
    """The part of a `PassContext` that its readers outside of the passes use."""

    opt_level: int
    required_pass: frozenset[str]
    disabled_pass: frozenset[str]

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    @property
    def instruments(self) -> Sequence[object]:
        """The instruments."""
        ...

    @property
    def config(self) -> Mapping[str, object]:
        """The values of config keys."""
        ...


class _Thread(threading.local):
    """The identity of one thread."""

    def __init__(self) -> None:
        self.mark = object()


_THREAD = _Thread()
_ENTERED: ContextVar[tuple[object, tuple[EnteredContext, ...]]] = ContextVar("entered pass contexts")
"""The identity of a thread, and the contexts entered there. Another thread may start with a copy, which it ignores."""


def entered_contexts() -> tuple[EnteredContext, ...]:
    """Returns the contexts that this thread, or the task in it, has entered, innermost last."""
    thread, contexts = _ENTERED.get((None, ()))
    return contexts if thread is _THREAD.mark else ()


def innermost_context() -> EnteredContext | None:
    """Returns the innermost context that this thread has entered, or None."""
    return next(reversed(entered_contexts()), None)


def set_entered(contexts: tuple[EnteredContext, ...]) -> None:
    """Sets the contexts that this thread, or the task in it, has entered."""
    _ENTERED.set((_THREAD.mark, contexts))
