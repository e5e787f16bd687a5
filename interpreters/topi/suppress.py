"""`topi.suppress` on whole tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xrelay.errors import InterpreterError
from xrelay.interpreters.suppression import Array, selected_boxes


def evaluate_suppress(operands: Sequence[Array]) -> list[Array]:
    """Selects boxes row by row. Raises `InterpreterError` if the shapes of the operands do not match."""
    sides, order, scores, *limits = operands
    if order.shape[0] != sides.shape[0] or order.shape != scores.shape:
        raise InterpreterError(
            f"sides of {sides.shape[0]} batches do not fit an order of shape {order.shape} and scores of {scores.shape}"
        )
    kept = np.zeros(order.shape, np.bool_)
    for row in np.ndindex(*order.shape[:2]):
        kept[row] = selected_boxes(sides[row[0]], order[row], scores[row], *limits)
    return [kept]
