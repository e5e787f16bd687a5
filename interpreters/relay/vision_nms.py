"""Non-maximum suppression, one class after the other."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.vision_nms import AllClassNonMaxSuppressionOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates
from xrelay.interpreters.sorting import stable_order


@evaluates(AllClassNonMaxSuppressionOp)
def evaluate_all_class_non_max_suppression(
    op: AllClassNonMaxSuppressionOp, boxes: Array, scores: Array, most: Array, iou: Array, score: Array
) -> tuple[Array, ...]:
    """The rows of all classes, and zeros behind them."""
    rows = np.zeros((scores.size, 3), np.int64)
    count = 0
    for batch, classes in enumerate(scores):
        overlaps = _overlaps(boxes[batch], iou)
        for number, of_class in enumerate(classes):
            for box in _selected(of_class, overlaps, int(most), score):
                rows[count] = batch, number, box
                count += 1
    return rows, np.array([count], np.int64)


def _selected(scores: Array, overlaps: Array, most: int, threshold: Array) -> list[int]:
    """The boxes of one class, by falling score."""
    selected: list[int] = []
    for box in stable_order(scores, descending=True).tolist():
        if len(selected) < most and scores[box] > threshold and not overlaps[box, selected].any():
            selected.append(box)
    return selected


def _overlaps(boxes: Array, threshold: Array) -> Array:
    """Which boxes overlap which."""
    with np.errstate(all="ignore"):
        low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
        areas = (high - low)[:, 0] * (high - low)[:, 1]
        sides = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
        shared = sides[..., 0] * sides[..., 1]
        union = areas[:, None] + areas - shared
        share_area = (sides > 0).all(-1) & (shared > 0) & (union > 0)
        return share_area & (areas[:, None] > 0) & (areas > 0) & (shared / union > threshold)
