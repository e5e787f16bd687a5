"""The contexts that a thread has entered, kept separate from `PassContext`.

A caller that only checks for an entered context does not need to import the passes.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xrelay.passes.infra.pass_context import PassContext


class _Thread(threading.local):
    """The identity of one thread."""

    def __init__(self) -> None:
        self.mark = object()


_THREAD = _Thread()
_ENTERED: ContextVar[tuple[object, tuple[PassContext, ...]]] = ContextVar("entered pass contexts")
"""The identity of a thread, and the contexts entered there. Another thread may start with a copy, which it ignores."""


def entered_contexts() -> tuple[PassContext, ...]:
    """Returns the contexts that this thread, or the task in it, has entered, innermost last."""
    thread, contexts = _ENTERED.get((None, ()))
    return contexts if thread is _THREAD.mark else ()


def innermost_context() -> PassContext | None:
    """Returns the innermost context that this thread has entered, or None."""
    return next(reversed(entered_contexts()), None)


def set_entered(contexts: tuple[PassContext, ...]) -> None:
    """Sets the contexts that this thread, or the task in it, has entered."""
    _ENTERED.set((_THREAD.mark, contexts))
