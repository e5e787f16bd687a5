"""Registers the implementations of an operator on a target, and chooses one with a reason.

An operator may have several valid implementations; each has a condition, a priority (Relay's plevel) and a function
that the lowering calls. The greatest priority among those whose condition holds wins, and the choice is kept with its
reason. Data only: what an implementation builds is the lowering's business (`BuildT`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from xdsl.ir import Operation

from xrelay.errors import LoweringError
from xrelay.plugins import load_plugins

BuildT = TypeVar("BuildT")

_implemented: set[type[Operation]] = set()

DEFAULT_PRIORITY = 10
"""The priority of an implementation that does not name one, as in Relay."""


def is_implemented(op: type[Operation]) -> bool:
    """Whether an implementation of the op is registered, so that the target takes it whole.

    Passes over relay ask, which know no implementation. Those of other packages are imported first.
    """
    load_plugins("strategies")
    return op in _implemented


def always(op: Operation) -> str | None:
    """The condition of an implementation that fits every op of its name."""
    return None


@dataclass(frozen=True)
class Implementation(Generic[BuildT]):
    """One way to compute an operator. `condition` gives the reason why it does not fit, or `None` where it does."""

    name: str
    build: BuildT
    priority: int
    condition: Callable[[Operation], str | None]


@dataclass(frozen=True)
class Selection(Generic[BuildT]):
    """The implementation chosen for one op, and why."""

    implementation: Implementation[BuildT]
    reason: str


class StrategyRegistry(Generic[BuildT]):
    """Implementations by class of operator; other packages register theirs in the same registry."""

    def __init__(self) -> None:
        self._implementations: dict[type[Operation], list[Implementation[BuildT]]] = {}

    def register(
        self,
        op: type[Operation],
        name: str,
        *,
        priority: int = DEFAULT_PRIORITY,
        condition: Callable[[Operation], str | None] = always,
    ) -> Callable[[BuildT], BuildT]:
        """Decorator: make a build function an implementation of the op. A second one of the same name is refused."""

        def decorate(build: BuildT) -> BuildT:
            known = self._implementations.setdefault(op, [])
            if any(implementation.name == name for implementation in known):
                raise LoweringError(f"{op.name} has an implementation called {name!r} already")
            _implemented.add(op)
            known.append(Implementation(name, build, priority, condition))
            return build

        return decorate

    def ops(self) -> list[type[Operation]]:
        """The operators that have an implementation."""
        return list(self._implementations)

    def implementations(self, op: type[Operation]) -> list[Implementation[BuildT]]:
        """All implementations of an operator, greatest priority first."""
        return sorted(self._implementations.get(op, []), key=lambda item: -item.priority)

    def select(self, op: Operation) -> Selection[BuildT]:
        """The implementation for `op`; raises `LoweringError` naming every refusal where none fits."""
        refusals: list[str] = []
        for implementation in self.implementations(type(op)):
            refusal = implementation.condition(op)
            if refusal is None:
                passed_over = "; ".join(refusals) if refusals else "nothing preferred to it"
                return Selection(implementation, f"priority {implementation.priority}; {passed_over}")
            refusals.append(f"{implementation.name}: {refusal}")
        why = "; ".join(refusals) if refusals else "none is registered"
        raise LoweringError(f"no implementation of {op.name} fits: {why}")
