"""Products, convolutions and means of quantised tensors; 32-bit sums wrap around."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.layouts import to_plain
from xrelay.dialects.relay.ops.nn.conv import ConvOp
from xrelay.dialects.relay.ops.nn.conv_transpose import ConvTransposeOp
from xrelay.dialects.relay.ops.qnn_conv import QnnConv2DOp, QnnConv2DTransposeOp, QnnFilterOp
from xrelay.dialects.relay.ops.qnn_pool import QnnAvgPool2DOp
from xrelay.dialects.relay.ops.qnn_product import QnnBatchMatmulOp, QnnContribDensePackOp, QnnDenseOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.quantized import along, distance, ratio, scaled, shifted
from xrelay.interpreters.relay.registry import evaluates


@evaluates(QnnDenseOp)
def evaluate_dense(
    op: QnnDenseOp, data: Array, weight: Array, zero_point: Array, weight_zero_point: Array, *scales: Array
) -> Array:
    """Multiplies by the transposed weight."""
    left, right = distance(data, zero_point.reshape(())), distance(weight, along(weight_zero_point, weight, 0))
    return np.asarray(np.matmul(left, right.T))


@evaluates(QnnContribDensePackOp)
def evaluate_dense_pack(
    op: QnnContribDensePackOp, data: Array, weight: Array, zero_point: Array, weight_zero_point: Array, *scales: Array
) -> Array:
    """Multiplies by the transposed unpacked weight."""
    plain = to_plain(weight, op.layout, "NC")
    left, right = distance(data, zero_point.reshape(())), distance(plain, along(weight_zero_point, plain, 0))
    return np.asarray(np.matmul(left, right.T))


@evaluates(QnnBatchMatmulOp)
def evaluate_batch_matmul(
    op: QnnBatchMatmulOp, x: Array, y: Array, x_zero_point: Array, y_zero_point: Array, *scales: Array
) -> Array:
    """Multiplies by the transposed matrices."""
    left, right = distance(x, x_zero_point.reshape(())), distance(y, y_zero_point.reshape(()))
    return np.asarray(np.matmul(left, np.swapaxes(right, -1, -2)))


@evaluates(QnnConv2DOp)
def evaluate_conv2d(op: QnnConv2DOp, data: Array, weight: Array, *parameters: Array) -> Array:
    """Convolves the differences from the zero points."""
    return ConvOp.evaluate(op, *_distances(op, data, weight, *parameters[:2]))


@evaluates(QnnConv2DTransposeOp)
def evaluate_conv2d_transpose(op: QnnConv2DTransposeOp, data: Array, weight: Array, *parameters: Array) -> Array:
    """Computes the transposed convolution of the differences from the zero points."""
    return ConvTransposeOp.evaluate(op, *_distances(op, data, weight, *parameters[:2]))


def _distances(
    op: QnnFilterOp, data: Array, weight: Array, zero_point: Array, weight_zero_point: Array
) -> tuple[Array, Array]:
    """Returns data and weight minus their zero points."""
    filters = op.layouts[1].index("O")
    return distance(data, zero_point.reshape(())), distance(weight, along(weight_zero_point, weight, filters))


@evaluates(QnnAvgPool2DOp)
def evaluate_avg_pool2d(
    op: QnnAvgPool2DOp, data: Array, scale: Array, zero_point: Array, output_scale: Array, output_zero_point: Array
) -> Array:
    """Rounds the mean of differences with integers."""
    limits = np.iinfo(data.dtype)
    distances = distance(data, np.clip(zero_point.reshape(()), limits.min, limits.max))
    total, count = op.sums_and_counts(distances.astype(np.int64))
    mean = np.floor_divide(2 * total + count, 2 * count)
    factor = ratio(scale.reshape(()), output_scale.reshape(()))
    result = shifted(scaled(mean, factor), output_zero_point.reshape(()), data.dtype)
    return op.laid_out(result)
