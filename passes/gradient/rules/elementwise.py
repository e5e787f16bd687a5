"""Functions of one element x: the gradient times the derivative, in terms of the result r if that is cheaper."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.annotation import CheckpointOp, StopFusionOp
from xrelay.dialects.relay.ops.nn_activation import ReluOp
from xrelay.dialects.relay.ops.require import RequireOp
from xrelay.dialects.relay.ops.tensor_elementwise import ExpOp, SigmoidOp, UnaryElementwiseOp
from xrelay.dialects.relay.ops.tensor_unary import (
    AbsOp,
    ClipOp,
    CopyOp,
    ErfOp,
    LogOp,
    NegativeOp,
    RsqrtOp,
    SqrtOp,
    TanhOp,
)
from xrelay.passes.gradient.rule_table import differentiates

TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


@differentiates(CopyOp, RequireOp, StopFusionOp, CheckpointOp)
def copy(op: UnaryElementwiseOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1."""
    return [gradient]


@differentiates(NegativeOp)
def negative(op: NegativeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is -1."""
    return [emit.op("negative", gradient)]


@differentiates(ExpOp)
def exp(op: ExpOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is r."""
    return [emit.op("multiply", gradient, op.result)]


@differentiates(LogOp)
def log(op: LogOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 / x."""
    return [emit.op("divide", gradient, op.data)]


@differentiates(SqrtOp)
def sqrt(op: SqrtOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 / 2r."""
    return [emit.op("divide", emit.op("multiply", gradient, 0.5), op.result)]


@differentiates(RsqrtOp)
def rsqrt(op: RsqrtOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is -r / 2x."""
    return [emit.op("divide", emit.op("multiply", emit.op("multiply", gradient, -0.5), op.result), op.data)]


@differentiates(SigmoidOp)
def sigmoid(op: SigmoidOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is r · (1 - r)."""
    return [emit.op("multiply", emit.op("multiply", gradient, op.result), emit.op("subtract", 1, op.result))]


@differentiates(TanhOp)
def tanh(op: TanhOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 - r²."""
    return [emit.op("multiply", gradient, emit.op("subtract", 1, emit.op("multiply", op.result, op.result)))]


@differentiates(ErfOp)
def erf(op: ErfOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 2 / √π · exp(-x²)."""
    bell = emit.op("exp", emit.op("negative", emit.op("multiply", op.data, op.data)))
    return [emit.op("multiply", gradient, emit.op("multiply", bell, TWO_OVER_ROOT_PI))]


@differentiates(AbsOp)
def absolute(op: AbsOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is -1 if x < 0, else 1."""
    return [emit.op("where", emit.op("less", op.data, 0), emit.op("negative", gradient), gradient)]


@differentiates(ReluOp)
def relu(op: ReluOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 0 if x < 0, else 1."""
    return [emit.op("where", emit.op("less", op.data, 0), emit.zeros_like(gradient), gradient)]


@differentiates(ClipOp)
def clip(op: ClipOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 0 if x is beyond a bound, else 1; bounds out of range are clamped to the type."""
    low, high = (emit.nearest_scalar(bound.value.data, op.data) for bound in (op.a_min, op.a_max))
    below, above = emit.op("less", op.data, low), emit.op("greater", op.data, high)
    return [emit.op("where", emit.op("logical_or", below, above), emit.zeros_like(gradient), gradient)]
