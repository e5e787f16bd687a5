"""Greyscale dilation."""

from __future__ import annotations

from functools import reduce
from itertools import product

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import element_type_of
from xrelay.dialects.relay.ops.image_dilation import Dilation2DOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates
from xrelay.interpreters.rounding import cast_once


@evaluates(Dilation2DOp)
def evaluate_dilation2d(op: Dilation2DOp, data: Array, weight: Array) -> Array:
    """The maximum over the places of the window."""
    dtype = numpy_dtype(element_type_of(op.result.type))
    order = (0, *op.image_axes)
    image, window = cast_once(data, dtype).transpose(order), cast_once(weight, dtype).transpose(op.weight_axes)
    (top, left, bottom, right), strides, dilations = ints(op.padding), ints(op.strides), ints(op.dilations)
    padded = np.pad(image, ((0, 0), (0, 0), (top, bottom), (left, right)))
    counts = [
        (extent - (taps - 1) * dilation - 1) // stride + 1
        for extent, taps, dilation, stride in zip(padded.shape[2:], window.shape[1:], dilations, strides, strict=True)
    ]
    values = [
        padded[:, :, _steps(k, dilations[0], counts[0], strides[0]), _steps(m, dilations[1], counts[1], strides[1])]
        + window[:, k, m, None, None]
        for k, m in product(*map(range, window.shape[1:]))
    ]
    return reduce(np.maximum, values).transpose(np.argsort(order))


def _steps(tap: int, dilation: int, count: int, stride: int) -> slice:
    """The places of an axis at which one element of the window lies."""
    return slice(tap * dilation, tap * dilation + (count - 1) * stride + 1, stride)
