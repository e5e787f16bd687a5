"""Gradient rules: the methods `gradient` of operators, and functions that other packages register for a class.

    @differentiates(MultiplyOp)
    def multiply(op: MultiplyOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
        left = emit.op("multiply", gradient, op.rhs)
        right = emit.op("multiply", gradient, op.lhs)
        return [emit.sum_like(left, op.lhs), emit.sum_like(right, op.rhs)]

A rule creates ops with `emit` and returns, for each operand in order, a value of the operand's type, or None if the
result does not depend on the operand. `gradient` has the type of the result. The gradient of a tuple is a tuple, in
which fields without a gradient are zeros; this holds for results and operands. If only some forms of `op` can be
differentiated, the rule raises `PassError` with `not_differentiable`.

A rule may use the operands and the result of `op`, which are values of the forward pass. A composite op (`CompositeOp`)
needs no rule: its parts have rules. Other packages register rules with `xrelay.extend.gradients`; the last rule of an
operator is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar, cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.plugins import load_plugins
from xrelay.registrations import registering

OpT = TypeVar("OpT", bound=RelayOp)
GradientRule: TypeAlias = Callable[[OpT, SSAValue, GradientBuilder], Gradients]
"""`rule(op, gradient of its result, emit)`."""

_RULES: dict[type[RelayOp], GradientRule[RelayOp]] = {}


def differentiates(*ops: type[OpT]) -> Callable[[GradientRule[OpT]], GradientRule[OpT]]:
    """Decorator: registers the function as the rule of operators of these classes, replacing an earlier one."""
    return registering(_RULES, *ops)


def gradient_rule(op: type[Operation]) -> GradientRule[RelayOp] | None:
    """Returns the rule of operators of a class, or None."""
    load_plugins("gradients")
    return _RULES.get(cast("type[RelayOp]", op)) or getattr(op, "gradient", None)
