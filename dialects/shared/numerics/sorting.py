"""The sort order shared by all levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def stable_order(keys: NDArray[Any], axis: int = -1, *, descending: bool = False) -> NDArray[np.int64]:
    """Returns the indices that stably sort `keys` along `axis`.

    Ascending and descending sorts are stable, 0.0 and -0.0 are equal, NaN is greater than all numbers.
    """
    if keys.dtype.kind not in "biu":
        # numpy sorts f64 with NaN last; the conversion is exact.
        keys = keys.astype(np.float64)
    if not descending:
        return np.argsort(keys, axis=axis, kind="stable").astype(np.int64)
    # Reversing the elements and their ascending order results in a stable descending order.
    reverse = np.flip(np.argsort(np.flip(keys, axis), axis=axis, kind="stable"), axis)
    return (keys.shape[axis] - 1 - reverse).astype(np.int64)
