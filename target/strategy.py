"""Registers the implementations of an operator on a target, and selects one with a reason.

An operator may have several valid implementations. Each has a condition, a priority (Relay's plevel) and a function
that the lowering calls. Of those whose condition holds, the one with the highest priority is selected, and the
selection records the reason. The registry does not interpret the functions (`BuildT`).
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
"""The default priority of an implementation, as in Relay."""


def is_implemented(op: type[Operation]) -> bool:
    """Whether the op has a method `compute` or a registered implementation, so that it is lowered whole.

    For passes over relay, which do not depend on implementations. Imports those of other packages first.
    """
    load_plugins("strategies")
    return op in _implemented or callable(getattr(op, "compute", None))


def always(op: Operation) -> str | None:
    """The condition of an implementation that applies to every op of its class."""
    return None


@dataclass(frozen=True)
class Implementation(Generic[BuildT]):
    """A way to compute an operator. `condition` returns the reason why it does not apply, or `None`."""

    name: str
    build: BuildT
    priority: int
    condition: Callable[[Operation], str | None]


@dataclass(frozen=True)
class Selection(Generic[BuildT]):
    """The implementation selected for an op, and the reason."""

    implementation: Implementation[BuildT]
    reason: str


class StrategyRegistry(Generic[BuildT]):
    """Implementations by operator class; other packages register theirs in the same registry.

    `own` returns the implementation that a class has itself, or None.
    """

    def __init__(self, own: Callable[[type[Operation]], Implementation[BuildT] | None] = lambda op: None) -> None:
        self._own = own
        self._implementations: dict[type[Operation], list[Implementation[BuildT]]] = {}

    def register(
        self,
        op: type[Operation],
        name: str,
        *,
        priority: int = DEFAULT_PRIORITY,
        condition: Callable[[Operation], str | None] = always,
    ) -> Callable[[BuildT], BuildT]:
        """A decorator that makes a build function an implementation of the op. Names must be unique per op."""

        def decorate(build: BuildT) -> BuildT:
            known = self._implementations.setdefault(op, [])
            if any(implementation.name == name for implementation in known):
                raise LoweringError(f"{op.name} already has an implementation called {name!r}")
            _implemented.add(op)
            known.append(Implementation(name, build, priority, condition))
            return build

        return decorate

    def ops(self) -> list[type[Operation]]:
        """Returns the operators that have an implementation."""
        return list(self._implementations)

    def implementations(self, op: type[Operation]) -> list[Implementation[BuildT]]:
        """Returns all implementations of an operator, highest priority first."""
        own = self._own(op)
        known = [*self._implementations.get(op, []), *([own] if own is not None else [])]
        return sorted(known, key=lambda item: -item.priority)

    def select(self, op: Operation) -> Selection[BuildT]:
        """Returns the implementation for `op`. Raises a `LoweringError` with every refusal if none applies."""
        refusals: list[str] = []
        for implementation in self.implementations(type(op)):
            refusal = implementation.condition(op)
            if refusal is None:
                passed_over = "; ".join(refusals) if refusals else "first choice"
                return Selection(implementation, f"priority {implementation.priority}; {passed_over}")
            refusals.append(f"{implementation.name}: {refusal}")
        why = "; ".join(refusals) if refusals else "none registered"
        raise LoweringError(f"no implementation of {op.name} applies: {why}")
