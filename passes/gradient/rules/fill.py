"""Operators that fill a tensor from scalars: the gradient of a scalar is the sum over its uses."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.dyn_shapes import DynFullOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(DynFullOp)
def dyn_full(op: DynFullOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum of the gradient for the scalar, None for the shape."""
    return [emit.cast_like(emit.op("sum", gradient), op.fill_value), None]
