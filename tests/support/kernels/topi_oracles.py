"""Independent numpy definitions of topi's named operations, as loops over taps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


def conv2d(
    x: Array,
    w: Array,
    strides: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0, 0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
) -> Array:
    top, left, bottom, right = padding
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (top, bottom), (left, right)))
    n, _, height, width = x.shape
    filters, depth, kh, kw = w.shape
    oh = (height - (kh - 1) * dilation[0] - 1) // strides[0] + 1
    ow = (width - (kw - 1) * dilation[1] - 1) // strides[1] + 1
    out = np.zeros((n, filters, oh, ow))
    per_group = filters // groups
    for g in range(groups):
        image, taps = x[:, g * depth : (g + 1) * depth], w[g * per_group : (g + 1) * per_group]
        for y in range(kh):
            for z in range(kw):
                rows = slice(y * dilation[0], y * dilation[0] + (oh - 1) * strides[0] + 1, strides[0])
                columns = slice(z * dilation[1], z * dilation[1] + (ow - 1) * strides[1] + 1, strides[1])
                part = np.einsum("nkhw,ok->nohw", image[:, :, rows, columns], taps[:, :, y, z])
                out[:, g * per_group : (g + 1) * per_group] += part
    return out


def block_channels(x: Array, block: int) -> Array:
    n, c, h, w = x.shape
    return np.ascontiguousarray(x.reshape(n, c // block, block, h, w).transpose(0, 1, 3, 4, 2))


def unblock_channels(x: Array) -> Array:
    n, c, h, w, block = x.shape
    return x.transpose(0, 1, 4, 2, 3).reshape(n, c * block, h, w)


def block_weight(w: Array, inner: int, outer: int) -> Array:
    o, i, kh, kw = w.shape
    blocked = w.reshape(o // outer, outer, i // inner, inner, kh, kw)
    return np.ascontiguousarray(blocked.transpose(0, 2, 4, 5, 3, 1))


def pool2d(
    x: Array,
    kind: str,
    kernel: Sequence[int],
    outputs: Sequence[int],
    strides: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0, 0, 0),
    dilation: Sequence[int] = (1, 1),
    count_include_pad: bool = False,
) -> Array:
    n, c, height, width = x.shape
    top, left, bottom, right = padding
    out = np.zeros((n, c, *outputs))
    for h in range(outputs[0]):
        for w in range(outputs[1]):
            taps, count = [], 0
            for y in range(kernel[0]):
                for z in range(kernel[1]):
                    row, column = h * strides[0] + y * dilation[0] - top, w * strides[1] + z * dilation[1] - left
                    inside = 0 <= row < height and 0 <= column < width
                    padded = -top <= row < height + bottom and -left <= column < width + right
                    count += inside or (count_include_pad and padded)
                    if inside:
                        taps.append(x[:, :, row, column].astype(np.float64))
            if kind == "max":
                out[:, :, h, w] = np.max(taps, axis=0) if taps else -np.inf
            else:
                out[:, :, h, w] = np.sum(taps, axis=0) / max(count, 1) if taps else 0
    return out


def softmax(x: Array, axis: int) -> Array:
    wide = x.astype(np.float64)
    exponentials = np.exp(wide - wide.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
