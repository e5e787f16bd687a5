"""Reductions of booleans."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.tensor.reduce import ReduceOp
from xrelay.dialects.relay.ops.tensor_logic import AllOp, AnyOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(AllOp, AnyOp)
def evaluate_logic(op: ReduceOp, data: Array) -> Array:
    """Returns whether all, or any, are true."""
    function = np.all if isinstance(op, AllOp) else np.any
    return np.asarray(function(data, axis=op.reduced_axes(data.ndim), keepdims=bool(op.keepdims.value.data)), np.bool_)
