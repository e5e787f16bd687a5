"""`register_gradient`: gradient rules for `transform.gradient` in Relay's form, on expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.passes.gradient.rule_table import GradientRule, differentiates
from xrelay.registrations import note_registration
from xrelay.relay.expr import Expr, view
from xrelay.relay.replacing import insert_after

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])

_LEVELS: dict[type[RelayOp], int] = {}


def register_gradient(
    op_name: str, fgradient: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Registers the gradient of `op_name`. May be used as a decorator.

    The rule takes the call and the gradient of its result as expressions; it returns a list of the gradients of the
    arguments, each of the argument's type. It replaces xrelay's rule, and rules of a lower or the same `level`. Raises
    `UnknownOpError` for an unknown operator. An invalid result of a rule raises `PassError` in differentiation.
    """
    kind = get_relay_op(op_name)

    def register(function: FunctionT) -> FunctionT:
        if level >= _LEVELS.get(kind, 0):
            _LEVELS[kind] = level
            differentiates(kind)(_rule(function))
            note_registration(function)
        return function

    if fgradient is not None:
        register(cast(FunctionT, fgradient))
    return register


def _rule(function: Callable[..., object]) -> GradientRule[RelayOp]:
    """Converts a rule in Relay's form to one in xrelay's form."""

    def rule(op: RelayOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
        answer = function(view(op.results[0]), view(gradient))
        if not isinstance(answer, Sequence) or not all(isinstance(each, Expr) for each in answer):
            raise not_differentiable(op, f"its gradient is {answer!r}, not a list of expressions")
        values = [each.ssa_value for each in cast("Sequence[Expr]", answer)]
        return [insert_after(emit.last_op, value) for value in values]

    rule.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return rule
