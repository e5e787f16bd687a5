"""Targets as context managers: `with target:` sets the default target of compilations."""

from __future__ import annotations

from contextvars import ContextVar
from types import TracebackType
from typing import Self

_ENTERED: ContextVar[tuple[TargetScope, ...]] = ContextVar("entered targets", default=())


class TargetScope:
    """Base of targets: scopes that nest, per thread and asyncio task."""

    @classmethod
    def current(cls) -> Self | None:
        """Returns the target of the innermost scope that this thread has entered, or `None`."""
        entered = [scope for scope in _ENTERED.get() if isinstance(scope, cls)]
        return entered[-1] if entered else None

    def __enter__(self) -> Self:
        _ENTERED.set((*_ENTERED.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _ENTERED.set(_ENTERED.get()[:-1])
