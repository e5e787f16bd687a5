"""Activations that other ops define: their own meaning, to which tests hold the definitions."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.composite_activation import LogSoftmaxOp, MishOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.convolution import accumulator
from xrelay.interpreters.relay.registry import evaluates


@evaluates(MishOp)
def evaluate_mish(op: MishOp, data: Array) -> Array:
    """`x * tanh(softplus(x))`."""
    wide = data.astype(accumulator(data.dtype), copy=False)
    return (wide * np.tanh(np.logaddexp(0, wide))).astype(data.dtype)


@evaluates(LogSoftmaxOp)
def evaluate_log_softmax(op: LogSoftmaxOp, data: Array) -> Array:
    """The logarithm of the softmax, without its quotient."""
    axis = op.axis.value.data
    shifted = data.astype(accumulator(data.dtype), copy=False)
    shifted = shifted - shifted.max(axis=axis, keepdims=True)
    return (shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))).astype(data.dtype)
