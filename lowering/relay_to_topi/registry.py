"""The implementations of relay's operators: their methods `compute`, and strategies.

    @implements(Conv2DOp, "conv2d_nchwc", priority=15, condition=why_not_blocked)
    def build(build: TopiBuilder) -> Sequence[SSAValue]: …

A strategy is a further implementation, which is faster under a condition or on a target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol, cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.computes.builder import Build, TopiBuilder
from xrelay.dialects.relay.computes.widening import in_single, into_single
from xrelay.dialects.relay.core.mixed_precision import HalfPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.plugins import load_plugins
from xrelay.registrations import import_modules, note_registration
from xrelay.target.strategy import DEFAULT_PRIORITY, Implementation, StrategyRegistry, always


class ComputedOp(Protocol):
    """An operator with an implementation in its class."""

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds the topi ops of the operator and returns its tensors."""
        ...


def own_implementation(op: type[Operation]) -> Implementation[Build] | None:
    """Returns the implementation by the method `compute` of an operator's class; None without one."""
    if not issubclass(op, RelayOp) or not callable(getattr(op, "compute", None)):
        return None
    build = _BY_HALF_PRECISION[op.HALF_PRECISION]
    return Implementation(f"{op.relay_name()}.generic", build, DEFAULT_PRIORITY, always)


def _compute(build: TopiBuilder) -> Sequence[SSAValue]:
    return cast(ComputedOp, build.op).compute(build)


_BY_HALF_PRECISION: Final = {
    HalfPrecision.OWN: _compute,
    HalfPrecision.SINGLE: in_single(_compute),
    HalfPrecision.SINGLE_RESULTS: into_single(_compute),
}

STRATEGIES: StrategyRegistry[Build] = StrategyRegistry(own_implementation)


def load() -> None:
    """Imports the strategies, those of other packages too, once."""
    import_modules("xrelay.lowering.relay_to_topi.strategies")
    load_plugins("strategies")


def implements(
    op: type[Operation],
    name: str,
    *,
    priority: int = DEFAULT_PRIORITY,
    condition: Callable[[Operation], str | None] = always,
) -> Callable[[Build], Build]:
    """Decorator: registers an implementation of a relay op."""
    register = STRATEGIES.register(op, name, priority=priority, condition=condition)

    def decorate(build: Build) -> Build:
        note_registration(build)
        return register(build)

    return decorate
