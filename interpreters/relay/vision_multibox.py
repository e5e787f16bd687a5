"""Boxes of single-shot detectors."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import floats
from xrelay.dialects.relay.ops.vision_multibox import MultiboxPriorOp, MultiboxTransformLocOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.interpreters.relay.registry import evaluates


@evaluates(MultiboxPriorOp)
def evaluate_multibox_prior(op: MultiboxPriorOp, data: Array) -> Array:
    """Computes boxes from the centres of pixels and half of the sides."""
    height, width = data.shape[2:]
    down, right = (_centres(op, axis, extent) for axis, extent in enumerate((height, width)))
    sizes, roots = np.array(floats(op.sizes)), np.sqrt(np.array(floats(op.ratios))[1:])
    halves = np.stack(
        [np.concatenate([sizes, sizes[0] * roots]) * height / width, np.concatenate([sizes, sizes[0] / roots])], -1
    )
    centres: Array = np.stack(np.broadcast_arrays(right[None], down[:, None]), -1)[:, :, None]
    boxes = np.concatenate([centres - halves / 2, centres + halves / 2], -1).reshape(1, -1, 4)
    return cast_once(np.clip(boxes, 0, 1) if op.clip.value.data else boxes, data.dtype)


def _centres(op: MultiboxPriorOp, axis: int, extent: int) -> Array:
    """Returns the centres of pixels along an axis."""
    step, places = floats(op.steps)[axis], np.arange(extent, dtype=np.float64)
    return (places + floats(op.offsets)[axis]) * (step if step > 0 else 1 / extent)


@evaluates(MultiboxTransformLocOp)
def evaluate_multibox_transform_loc(
    op: MultiboxTransformLocOp, cls_prob: Array, loc_pred: Array, anchor: Array
) -> tuple[Array, ...]:
    """Processes image by image."""
    batch, _, boxes = cls_prob.shape
    wide = np.dtype(np.float64 if cls_prob.dtype == np.float64 else np.float32)
    least = np.asarray(op.threshold.value.data, wide)
    rows, counts = np.full((batch, boxes, 6), -1, cls_prob.dtype), np.zeros(batch, np.int32)
    moved = cast_once(_moved_boxes(op, loc_pred.reshape(batch, boxes, 4), anchor), cls_prob.dtype)
    keeps_all = bool(op.keep_background.value.data)
    for image in range(batch):
        for box in range(boxes):
            scores = cls_prob[image, 0 if keeps_all else 1 :, box]
            best, kind = max(((p, -k) for k, p in enumerate(scores) if p > -1), default=(scores.dtype.type(-1), None))
            is_kept = kind is not None and not best.astype(wide) < least
            if is_kept or keeps_all:
                rows[image, counts[image]] = (-kind if is_kept and kind is not None else 0, best, *moved[image, box])
                counts[image] += 1
    return rows, counts


def _moved_boxes(op: MultiboxTransformLocOp, predictions: Array, anchor: Array) -> Array:
    """Returns the boxes transformed by the predictions: (images, boxes, 4)."""
    wide = anchor.astype(np.float64)
    moves = predictions.astype(np.float64) * np.array(floats(op.variances))
    extents, centres = wide[..., 2:] - wide[..., :2], (wide[..., :2] + wide[..., 2:]) / 2
    centres, halves = centres + moves[..., :2] * extents, np.exp(moves[..., 2:]) * extents / 2
    boxes = np.concatenate([centres - halves, centres + halves], -1)
    return np.clip(boxes, 0, 1) if op.clip.value.data else boxes
