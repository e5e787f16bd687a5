"""Sums, differences, products and quotients, whose operands are repeated to one shape."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.tensor_elementwise import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.passes.gradient.emitter import GradientEmitter
from xrelay.passes.gradient.rule_table import Gradients, differentiates


@differentiates(AddOp)
def add(op: AddOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """The gradient itself for both."""
    return [emit.sum_like(gradient, op.lhs), emit.sum_like(gradient, op.rhs)]


@differentiates(SubtractOp)
def subtract(op: SubtractOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """The gradient, and what is its negative."""
    return [emit.sum_like(gradient, op.lhs), emit.sum_like(emit.op("negative", gradient), op.rhs)]


@differentiates(MultiplyOp)
def multiply(op: MultiplyOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """The gradient times the other factor."""
    left, right = emit.op("multiply", gradient, op.rhs), emit.op("multiply", gradient, op.lhs)
    return [emit.sum_like(left, op.lhs), emit.sum_like(right, op.rhs)]


@differentiates(DivideOp)
def divide(op: DivideOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """The gradient over the divisor y, and that times -x / y."""
    left = emit.op("divide", gradient, op.rhs)
    right = emit.op("negative", emit.op("divide", emit.op("multiply", gradient, op.result), op.rhs))
    return [emit.sum_like(left, op.lhs), emit.sum_like(right, op.rhs)]
