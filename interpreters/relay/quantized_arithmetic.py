"""Sums, products, concatenation and functions of quantised tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import starmap

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.relay.ops.qnn_arithmetic import QnnAddOp, QnnBinaryOp, QnnConcatenateOp, QnnMulOp, QnnSubtractOp
from xrelay.dialects.relay.ops.qnn_unary import (
    QnnAbsOp,
    QnnErfOp,
    QnnExpOp,
    QnnHardswishOp,
    QnnLeakyReluOp,
    QnnLogOp,
    QnnRsqrtOp,
    QnnSigmoidOp,
    QnnSoftmaxOp,
    QnnSqrtOp,
    QnnTanhOp,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.quantized import along, distance, near_distance, ratio, scaled, shifted
from xrelay.interpreters.relay.registry import evaluates

_erf = np.frompyfunc(math.erf, 1, 1)


@evaluates(QnnAddOp, QnnSubtractOp)
def evaluate_sum(op: QnnBinaryOp, lhs: Array, rhs: Array, *parameters: Array) -> Array:
    """Requantises both sides to the result's scale, and adds or subtracts."""
    *sides, output_scale, output_zero_point = parameters
    # The limits exceed 32 bits by far, and the sum fits in 64 bits.
    left, right = (
        np.clip(scaled(distances, ratio(scale, output_scale.reshape(()))), -(1 << 61), 1 << 61)
        for distances, scale in _sides(op, (lhs, rhs), sides)
    )
    total = left + right if isinstance(op, QnnAddOp) else left - right
    return shifted(total, output_zero_point.reshape(()), lhs.dtype)


@evaluates(QnnMulOp)
def evaluate_mul(op: QnnMulOp, lhs: Array, rhs: Array, *parameters: Array) -> Array:
    """Requantises the product of differences from the product of scales."""
    *sides, output_scale, output_zero_point = parameters
    (left, left_scale), (right, right_scale) = _sides(op, (lhs, rhs), sides)
    limits = np.iinfo(np.int32)
    product = np.clip(left.astype(np.int64) * right.astype(np.int64), limits.min, limits.max)
    factor = (
        left_scale.astype(np.float64) * right_scale.astype(np.float64) / output_scale.reshape(()).astype(np.float64)
    )
    return shifted(scaled(product, np.asarray(factor)), output_zero_point.reshape(()), lhs.dtype)


def _sides(op: QnnBinaryOp, tensors: tuple[Array, Array], parameters: list[Array]) -> list[tuple[Array, Array]]:
    """Returns differences and scale of both sides."""
    axes = (op.lhs_axis.value.data, op.rhs_axis.value.data)
    rows = zip(tensors, axes, parameters[::2], parameters[1::2], strict=True)
    return [
        (near_distance(data, along(zero, data, axis)), along(scale, data, axis)) for data, axis, scale, zero in rows
    ]


@evaluates(QnnConcatenateOp)
def evaluate_concatenate(
    op: QnnConcatenateOp,
    data: tuple[Array, ...],
    scales: tuple[Array, ...],
    zero_points: tuple[Array, ...],
    output_scale: Array,
    output_zero_point: Array,
) -> Array:
    """Requantises each field to the result's scale and concatenates."""

    def requantized(each: Array, scale: Array, zero_point: Array) -> Array:
        factor = ratio(scale.reshape(()), output_scale.reshape(()))
        return shifted(
            scaled(distance(each, zero_point.reshape(())), factor), output_zero_point.reshape(()), each.dtype
        )

    rows = zip(data, scales, zero_points, strict=True)
    return np.concatenate(list(starmap(requantized, rows)), axis=op.axis.value.data)


def _softmax(x: Array, axis: int) -> Array:
    grown = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return grown / np.sum(grown, axis=axis, keepdims=True)


_FUNCTIONS: dict[type[Operation], Callable[[Array], Array]] = {
    QnnAbsOp: np.abs,
    QnnErfOp: lambda x: np.asarray(_erf(x.astype(np.float64)), np.float64),
    QnnExpOp: np.exp,
    QnnHardswishOp: lambda x: x * np.clip(x + np.float32(3), 0, 6) / np.float32(6),
    QnnLogOp: np.log,
    QnnRsqrtOp: lambda x: np.float32(1) / np.sqrt(x),
    QnnSigmoidOp: lambda x: np.float32(1) / (np.float32(1) + np.exp(-x)),
    QnnSqrtOp: np.sqrt,
    QnnTanhOp: np.tanh,
}


@evaluates(*_FUNCTIONS)
def evaluate_function(op: Operation, x: Array, scale: Array, zero_point: Array, *output: Array) -> Array:
    """Applies the function to the dequantised numbers and quantises."""
    return _quantized(_FUNCTIONS[type(op)](_meant(x, scale, zero_point)), x.dtype, *output)


@evaluates(QnnSoftmaxOp)
def evaluate_softmax(op: QnnSoftmaxOp, x: Array, scale: Array, zero_point: Array, *output: Array) -> Array:
    """Computes the softmax of the dequantised numbers and quantises."""
    return _quantized(_softmax(_meant(x, scale, zero_point), op.axis.value.data), x.dtype, *output)


@evaluates(QnnLeakyReluOp)
def evaluate_leaky_relu(
    op: QnnLeakyReluOp, data: Array, scale: Array, zero_point: Array, output_scale: Array, output_zero_point: Array
) -> Array:
    """Requantises with one scale for each sign."""
    distances, output_scale = distance(data, zero_point.reshape(())), output_scale.reshape(())
    above, below = (
        scaled(distances, ratio(scale.reshape(()), output_scale, times)) for times in (1.0, op.alpha.value.data)
    )
    return shifted(np.where(distances < 0, below, above), output_zero_point.reshape(()), data.dtype)


def _meant(x: Array, scale: Array, zero_point: Array) -> Array:
    """Dequantises to f32."""
    return np.asarray(distance(x, zero_point.reshape(())).astype(np.float32) * scale.reshape(()))


def _quantized(value: Array, dtype: np.dtype, scale: Array, zero_point: Array) -> Array:
    """Quantises values."""
    quotient = np.asarray(value.astype(np.float32) / scale.reshape(()))
    return shifted(np.rint(quotient), zero_point.reshape(()), dtype)
