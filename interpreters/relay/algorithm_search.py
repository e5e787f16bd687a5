"""Search in sorted rows."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i64

from xrelay.dialects.relay.ops.algorithm_search import SearchsortedOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(SearchsortedOp)
def evaluate_searchsorted(op: SearchsortedOp, sorted_sequence: Array, values: Array) -> Array:
    """Searches row by row."""
    side = "right" if op.right.value.data else "left"
    result = np.empty(values.shape, np.int64 if op.dtype == i64 else np.int32)
    if values.dtype.kind not in "biu":
        sorted_sequence, values = sorted_sequence.astype(np.float64), values.astype(np.float64)
    if sorted_sequence.ndim == 1:
        result[...] = np.searchsorted(sorted_sequence, values, side)
        return result
    for row in np.ndindex(values.shape[:-1]):
        result[row] = np.searchsorted(sorted_sequence[row], values[row], side)
    return result
