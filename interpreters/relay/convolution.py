"""Convolution and dense layers, on numpy's matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import element_type_of
from xrelay.dialects.relay.ops.nn_conv import CONVOLUTIONS, ConvOp
from xrelay.dialects.relay.ops.nn_dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.windows import WindowAxis
from xrelay.interpreters.relay.layouts import from_plain, to_plain
from xrelay.interpreters.relay.registry import evaluates
from xrelay.interpreters.relay.windows import taps


@evaluates(*CONVOLUTIONS)
def evaluate_conv(op: ConvOp, data: Array, weight: Array) -> Array:
    """Convolution as a matrix product of the weight with the unfolded windows, one for each image and group."""
    data_layout, weight_layout, out_layout = op.layouts
    out_dtype = numpy_dtype(element_type_of(op.result.type))
    compute_dtype = accumulator(out_dtype)
    plain = to_plain(data, data_layout, op.image_axes).astype(compute_dtype, copy=False)
    kernel = to_plain(weight, weight_layout, f"OI{op.AXES}").astype(compute_dtype, copy=False)
    result = convolve(plain, kernel, op.window(kernel.shape[2:]), op.groups.value.data)
    return from_plain(result, op.image_axes, out_layout).astype(out_dtype, copy=False)


def accumulator(dtype: np.dtype) -> np.dtype:
    """The dtype to multiply and add in: half precision is computed in single."""
    if dtype.kind in "iub" or dtype.itemsize >= 4:
        return dtype
    return np.dtype(np.float32)


def convolve(data: Array, kernel: Array, window: Sequence[WindowAxis[int]], groups: int) -> Array:
    """(N, C, …) by (O, C / groups, …) to (N, O, …)."""
    batch, channels = data.shape[:2]
    out_channels = kernel.shape[0]
    counts = [axis.count(extent) for axis, extent in zip(window, data.shape[2:], strict=True)]
    depth, points = channels // groups * prod(kernel.shape[2:]), prod(counts)
    matrix = kernel.reshape(groups, out_channels // groups, depth)
    result = np.empty((batch, groups, out_channels // groups, points), data.dtype)
    for image in range(batch):
        columns = np.stack(list(taps(data[image : image + 1], window, counts, 0)), axis=2)
        np.matmul(matrix, columns.reshape(groups, depth, points), out=result[image])
    return result.reshape(batch, out_channels, *counts)


@evaluates(DenseOp)
def evaluate_dense(op: DenseOp, data: Array, weight: Array) -> Array:
    """The product with the transposed weight."""
    out_dtype = numpy_dtype(element_type_of(op.result.type))
    compute_dtype = accumulator(out_dtype)
    result = np.matmul(data.astype(compute_dtype, copy=False), weight.astype(compute_dtype, copy=False).T)
    return np.asarray(result).astype(out_dtype, copy=False)


@evaluates(BiasAddOp)
def evaluate_bias_add(op: BiasAddOp, data: Array, bias: Array) -> Array:
    """The bias with axes of extent 1 after it, added."""
    axis = op.axis.value.data % data.ndim
    return np.add(data, bias.reshape([-1] + [1] * (data.ndim - axis - 1)))
