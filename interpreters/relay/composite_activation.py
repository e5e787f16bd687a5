"""Composite activations in double precision, with which tests compare their decompositions."""

from __future__ import annotations

import math

import numpy as np

from xrelay.dialects.relay.meaning.in_double import in_double
from xrelay.dialects.relay.ops.composite_activation import LogSoftmaxOp
from xrelay.dialects.relay.ops.nn_gates import (
    GeluOp,
    HardSigmoidOp,
    HardSwishOp,
    MishOp,
    SoftplusOp,
    SoftsignOp,
    SwishOp,
)
from xrelay.dialects.relay.ops.nn_rectifiers import CeluOp, EluOp, LeakyReluOp, PReluOp, SeluOp, ThresholdedReluOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates

_erfc = np.frompyfunc(math.erfc, 1, 1)


@evaluates(LeakyReluOp)
@in_double
def evaluate_leaky_relu(op: LeakyReluOp, x: Array) -> Array:
    """Selects by sign."""
    return np.where(x < 0, op.alpha.value.data * x, x)


@evaluates(PReluOp)
@in_double
def evaluate_prelu(op: PReluOp, x: Array, alpha: Array) -> Array:
    """Selects by sign."""
    axis = op.axis.value.data % x.ndim
    return np.where(x < 0, alpha.reshape([-1 if each == axis else 1 for each in range(x.ndim)]) * x, x)


@evaluates(EluOp)
@in_double
def evaluate_elu(op: EluOp, x: Array) -> Array:
    """Selects by sign."""
    return np.where(x < 0, op.alpha.value.data * np.expm1(x), x)


@evaluates(CeluOp)
@in_double
def evaluate_celu(op: CeluOp, x: Array) -> Array:
    """Selects by sign."""
    alpha = op.alpha.value.data
    return np.where(x < 0, alpha * np.expm1(x / alpha), x)


@evaluates(SeluOp)
@in_double
def evaluate_selu(op: SeluOp, x: Array) -> Array:
    """Selects by sign."""
    return op.gamma.value.data * np.where(x < 0, op.alpha.value.data * np.expm1(x), x)


@evaluates(ThresholdedReluOp)
@in_double
def evaluate_thresholded_relu(op: ThresholdedReluOp, x: Array) -> Array:
    """Selects by comparison."""
    return np.where(x > op.theta.value.data, x, 0.0)


@evaluates(SoftplusOp)
@in_double
def evaluate_softplus(op: SoftplusOp, x: Array) -> Array:
    """Computes log(exp(0) + exp(x))."""
    return np.logaddexp(0.0, x)


@evaluates(MishOp)
@in_double
def evaluate_mish(op: MishOp, x: Array) -> Array:
    """Evaluates the formula."""
    return x * np.tanh(np.logaddexp(0.0, x))


@evaluates(SoftsignOp)
@in_double
def evaluate_softsign(op: SoftsignOp, x: Array) -> Array:
    """Evaluates the formula."""
    return x / (1 + np.abs(x))


@evaluates(HardSigmoidOp)
@in_double
def evaluate_hard_sigmoid(op: HardSigmoidOp, x: Array) -> Array:
    """Evaluates the formula."""
    return _hard_sigmoid(x, op.alpha.value.data, op.beta.value.data)


@evaluates(HardSwishOp)
@in_double
def evaluate_hard_swish(op: HardSwishOp, x: Array) -> Array:
    """Evaluates the formula."""
    return x * _hard_sigmoid(x, 1 / 6, 0.5)


def _hard_sigmoid(x: Array, alpha: float, beta: float) -> Array:
    return np.clip(alpha * x + beta, 0.0, 1.0)


@evaluates(SwishOp)
@in_double
def evaluate_swish(op: SwishOp, x: Array) -> Array:
    """Evaluates the formula."""
    return x / (1 + np.exp(-op.alpha.value.data * x))


@evaluates(GeluOp)
@in_double
def evaluate_gelu(op: GeluOp, x: Array) -> Array:
    """Evaluates the formulas; 1 + erf(z) is computed as erfc(-z) to avoid cancellation for negative x."""
    if op.approximate.data == "tanh":
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x / 2 * np.asarray(_erfc(-x * np.sqrt(0.5)), np.float64)


@evaluates(LogSoftmaxOp)
@in_double
def evaluate_log_softmax(op: LogSoftmaxOp, x: Array) -> Array:
    """Computes the logarithm of the softmax as a difference instead of a quotient."""
    axis = op.axis.value.data
    shifted = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
