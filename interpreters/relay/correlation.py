"""How alike two images are at places that lie apart."""

from __future__ import annotations

from itertools import product

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.nn_correlation import CorrelationOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.in_double import in_double
from xrelay.interpreters.relay.registry import evaluates


@evaluates(CorrelationOp)
@in_double
def evaluate_correlation(op: CorrelationOp, data1: Array, data2: Array) -> Array:
    """Shift by shift."""
    top, left, bottom, right = ints(op.padding)
    one, other = (np.pad(data, ((0, 0), (0, 0), (top, bottom), (left, right))) for data in (data1, data2))
    size, far, step = op.kernel_size.value.data, op.max_displacement.value.data, op.stride1.value.data
    border = 2 * far + size - 1
    counts = [-(-(extent - border) // step) for extent in one.shape[2:]]
    shifts, channels = range(-op.radius, op.radius + 1), list[Array]()
    for down, right_of in product(shifts, shifts):
        total = np.zeros((len(one), *counts))
        for k, m in product(range(size), range(size)):
            first = _at(one, far + k, far + m, counts, step)
            second = _at(
                other, far + k + down * op.stride2.value.data, far + m + right_of * op.stride2.value.data, counts, step
            )
            values = first * second if op.is_multiply.value.data else np.abs(first - second)
            total = total + values.sum(1)
        channels.append(total / np.float64(size * size * data1.shape[1]))
    return np.stack(channels, 1)


def _at(data: Array, row: int, column: int, counts: list[int], step: int) -> Array:
    """The elements at steps from a place on."""
    rows, columns = (
        slice(at, at + (count - 1) * step + 1, step) for at, count in zip((row, column), counts, strict=True)
    )
    return data[:, :, rows, columns]
