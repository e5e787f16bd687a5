"""Activations that relay writes with several operators: LeakyRelu, Elu, HardSwish, Gelu and their kin."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts

_SELU_ALPHA, _SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


def _times(node: NodeView, value: SSAValue, factor: float) -> SSAValue:
    return node.emit("multiply", value, node.scalar(factor, value))


def _plus(node: NodeView, value: SSAValue, addend: float) -> SSAValue:
    return node.emit("add", value, node.scalar(addend, value))


def _positive(node: NodeView) -> SSAValue:
    """max(x, 0)."""
    return node.emit("nn.relu", node.input(0))


def _negative(node: NodeView) -> SSAValue:
    """min(x, 0)."""
    return node.emit("minimum", node.input(0), node.scalar_like(0.0, 0))


@converts("Reciprocal", attributes=("consumed_inputs",))
def convert_reciprocal(node: NodeView) -> SSAValue:
    """1 / x."""
    return node.emit("divide", node.scalar_like(1.0, 0), node.input(0))


@converts("LeakyRelu", attributes=("alpha", "consumed_inputs"))
def convert_leaky_relu(node: NodeView) -> SSAValue:
    """max(x, 0) + alpha * min(x, 0)."""
    slope = _times(node, _negative(node), node.attribute_float("alpha", 0.01))
    return node.emit("add", _positive(node), slope)


@converts("PRelu", since=7)
def convert_prelu(node: NodeView) -> SSAValue:
    """max(x, 0) + slope * min(x, 0), the slope broadcast."""
    return node.emit("add", _positive(node), node.emit("multiply", _negative(node), node.input(1)))


def _exponential(node: NodeView, alpha: float, scale: float) -> SSAValue:
    """max(x, 0) + alpha * (exp(min(x, 0) / scale) - 1), where narrow floats are rounded once, at the end."""
    x, dtype = node.input(0), numpy_dtype(node.element_type(0))
    if dtype.itemsize < np.dtype(np.float32).itemsize:
        x = node.emit("cast", x, dtype="float32")
    argument = node.emit("minimum", x, node.scalar(0.0, x))
    if scale != 1.0:
        argument = _times(node, argument, 1 / scale)
    below = _times(node, _plus(node, node.emit("exp", argument), -1.0), alpha)
    result = node.emit("add", node.emit("nn.relu", x), below)
    return result if x is node.input(0) else node.emit("cast", result, dtype=dtype)


@converts("Elu", attributes=("alpha", "consumed_inputs"))
def convert_elu(node: NodeView) -> SSAValue:
    """X above zero, alpha * (exp(x) - 1) below."""
    return _exponential(node, node.attribute_float("alpha", 1.0), 1.0)


@converts("Celu", since=12, attributes=("alpha",))
def convert_celu(node: NodeView) -> SSAValue:
    """X above zero, alpha * (exp(x / alpha) - 1) below."""
    alpha = node.attribute_float("alpha", 1.0)
    if alpha == 0.0:
        raise node.illegal("alpha", alpha)
    return _exponential(node, alpha, alpha)


@converts("Selu", attributes=("alpha", "gamma", "consumed_inputs"))
def convert_selu(node: NodeView) -> SSAValue:
    """Gamma * Elu(x)."""
    inner = _exponential(node, node.attribute_float("alpha", _SELU_ALPHA), 1.0)
    return _times(node, inner, node.attribute_float("gamma", _SELU_GAMMA))


def _hard_sigmoid(node: NodeView, alpha: float, beta: float) -> SSAValue:
    return node.emit("clip", _plus(node, _times(node, node.input(0), alpha), beta), a_min=0.0, a_max=1.0)


@converts("HardSigmoid", attributes=("alpha", "beta", "consumed_inputs"))
def convert_hard_sigmoid(node: NodeView) -> SSAValue:
    """Alpha * x + beta, clipped to [0, 1]."""
    return _hard_sigmoid(node, node.attribute_float("alpha", 0.2), node.attribute_float("beta", 0.5))


@converts("HardSwish", since=14)
def convert_hard_swish(node: NodeView) -> SSAValue:
    """X * clip(x / 6 + 1/2, 0, 1)."""
    return node.emit("multiply", node.input(0), _hard_sigmoid(node, 1 / 6, 0.5))


def _softplus(node: NodeView) -> SSAValue:
    """log(1 + exp(x)), written so that no exponential overflows: max(x, 0) + log(1 + exp(-|x|))."""
    small = node.emit("exp", node.emit("negative", node.emit("abs", node.input(0))))
    return node.emit("add", _positive(node), node.emit("log", _plus(node, small, 1.0)))


@converts("Softplus")
def convert_softplus(node: NodeView) -> SSAValue:
    """log(1 + exp(x))."""
    return _softplus(node)


@converts("Mish", since=18)
def convert_mish(node: NodeView) -> SSAValue:
    """X * tanh(softplus(x))."""
    return node.emit("multiply", node.input(0), node.emit("tanh", _softplus(node)))


@converts("Softsign")
def convert_softsign(node: NodeView) -> SSAValue:
    """X / (1 + |x|)."""
    return node.emit("divide", node.input(0), _plus(node, node.emit("abs", node.input(0)), 1.0))


@converts("Gelu", since=20, attributes=("approximate",))
def convert_gelu(node: NodeView) -> SSAValue:
    """X / 2 * (1 + erf(x / sqrt(2))), or with the tanh that approximates it."""
    x = node.input(0)
    if node.attribute_string("approximate", "none", ("none", "tanh")) == "tanh":
        cube = node.emit("multiply", node.emit("multiply", x, x), x)
        inner = _times(node, node.emit("add", x, _times(node, cube, 0.044715)), sqrt(2 / pi))
        bend = node.emit("tanh", inner)
    else:
        bend = node.emit("erf", _times(node, x, sqrt(0.5)))
    return node.emit("multiply", _times(node, x, 0.5), _plus(node, bend, 1.0))
