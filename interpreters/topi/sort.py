"""`topi.sort` on whole tensors."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.shared.numerics.sorting import stable_order
from xrelay.dialects.topi import SortOp
from xrelay.dialects.topi.shapes import known_shape_of
from xrelay.interpreters.topi.indices import Array


def evaluate_sort(op: SortOp, data: Array) -> list[Array]:
    """Returns the kept sorted elements and their indices."""
    axis = op.axis.value.data
    count = known_shape_of(op.values)[axis]
    order = stable_order(data, axis, descending=op.descending is not None)
    indices = np.take(order, range(count), axis)
    return [np.take_along_axis(data, indices, axis), indices]
