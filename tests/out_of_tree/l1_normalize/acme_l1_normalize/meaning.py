"""The operator in numpy."""

import numpy as np

from acme_l1_normalize.ops import L1NormalizeOp
from xrelay.extend.interpreter import Array, evaluates


@evaluates(L1NormalizeOp)
def evaluate(op: L1NormalizeOp, data: Array) -> Array:
    """Computes in f64, and rounds once."""
    wide = data.astype(np.float64)
    return (wide / np.abs(wide).sum(axis=op.axis.value.data, keepdims=True)).astype(data.dtype)
