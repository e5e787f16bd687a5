"""Binary arithmetic, maxima and minima with broadcasting."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.tensor_elementwise import (
    AddOp,
    DivideOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    PowerOp,
    SubtractOp,
)
from xrelay.dialects.relay.ops.tensor_logic import FloorModOp, ModOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(AddOp)
def add(op: AddOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient for both operands."""
    return [emit.sum_like(gradient, op.lhs), emit.sum_like(gradient, op.rhs)]


@differentiates(SubtractOp)
def subtract(op: SubtractOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient and its negative."""
    return [emit.sum_like(gradient, op.lhs), emit.sum_like(emit.op("negative", gradient), op.rhs)]


@differentiates(MultiplyOp)
def multiply(op: MultiplyOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient times the other factor."""
    left, right = emit.op("multiply", gradient, op.rhs), emit.op("multiply", gradient, op.lhs)
    return [emit.sum_like(left, op.lhs), emit.sum_like(right, op.rhs)]


@differentiates(DivideOp)
def divide(op: DivideOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient divided by the divisor y, and that times -x / y."""
    left = emit.op("divide", gradient, op.rhs)
    right = emit.op("negative", emit.op("divide", emit.op("multiply", gradient, op.result), op.rhs))
    return [emit.sum_like(left, op.lhs), emit.sum_like(right, op.rhs)]


@differentiates(ModOp, FloorModOp)
def remainder(op: ModOp | FloorModOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient, and its negative times the integer quotient."""
    times = emit.op("divide", emit.op("subtract", op.lhs, op.result), op.rhs)
    right = emit.op("negative", emit.op("multiply", gradient, times))
    return [emit.sum_like(gradient, op.lhs), emit.sum_like(right, op.rhs)]


@differentiates(PowerOp)
def power(op: PowerOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is y · x^(y-1) for the base x, 0 if y = 0; x^y · ln(x) for the exponent y, 0 if x ≤ 0."""
    zero = emit.op("equal", op.rhs, 0)
    lower = emit.op("where", zero, emit.ones_like(op.rhs), emit.op("subtract", op.rhs, 1))
    base = emit.op("multiply", op.rhs, emit.op("power", op.lhs, lower))
    positive = emit.op("greater", op.lhs, 0)
    logarithm = emit.op("log", emit.op("where", positive, op.lhs, emit.ones_like(op.lhs)))
    exponent = emit.op("multiply", op.result, logarithm)
    left, right = emit.op("multiply", gradient, base), emit.op("multiply", gradient, exponent)
    return [emit.sum_like(left, op.lhs), emit.sum_like(right, op.rhs)]


@differentiates(MaximumOp)
def maximum(op: MaximumOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient for the selected operand; for equal operands, the left one."""
    return _chosen(op, emit.op("greater_equal", op.lhs, op.rhs), gradient, emit)


@differentiates(MinimumOp)
def minimum(op: MinimumOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient for the selected operand; for equal operands, the left one."""
    return _chosen(op, emit.op("less_equal", op.lhs, op.rhs), gradient, emit)


def _chosen(op: MaximumOp | MinimumOp, left: SSAValue, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    zeros = emit.zeros_like(gradient)
    first, second = emit.op("where", left, gradient, zeros), emit.op("where", left, zeros, gradient)
    return [emit.sum_like(first, op.lhs), emit.sum_like(second, op.rhs)]
