"""Selection and ordering of whole slices."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.algorithm_slices import CompressOp, RankRowsOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.sorting import stable_order
from xrelay.interpreters.relay.registry import evaluates


@evaluates(CompressOp)
def evaluate_compress(op: CompressOp, data: Array, condition: Array) -> Array:
    """Uses `np.compress`."""
    return np.compress(condition, data, op.axis.value.data)


@evaluates(RankRowsOp)
def evaluate_rank_rows(op: RankRowsOp, data: Array) -> Array:
    """Sorts by columns from the last to the first; the sorts are stable."""
    order = np.arange(data.shape[0], dtype=np.int64)
    for column in reversed(range(data.shape[1])):
        order = order[stable_order(data[order, column])]
    ordered = data[order]
    both_nan = (ordered[1:] != ordered[1:]) & (ordered[:-1] != ordered[:-1])
    is_new = np.ones(data.shape[0], np.bool_)
    is_new[1:] = ((ordered[1:] != ordered[:-1]) & ~both_nan).any(axis=1)
    starts = np.flatnonzero(is_new)
    ranks = np.empty(data.shape[0], np.int32)
    ranks[order] = starts[np.cumsum(is_new) - 1]
    return ranks
