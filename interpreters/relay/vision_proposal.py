"""Region proposals, image by image."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.vision_proposal import ProposalOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.sorting import stable_order
from xrelay.interpreters.relay.registry import evaluates


@evaluates(ProposalOp)
def evaluate_proposal(op: ProposalOp, cls_prob: Array, bbox_pred: Array, im_info: Array) -> Array:
    """Selects the best boxes of each image that do not overlap better ones."""
    wide = np.dtype(np.float64 if cls_prob.dtype == np.float64 else np.float32)
    batch, _, height, width = cls_prob.shape
    count, count_before = op.rpn_post_nms_top_n.value.data, op.rpn_pre_nms_top_n.value.data
    anchors = np.array(op.anchors(), wide)
    rows = np.zeros((batch, count, 5), wide)
    for image, info in enumerate(im_info.astype(wide)):
        # Pixels are the leading axes, followed by anchors.
        scores = cls_prob[image, len(anchors) :].transpose(1, 2, 0).astype(wide)
        moves = bbox_pred[image].reshape(len(anchors), 4, height, width).transpose(2, 3, 0, 1).astype(wide)
        with np.errstate(all="ignore"):
            boxes, scores = _boxes_of(op, anchors, moves, info, scores)
        order = stable_order(scores, descending=True)
        taken = _taken(op, boxes, scores, order[:count_before] if count_before > 0 else order)
        rows[image, :, 0] = image
        if taken:
            rows[image, :, 1:] = boxes[[taken[place % len(taken)] for place in range(count)]]
    return rows.reshape(-1, 5).astype(cls_prob.dtype)


def _boxes_of(op: ProposalOp, anchors: Array, moves: Array, info: Array, scores: Array) -> tuple[Array, Array]:
    """Returns the boxes (number, 4) and their scores; -1 for invalid boxes."""
    stride, one, half = (scores.dtype.type(each) for each in (op.feature_stride.value.data, 1, 0.5))
    places = np.stack(np.meshgrid(*map(np.arange, scores.shape[:2]), indexing="ij")[::-1], -1).astype(scores.dtype)
    ends = anchors + np.tile(places * stride, 2)[:, :, None]
    if op.iou_loss.value.data:
        ends = ends + moves
    else:
        extents = ends[..., 2:] - ends[..., :2] + one
        centres = moves[..., :2] * extents + (ends[..., :2] + half * (extents - one))
        away = half * (np.exp(moves[..., 2:]) * extents - one)
        ends = np.concatenate([centres - away, centres + away], -1)
    limits = np.tile(info[1::-1] - one, 2)
    ends = np.maximum(np.minimum(ends, limits), scores.dtype.type(0))
    least = info[2] * scores.dtype.type(op.rpn_min_size.value.data)
    small = (ends[..., 2:] - ends[..., :2] + one < least).any(-1)
    margin = np.repeat(np.array([-half, half]), 2) * least
    ends = np.where(small[..., None], ends + margin, ends)
    # A pixel is outside of the image if `floor(extent / stride) <= place`.
    outside = (info[1::-1] / stride < places + one).any(-1)[..., None]
    # Boxes with a NaN score are never selected and sorted after all others.
    scores = np.where(small | outside, -one, np.where(np.isnan(scores), -np.inf, scores))
    return ends.reshape(-1, 4), scores.reshape(-1)


def _taken(op: ProposalOp, boxes: Array, scores: Array, order: Array) -> list[int]:
    """Returns the selected boxes in descending order of score."""
    taken: list[int] = []
    threshold = boxes.dtype.type(op.threshold.value.data)
    for box in order.tolist():
        if scores[box] > -np.inf and not any(_overlap(boxes[box], boxes[other], threshold) for other in taken):
            taken.append(box)
    return taken


def _overlap(one: Array, other: Array, threshold: Array) -> bool:
    """Returns whether the intersection over union of two boxes is greater than `threshold`."""
    ends = [np.concatenate([box[:2], box[2:] + box.dtype.type(1)]) for box in (one, other)]
    with np.errstate(all="ignore"):
        areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in ends]
        sides = np.minimum(ends[0][2:], ends[1][2:]) - np.maximum(ends[0][:2], ends[1][:2])
        shared = sides[0] * sides[1]
        union = areas[0] + areas[1] - shared
        shares = bool((sides > 0).all() and shared > 0 and union > 0 and areas[0] > 0 and areas[1] > 0)
        return shares and bool(shared / union > threshold)
