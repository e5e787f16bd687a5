"""`topi.suppress` on whole tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xrelay.interpreters.suppression import Array, selected_boxes


def evaluate_suppress(operands: Sequence[Array]) -> list[Array]:
    """Row by row."""
    sides, order, scores, *limits = operands
    kept = np.zeros(order.shape, np.bool_)
    for row in np.ndindex(*order.shape[:2]):
        kept[row] = selected_boxes(sides[row[0]], order[row], scores[row], *limits)
    return [kept]
