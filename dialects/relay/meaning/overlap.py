"""Overlap of boxes."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.structure.weights import Array


def sorted_corners(boxes: Array) -> Array:
    """Returns boxes (…, 4), two opposite corners each, with the lower corner first."""
    one, other = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.minimum(one, other), np.maximum(one, other)], -1)


def overlap(one: Array, other: Array) -> Array:
    """Returns the area of the intersection of boxes divided by that of their union.

    Boxes are (…, 4), the lower corner first. The result is NaN if the intersection is empty or a box has no area.
    """
    extents = [boxes[..., 2:] - boxes[..., :2] for boxes in (one, other)]
    areas = [extent[..., 0] * extent[..., 1] for extent in extents]
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    shared = sides[..., 0] * sides[..., 1]
    union = areas[0] + areas[1] - shared
    exists = (sides > 0).all(-1) & (shared > 0) & (union > 0) & (areas[0] > 0) & (areas[1] > 0)
    return np.where(exists, shared / union, np.asarray(np.nan, shared.dtype))
