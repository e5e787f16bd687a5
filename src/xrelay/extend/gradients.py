"""Gradient rules of another package's operators.

    @differentiates(L1NormalizeOp)
    def l1_normalize(op: L1NormalizeOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
        ...
        return [gradient of the data]

A package announces the module under `gradients`.
"""

from xrelay.dialects.relay.gradients.builder import GradientEmitter, Gradients, not_differentiable
from xrelay.passes.gradient.rule_table import GradientRule, differentiates

__all__ = ["GradientEmitter", "GradientRule", "Gradients", "differentiates", "not_differentiable"]
