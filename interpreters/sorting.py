"""The order of sorted elements, which all levels share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def stable_order(keys: NDArray[Any], axis: int = -1, *, descending: bool = False) -> NDArray[np.int64]:
    """The places along `axis` from which its elements come when it is sorted.

    Equal elements keep their order in both directions, 0.0 and -0.0 are equal, NaN comes last in both directions.
    """
    if keys.dtype.kind not in "biu":
        # Exact, and known to numpy's sort, which takes NaN for the largest of all.
        keys = keys.astype(np.float64)
    if descending:
        keys = ~keys if keys.dtype.kind in "biu" else -keys
    return np.argsort(keys, axis=axis, kind="stable").astype(np.int64)
