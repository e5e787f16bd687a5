"""Trigonometric and hyperbolic functions of x and their inverses; r is the result."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.tensor_trigonometry import (
    AcoshOp,
    AcosOp,
    AsinhOp,
    AsinOp,
    AtanhOp,
    AtanOp,
    CoshOp,
    CosOp,
    SinhOp,
    SinOp,
    TanOp,
)
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(SinOp)
def sin(op: SinOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is cos(x)."""
    return [emit.op("multiply", gradient, emit.op("cos", op.data))]


@differentiates(CosOp)
def cos(op: CosOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is -sin(x)."""
    return [emit.op("negative", emit.op("multiply", gradient, emit.op("sin", op.data)))]


@differentiates(TanOp)
def tan(op: TanOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 + r²."""
    return [emit.op("multiply", gradient, emit.op("add", emit.op("multiply", op.result, op.result), 1))]


@differentiates(SinhOp)
def sinh(op: SinhOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is cosh(x)."""
    return [emit.op("multiply", gradient, emit.op("cosh", op.data))]


@differentiates(CoshOp)
def cosh(op: CoshOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is sinh(x)."""
    return [emit.op("multiply", gradient, emit.op("sinh", op.data))]


@differentiates(AsinOp)
def asin(op: AsinOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 / √(1 - x²)."""
    return [emit.op("divide", gradient, emit.op("sqrt", _one_less_square(op.data, emit)))]


@differentiates(AcosOp)
def acos(op: AcosOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is -1 / √(1 - x²)."""
    return [emit.op("negative", emit.op("divide", gradient, emit.op("sqrt", _one_less_square(op.data, emit))))]


@differentiates(AtanOp)
def atan(op: AtanOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 / (1 + x²)."""
    return [emit.op("divide", gradient, emit.op("add", _square(op.data, emit), 1))]


@differentiates(AsinhOp)
def asinh(op: AsinhOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 / √(x² + 1)."""
    return [emit.op("divide", gradient, emit.op("sqrt", emit.op("add", _square(op.data, emit), 1)))]


@differentiates(AcoshOp)
def acosh(op: AcoshOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 / √(x² - 1)."""
    return [emit.op("divide", gradient, emit.op("sqrt", emit.op("subtract", _square(op.data, emit), 1)))]


@differentiates(AtanhOp)
def atanh(op: AtanhOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The derivative is 1 / (1 - x²)."""
    return [emit.op("divide", gradient, _one_less_square(op.data, emit))]


def _square(data: SSAValue, emit: GradientBuilder) -> SSAValue:
    return emit.op("multiply", data, data)


def _one_less_square(data: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Computes 1 - x² as a product, which is exact near ±1."""
    return emit.op("multiply", emit.op("subtract", 1, data), emit.op("add", data, 1))
