"""Convolution and dense layers, on numpy's matrix product."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import element_type_of
from xrelay.dialects.relay.ops.nn_conv import Conv2DOp
from xrelay.dialects.relay.ops.nn_dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.layouts import from_plain, to_plain
from xrelay.interpreters.relay.registry import evaluates


@evaluates(Conv2DOp)
def evaluate_conv2d(op: Conv2DOp, data: Array, weight: Array) -> Array:
    """Convolution as a matrix product of the weight with the unfolded windows, one for each image and group."""
    data_layout, weight_layout, out_layout = op.layouts
    out_dtype = numpy_dtype(element_type_of(op.result.type))
    compute_dtype = accumulator(out_dtype)
    plain = to_plain(data, data_layout, "NCHW").astype(compute_dtype, copy=False)
    kernel = to_plain(weight, weight_layout, "OIHW").astype(compute_dtype, copy=False)
    top, left, bottom, right = op.pads
    padded = np.pad(plain, [(0, 0), (0, 0), (top, bottom), (left, right)]) if any(op.pads) else plain
    result = convolve(padded, kernel, op.stride_pair, op.dilation_pair, op.groups.value.data)
    return from_plain(result, "NCHW", out_layout).astype(out_dtype, copy=False)


def accumulator(dtype: np.dtype) -> np.dtype:
    """The dtype to multiply and add in: half precision is computed in single."""
    if dtype.kind in "iub" or dtype.itemsize >= 4:
        return dtype
    return np.dtype(np.float32)


def convolve(data: Array, kernel: Array, strides: tuple[int, int], dilation: tuple[int, int], groups: int) -> Array:
    """(N, C, H, W) by (O, C / groups, R, S), already padded, to (N, O, OH, OW)."""
    batch, channels = data.shape[:2]
    out_channels, _, *size = kernel.shape
    windows = unfold(data, (size[0], size[1]), strides, dilation)
    out_height, out_width = windows.shape[-2:]
    depth = channels // groups * size[0] * size[1]
    matrix = kernel.reshape(groups, out_channels // groups, depth)
    result = np.empty((batch, groups, out_channels // groups, out_height * out_width), data.dtype)
    for image in range(batch):
        columns = windows[image].reshape(groups, depth, out_height * out_width)
        np.matmul(matrix, columns, out=result[image])
    return result.reshape(batch, out_channels, out_height, out_width)


def unfold(data: Array, size: tuple[int, int], strides: tuple[int, int], dilation: tuple[int, int]) -> Array:
    """A view (N, C, R, S, OH, OW) of the windows of (N, C, H, W)."""
    counts = [
        (extent - dilate * (window - 1) - 1) // stride + 1
        for extent, window, stride, dilate in zip(data.shape[2:], size, strides, dilation, strict=True)
    ]
    step_n, step_c, step_h, step_w = data.strides
    return as_strided(
        data,
        (*data.shape[:2], *size, *counts),
        (step_n, step_c, step_h * dilation[0], step_w * dilation[1], step_h * strides[0], step_w * strides[1]),
        writeable=False,
    )


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
