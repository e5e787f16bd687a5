"""Selection of the boxes of a row, the semantics of `topi.suppress` and `loop.suppress` on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import InterpreterError

Array = NDArray[Any]


def selected_boxes(sides: Array, order: Array, scores: Array, most: Array, overlap: Array, least: Array) -> Array:
    """Returns whether the box is selected, for each element of `order`.

    `sides` is 5 × n, or 6 × n with classes; `order` and `scores` have n elements. Raises `InterpreterError` if the
    order contains a box that is out of range.
    """
    outside = order[(order < 0) | (order >= sides.shape[1])]
    if outside.size:
        raise InterpreterError(f"the order of boxes has {outside[0]}, and the row has {sides.shape[1]} boxes")
    kept = np.zeros(order.shape, np.bool_)
    boxes: list[int] = []
    for index, box in enumerate(order.tolist()):
        if not scores[index] > least or len(boxes) >= int(most):
            break
        if not _overlaps(sides[:, box, None], sides[:, boxes], overlap):
            kept[index] = True
            boxes.append(box)
    return kept


def _overlaps(one: Array, others: Array, threshold: Array) -> bool:
    """Returns whether a box overlaps any of `others`."""
    with np.errstate(all="ignore"):
        lengths = np.fmin(one[2:4], others[2:4]) - np.fmax(one[:2], others[:2])
        lengths = np.where(lengths > 0, lengths, np.zeros_like(lengths))
        shared = lengths[0] * lengths[1]
        union = one[4] + others[4] - shared
        same_kind = one[5:] == others[5:]
        return bool(((shared / union > threshold) & (shared > 0) & (union > 0) & same_kind.all(0)).any())
