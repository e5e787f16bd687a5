"""Bilinear interpolation of images."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.structure.weights import Array


def interpolated(image: Array, rows: Array, columns: Array) -> Array:
    """Returns the values of an image (C, H, W) at coordinates, in double precision.

    Zeros follow the last row and column; coordinates outside of the image have the value 0.
    """
    height, width = image.shape[1:]
    inside = (rows >= 0) & (columns >= 0) & (rows < height) & (columns < width)
    y, x = np.where(inside, rows, 0), np.where(inside, columns, 0)
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    low, right = (y - np.floor(y)).astype(np.float64), (x - np.floor(x)).astype(np.float64)
    wide = np.pad(image.astype(np.float64), ((0, 0), (0, 1), (0, 1)))
    above = wide[:, top, left] * (1 - right) + wide[:, top, left + 1] * right
    below = wide[:, top + 1, left] * (1 - right) + wide[:, top + 1, left + 1] * right
    return np.where(inside, above * (1 - low) + below * low, 0)
