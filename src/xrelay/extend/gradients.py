"""Gradient rules of another package's operators.

    @differentiates(L1NormalizeOp)
    def l1_normalize(op: L1NormalizeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
        ...
        return [gradient of the data]

A package announces the module under `gradients`.
"""

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.passes.gradient.rule_table import GradientRule, differentiates

__all__ = ["GradientBuilder", "GradientRule", "Gradients", "differentiates", "not_differentiable"]
