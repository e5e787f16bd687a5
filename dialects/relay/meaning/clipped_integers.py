"""Rounding of floats to integers."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.structure.weights import Array


def clipped_integers(values: Array, target: np.dtype) -> Array:
    """Converts values to another type; floats are rounded half to even and clipped to integers, NaN becomes 0."""
    if values.dtype.kind != "f" or target.kind not in "iu":
        return values.astype(target)
    limits = np.iinfo(target)
    rounded = np.rint(values.astype(np.float64))
    inside = np.clip(rounded, float(limits.min), np.nextafter(float(limits.max) + 1, 0))
    return np.where(rounded >= float(limits.max), target.type(limits.max), np.nan_to_num(inside).astype(target))
