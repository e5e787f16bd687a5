"""Remainders with broadcasting."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.tensor_logic import FloorModOp, ModOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(ModOp, FloorModOp)
def remainder(op: ModOp | FloorModOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient, and its negative times the integer quotient."""
    times = emit.op("divide", emit.op("subtract", op.lhs, op.result), op.rhs)
    right = emit.op("negative", emit.op("multiply", gradient, times))
    return [emit.sum_like(gradient, op.lhs), emit.sum_like(right, op.rhs)]
