"""`topi.positions` on a whole mask."""

from __future__ import annotations

import numpy as np

from xrelay.interpreters.topi.indices import Array


def evaluate_positions(mask: Array) -> list[Array]:
    """Returns the positions of true elements, followed by zeros, and their number."""
    found = np.flatnonzero(mask)
    positions = np.zeros(mask.size, np.int64)
    positions[: found.size] = found
    return [positions, np.asarray(found.size, np.int64)]
