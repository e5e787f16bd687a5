"""Remarks: one line on the change of an op by a pass, or the reason of a refusal."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Operation

from xrelay.dialects.shared.locations import describe_location


@dataclass(frozen=True)
class Remark:
    """A decision of the pass `pass_name` on the op `op_name` at `location` (a source location or a function)."""

    pass_name: str
    op_name: str
    location: str | None
    applied: bool
    """Whether the pass changed the op. A refusal is also a remark."""
    template: str = field(repr=False)
    """The message with `{}` for each of `values`. It is formatted when it is read, because types are slow to print."""
    values: tuple[object, ...] = field(default=(), repr=False)

    @property
    def message(self) -> str:
        """The change, or the reason of a refusal."""
        return self.template.format(*self.values) if self.values else self.template

    def __str__(self) -> str:
        location = "" if self.location is None else f"{self.location}: "
        return f"{location}remark: {self.pass_name}: {self.op_name}: {self.message}"


class Remarks:
    """The remarks of one run of a pass, in order."""

    def __init__(self, pass_name: str):
        self._pass_name = pass_name
        self.all: list[Remark] = []

    def applied(self, op: Operation, message: str, *values: object) -> None:
        """Adds a remark that `op` was rewritten. Immutable `values`, such as types, replace `{}` when it is read."""
        self.all.append(Remark(self._pass_name, op.name, describe_location(op), True, message, values))

    def refused(self, op: Operation, message: str) -> None:
        """Adds a remark that `op` was left alone, with the reason."""
        self.all.append(Remark(self._pass_name, op.name, describe_location(op), False, message))


Listener: TypeAlias = Callable[[Remark], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("remark_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Calls `listener` with each remark of the passes that run inside the context."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report(remarks: Sequence[Remark]) -> None:
    """Passes remarks to the listener, if there is one."""
    listener = _LISTENER.get()
    if listener is not None:
        for remark in remarks:
            listener(remark)
