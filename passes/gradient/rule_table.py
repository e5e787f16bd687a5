"""The table of gradient rules: by class of operator, how the gradient of its result becomes those of its operands.

    @differentiates(MultiplyOp)
    def multiply(op: MultiplyOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
        left = emit.op("multiply", gradient, op.rhs)
        right = emit.op("multiply", gradient, op.lhs)
        return [emit.sum_like(left, op.lhs), emit.sum_like(right, op.rhs)]

A rule makes ops with `emit` and gives, for each operand in order, a value of the operand's type, or `None` where the
result does not change with the operand. `gradient` has the type of the result: for a result that is a tuple it is a
tuple, in which fields without a gradient are zeros; so is what a rule gives for an operand that is a tuple. Where `op`
can be differentiated in some forms only, the rule raises `PassError` with `not_differentiable`.

A rule may read the operands and the result of `op`, which are values of the forward pass. An operator that others
define (`CompositeOp`) needs no rule: its parts have rules. Other packages register theirs with
`xrelay.extend.gradients`; the last rule of an operator counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar, cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.errors import PassError
from xrelay.passes.gradient.emitter import GradientEmitter
from xrelay.passes.infra.conversion import describe_place
from xrelay.plugins import load_plugins
from xrelay.registrations import import_modules, note_registration

Gradients: TypeAlias = Sequence[SSAValue | None]
"""The gradient of each operand; `None` where the result does not change with it."""

OpT = TypeVar("OpT", bound=RelayOp)
GradientRule: TypeAlias = Callable[[OpT, SSAValue, GradientEmitter], Gradients]
"""`rule(op, gradient of its result, emit)`."""

_RULES: dict[type[RelayOp], GradientRule[RelayOp]] = {}


def differentiates(*ops: type[OpT]) -> Callable[[GradientRule[OpT]], GradientRule[OpT]]:
    """Decorator: the function is the rule of the operators of these classes, in the place of an earlier one."""

    def register(rule: GradientRule[OpT]) -> GradientRule[OpT]:
        for op in ops:
            _RULES[op] = cast("GradientRule[RelayOp]", rule)
        note_registration(rule)
        return rule

    return register


def gradient_rule(op: type[Operation]) -> GradientRule[RelayOp] | None:
    """The rule of operators of a class; `None` where there is none."""
    import_modules("xrelay.passes.gradient.rules")
    load_plugins("gradients")
    return _RULES.get(cast("type[RelayOp]", op))


def not_differentiable(op: Operation, reason: str) -> PassError:
    """The error of an op through which no gradient goes, for the one `reason` that a sentence gives."""
    name = op.relay_name() if isinstance(op, RelayOp) else op.name
    return PassError(f"{name} cannot be differentiated: {reason}", location=describe_place(op))
