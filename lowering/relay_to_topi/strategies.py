"""The strategy registry of relay's operators: `@implements(ReluOp, "relu.generic")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from xrelay.lowering.relay_to_topi.emitter import TopiEmitter
from xrelay.plugins import load_plugins
from xrelay.registrations import import_modules, note_registration
from xrelay.target.strategy import DEFAULT_PRIORITY, StrategyRegistry, always

Build: TypeAlias = Callable[[TopiEmitter], Sequence[SSAValue]]
"""Builds topi ops for one relay op; gives its tensors (several where the relay op gives a tuple)."""

STRATEGIES: StrategyRegistry[Build] = StrategyRegistry()


def load() -> None:
    """Import every family once, and other packages' strategies, so that the implementations are registered."""
    import_modules("xrelay.lowering.relay_to_topi")
    load_plugins("strategies")


def implements(
    op: type[Operation],
    name: str,
    *,
    priority: int = DEFAULT_PRIORITY,
    condition: Callable[[Operation], str | None] = always,
) -> Callable[[Build], Build]:
    """Decorator: register an implementation of a relay op."""
    register = STRATEGIES.register(op, name, priority=priority, condition=condition)

    def decorate(build: Build) -> Build:
        note_registration(build)
        return register(build)

    return decorate
