"""Images resized by factors."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.nn.upsampling import Upsampling2DOp, Upsampling3DOp, UpsamplingOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.apply import apply_op
from xrelay.interpreters.relay.registry import Value, evaluates


@evaluates(Upsampling2DOp, Upsampling3DOp)
def evaluate_upsampling(op: UpsamplingOp, data: Array) -> Value:
    """Evaluates the resizing op; whole factors with nearest elements repeat elements directly."""
    factors = op.factors
    whole = all(factor == int(factor) for factor in factors)
    if (
        op.resizing["method"] == "nearest_neighbor"
        and whole
        and op.resizing["coordinate_transformation_mode"] == "asymmetric"
    ):
        for axis, factor in zip(op.AXES, factors, strict=True):
            data = np.repeat(data, int(factor), op.axes_text.index(axis))
        return data
    return apply_op(op.RESIZE, data, size=op.sizes(data.shape), **op.resizing)
