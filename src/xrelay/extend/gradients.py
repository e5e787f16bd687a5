"""Gradient rules of another package's operators.

    @differentiates(L1NormalizeOp)
    def l1_normalize(op: L1NormalizeOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
        ...
        return [gradient of the data]

A package announces the module under `gradients`.
"""

from xrelay.passes.gradient.emitter import GradientEmitter
from xrelay.passes.gradient.rule_table import GradientRule, Gradients, differentiates, not_differentiable

__all__ = ["GradientEmitter", "GradientRule", "Gradients", "differentiates", "not_differentiable"]
