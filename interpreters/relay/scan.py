"""Cumulative sums and products, and reversal."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.ops.tensor_reverse import ReverseOp
from xrelay.dialects.relay.ops.tensor_scan import CumprodOp, CumsumOp, CumulativeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.interpreters.relay.registry import evaluates


@evaluates(CumsumOp, CumprodOp)
def evaluate_cumulative(op: CumulativeOp, data: Array) -> Array:
    """Accumulates element by element; 16-bit floats in f32."""
    dtype = data.dtype if op.dtype is None else numpy_dtype(op.dtype)
    axis = 0 if op.axis is None else op.axis.value.data
    function = np.add if isinstance(op, CumsumOp) else np.multiply
    wide = cast_once(data if op.axis is not None else data.reshape(-1), accumulator(dtype))
    first = np.full_like(wide, 0 if function is np.add else 1, shape=[*wide.shape[:axis], 1, *wide.shape[axis:][1:]])
    steps = function.accumulate(np.concatenate([first, wide], axis), axis, dtype=wide.dtype)
    count = wide.shape[axis]
    kept = range(count) if op.exclusive.value.data else range(1, count + 1)
    return cast_once(steps.take(kept, axis), dtype)


@evaluates(ReverseOp)
def evaluate_reverse(op: ReverseOp, data: Array) -> Array:
    """Reverses the elements along the axis."""
    return np.flip(data, op.axis.value.data)
