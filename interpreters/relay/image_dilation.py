"""Greyscale dilation."""

from __future__ import annotations

from functools import reduce
from itertools import product

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.meaning.windows import taps
from xrelay.dialects.relay.ops.image_dilation import Dilation2DOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.dialects.shared.types import element_type_of
from xrelay.index_algebra.windows import window_of
from xrelay.interpreters.relay.registry import evaluates


@evaluates(Dilation2DOp)
def evaluate_dilation2d(op: Dilation2DOp, data: Array, weight: Array) -> Array:
    """Computes the maximum over the taps of the window."""
    dtype = numpy_dtype(element_type_of(op.result.type))
    order = (0, *op.image_axes)
    image, filters = cast_once(data, dtype).transpose(order), cast_once(weight, dtype).transpose(op.weight_axes)
    window = window_of(filters.shape[1:], ints(op.strides), ints(op.dilations), ints(op.padding))
    counts = [axis.count(extent) for axis, extent in zip(window, image.shape[2:], strict=True)]
    seen = zip(taps(image, window, counts, 0), product(*map(range, filters.shape[1:])), strict=True)
    values = (value + filters[:, k, m, None, None] for value, (k, m) in seen)
    return reduce(np.maximum, values).transpose(np.argsort(order))
