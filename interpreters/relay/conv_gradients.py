"""Gradients of convolutions with respect to their weight."""

from __future__ import annotations

from math import prod

import numpy as np

from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.meaning.layouts import from_plain, to_plain
from xrelay.dialects.relay.meaning.windows import taps
from xrelay.dialects.relay.ops.nn_conv_grad import WEIGHT_GRADIENTS, ConvBackwardWeightOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.interpreters.relay.registry import evaluates


@evaluates(*WEIGHT_GRADIENTS)
def evaluate_conv_backward_weight(op: ConvBackwardWeightOp, grad: Array, data: Array) -> Array:
    """Sums the products of the gradient and the elements under the tap, for each tap of the filters."""
    grad_layout, data_layout, weight_layout = op.layouts
    out_dtype, groups = numpy_dtype(element_type_of(op.result.type)), op.groups.value.data
    compute_dtype = accumulator(out_dtype)
    plain = to_plain(data, data_layout, op.image_axes).astype(compute_dtype, copy=False)
    grads = to_plain(grad, grad_layout, op.image_axes).astype(compute_dtype, copy=False)
    (batch, filters, *counts), depth = grads.shape, plain.shape[1] // groups
    points = prod(counts)
    grads = grads.reshape(batch, groups, filters // groups, points)
    parts = [
        np.einsum("ngop,ngip->goi", grads, seen.reshape(batch, groups, depth, points))
        for seen in taps(plain, op.window(op.sizes), counts, 0)
    ]
    weight = np.stack(parts, axis=-1).reshape(filters, depth, *op.sizes)
    return from_plain(weight, f"{op.FILTERS}{op.AXES}", weight_layout).astype(out_dtype, copy=False)
