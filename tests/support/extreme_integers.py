"""Random integers that include many extremes of their type."""

from __future__ import annotations

import numpy as np


def extreme_integers(shape: tuple[int, ...], dtype: str, seed: int = 1) -> np.ndarray:
    """Integers over the whole range of `dtype`, a third of them the minimum or maximum."""
    limits = np.iinfo(dtype)
    array = np.random.default_rng(seed).integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
    array.reshape(-1)[: array.size // 3] = limits.max
    array.reshape(-1)[: array.size // 5] = limits.min
    return array
