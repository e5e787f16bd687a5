"""Boxes with scores."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.vision_boxes import GetValidCountsOp, NonMaxSuppressionOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.sorting import stable_order
from xrelay.interpreters.relay.registry import evaluates


@evaluates(GetValidCountsOp)
def evaluate_get_valid_counts(op: GetValidCountsOp, data: Array, threshold: Array) -> tuple[Array, ...]:
    """Processes batch by batch."""
    kind = np.float64 if np.float64 in (data.dtype, threshold.dtype) else np.float32
    valid = data[:, :, op.score_index.value.data].astype(kind) > threshold.astype(kind)
    if op.id_index.value.data >= 0:
        valid &= data[:, :, op.id_index.value.data] >= 0
    rows, places = np.full_like(data, -1), np.full(data.shape[:2], -1, np.int32)
    for batch, is_valid in enumerate(valid):
        found = np.flatnonzero(is_valid)
        rows[batch, : len(found)], places[batch, : len(found)] = data[batch, found], found
    return valid.sum(1).astype(np.int32), rows, places


@evaluates(NonMaxSuppressionOp)
def evaluate_non_max_suppression(
    op: NonMaxSuppressionOp, data: Array, valid_count: Array, indices: Array, most: Array, iou: Array
) -> Array | tuple[Array, ...]:
    """Processes batch by batch; an element of `taken` is the index of a box or -1."""
    batch, count = data.shape[:2]
    taken = np.full((batch, count), -1, np.int64)
    for number in range(batch):
        known = min(max(int(valid_count[number]), 0), count)
        if iou > 0:
            _select(op, data[number], known, int(most), iou, taken[number])
        else:
            taken[number, :known] = range(known)
    is_taken = taken >= 0
    if op.return_indices.value.data or op.invalid_to_bottom.value.data:
        order = np.argsort(~is_taken, 1, kind="stable")
        taken, is_taken = np.take_along_axis(taken, order, 1), np.take_along_axis(is_taken, order, 1)
    if op.return_indices.value.data:
        named = np.take_along_axis(indices.astype(np.int32), np.maximum(taken, 0), 1)
        return np.where(is_taken, named, np.int32(-1)), is_taken.sum(1, keepdims=True).astype(np.int32)
    rows = np.take_along_axis(data, np.maximum(taken, 0)[:, :, None], 1)
    return np.where(is_taken[:, :, None], rows, np.asarray(-1, data.dtype))


def _select(op: NonMaxSuppressionOp, rows: Array, known: int, most: int, iou: Array, taken: Array) -> None:
    """Writes the indices of selected boxes to `taken`, in descending order of score."""
    wide = rows.astype(np.float64 if rows.dtype == np.float64 else np.float32)
    scores, has_kind = wide[:, op.score_index.value.data], op.id_index.value.data >= 0
    kinds = wide[:, op.id_index.value.data] if has_kind else np.zeros_like(scores)
    takes_part = (np.arange(len(rows)) < known) & (scores > 0) & (kinds >= 0)
    order = [box for box in stable_order(np.where(takes_part, scores, 0), descending=True).tolist() if takes_part[box]]
    limit = op.top_k.value.data
    selected: list[int] = []
    for place, box in enumerate(order[:limit] if limit > 0 else order):
        rivals = (
            selected
            if op.force_suppress.value.data or not has_kind
            else [other for other in selected if kinds[other] == kinds[box]]
        )
        is_full = 0 <= most <= len(selected)
        if not is_full and not any(_overlap(op, wide[box], wide[other]) >= iou for other in rivals):
            taken[place] = box
            selected.append(box)


def _overlap(op: NonMaxSuppressionOp, one: Array, other: Array) -> Array:
    """Returns the intersection over union of two boxes; -1 if the intersection is empty."""
    at = op.coord_start.value.data
    low, high = (
        [edge(row[at : at + 2], row[at + 2 : at + 4]) for row in (one, other)] for edge in (np.minimum, np.maximum)
    )
    areas = [(top - bottom)[0] * (top - bottom)[1] for top, bottom in zip(high, low, strict=True)]
    sides = np.minimum(*high) - np.maximum(*low)
    shared = sides[0] * sides[1]
    union = areas[0] + areas[1] - shared
    shares = (sides > 0).all() and shared > 0 and union > 0 and areas[0] > 0 and areas[1] > 0
    return shared / union if shares else np.asarray(-1, one.dtype)
