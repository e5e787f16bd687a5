"""Non-maximum suppression, class by class."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.vision_nms import AllClassNonMaxSuppressionOp, RegularNonMaxSuppressionOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.sorting import stable_order
from xrelay.interpreters.relay.registry import evaluates


@evaluates(AllClassNonMaxSuppressionOp)
def evaluate_all_class_non_max_suppression(
    op: AllClassNonMaxSuppressionOp, boxes: Array, scores: Array, most: Array, iou: Array, score: Array
) -> tuple[Array, ...]:
    """Returns the rows of all classes, followed by zeros, and their number."""
    rows = np.zeros((scores.size, 3), np.int64)
    count = 0
    for batch, classes in enumerate(scores):
        overlaps = _overlaps(boxes[batch], iou)
        for number, of_class in enumerate(classes):
            for box in _selected(of_class, overlaps, int(most), score):
                rows[count] = batch, number, box
                count += 1
    return rows, np.array([count], np.int64)


@evaluates(RegularNonMaxSuppressionOp)
def evaluate_regular_non_max_suppression(
    op: RegularNonMaxSuppressionOp, boxes: Array, scores: Array
) -> tuple[Array, ...]:
    """Selects boxes for each class, and the best detections of all classes, image by image."""
    wide = np.dtype(np.float64 if scores.dtype == np.float64 else np.float32)
    iou, least = (np.asarray(each.value.data, wide) for each in (op.iou_threshold, op.score_threshold))
    count, most = op.max_detections.value.data, op.max_detections_per_class.value.data
    batch, first = len(boxes), scores.shape[2] - op.num_classes.value.data
    found = np.zeros((batch, count, 4), boxes.dtype), np.zeros((batch, count), np.float32)
    values, numbers = np.zeros((batch, count), scores.dtype), np.zeros(batch, np.int32)
    for image in range(batch):
        overlaps = _overlaps(_of_positive_area(boxes[image].astype(wide)), iou)
        own = scores[image, :, first:].astype(wide)
        own[~(own >= least)] = -np.inf
        chosen = [(box, number) for number, row in enumerate(own.T) for box in _selected(row, overlaps, most, -np.inf)]
        ranked: list[int] = stable_order(np.array([own[each] for each in chosen], wide), descending=True).tolist()
        ranked = ranked[:count]
        for place, rank in enumerate(ranked):
            box, number = chosen[rank]
            found[0][image, place], found[1][image, place] = boxes[image, box], number
            values[image, place] = scores[image, box, first + number]
        numbers[image] = len(ranked)
    return *found, values, numbers


def _of_positive_area(boxes: Array) -> Array:
    """Returns the boxes, with NaN for boxes whose corners are exchanged."""
    return np.where((boxes[:, 2:] > boxes[:, :2]).all(1, keepdims=True), boxes, np.asarray(np.nan, boxes.dtype))


def _selected(scores: Array, overlaps: Array, most: int, threshold: Array | float) -> list[int]:
    """Returns the selected boxes of one class in descending order of score."""
    selected: list[int] = []
    for box in stable_order(scores, descending=True).tolist():
        if len(selected) < most and scores[box] > threshold and not overlaps[box, selected].any():
            selected.append(box)
    return selected


def _overlaps(boxes: Array, threshold: Array) -> Array:
    """Returns the matrix of overlapping boxes."""
    with np.errstate(all="ignore"):
        low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
        areas = (high - low)[:, 0] * (high - low)[:, 1]
        sides = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
        shared = sides[..., 0] * sides[..., 1]
        union = areas[:, None] + areas - shared
        share_area = (sides > 0).all(-1) & (shared > 0) & (union > 0)
        return share_area & (areas[:, None] > 0) & (areas > 0) & (shared / union > threshold)
