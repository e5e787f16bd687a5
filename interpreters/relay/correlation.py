"""Correlation of two images at shifted positions."""

from __future__ import annotations

from itertools import product

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.meaning.in_double import in_double
from xrelay.dialects.relay.meaning.windows import places_in_steps
from xrelay.dialects.relay.ops.nn_correlation import CorrelationOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(CorrelationOp)
@in_double
def evaluate_correlation(op: CorrelationOp, data1: Array, data2: Array) -> Array:
    """Computes one shift after the other."""
    images = [np.pad(data, ((0, 0), (0, 0), (0, 1), (0, 1))) for data in (data1, data2)]
    size, far, step = op.kernel_size.value.data, op.max_displacement.value.data, op.stride1.value.data
    top, left, bottom, right = ints(op.padding)
    border, (rows, columns) = 2 * far + size - 1, data1.shape[2:]
    counts = [-(-(extent - border) // step) for extent in (top + rows + bottom, left + columns + right)]
    shifts, channels = range(-op.radius, op.radius + 1), list[Array]()
    for down, right_of in product(shifts, shifts):
        moved = down * op.stride2.value.data, right_of * op.stride2.value.data
        total = np.zeros((len(data1), *counts))
        for k, m in product(range(size), range(size)):
            at = far + k - top, far + m - left
            first = _at(images[0], at, counts, step)
            second = _at(images[1], (at[0] + moved[0], at[1] + moved[1]), counts, step)
            values = first * second if op.is_multiply.value.data else np.abs(first - second)
            total = total + values.sum(1)
        channels.append(total / np.float64(size * size * data1.shape[1]))
    return np.stack(channels, 1)


def _at(data: Array, first: tuple[int, int], counts: list[int], step: int) -> Array:
    """Returns strided elements from a position; the data has a zero row and column at its end for positions outside."""
    steps = zip(first, counts, data.shape[2:], strict=True)
    return data[(slice(None), slice(None), *np.ix_(*(places_in_steps(at, step, n, edge - 1) for at, n, edge in steps)))]
