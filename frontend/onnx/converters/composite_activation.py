"""Activations that relay writes with several operators: LeakyRelu, Elu, HardSwish, Gelu and their kin."""

from __future__ import annotations

from math import isfinite, pi, sqrt

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.single_precision import rounded_once
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts

_SELU_ALPHA, _SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


def _times(node: NodeView, value: SSAValue, factor: float) -> SSAValue:
    return node.emit("multiply", value, node.scalar(factor, value))


def _plus(node: NodeView, value: SSAValue, addend: float) -> SSAValue:
    return node.emit("add", value, node.scalar(addend, value))


def _negative_part(node: NodeView, x: SSAValue) -> SSAValue:
    """min(x, 0)."""
    return node.emit("minimum", x, node.scalar(0.0, x))


def _below_zero(node: NodeView, x: SSAValue, value: SSAValue) -> SSAValue:
    """`value` where x is negative, x elsewhere: no product reaches the positive elements, even an infinite one."""
    return node.emit("where", node.emit("less", x, node.scalar(0.0, x)), value, x)


@converts("Reciprocal", attributes=("consumed_inputs",))
def convert_reciprocal(node: NodeView) -> SSAValue:
    """1 / x."""
    return node.emit("divide", node.scalar_like(1.0, 0), node.input(0))


@converts("LeakyRelu", attributes=("alpha", "consumed_inputs"))
@rounded_once
def convert_leaky_relu(node: NodeView, x: SSAValue) -> SSAValue:
    """max(x, 0) + alpha * min(x, 0)."""
    alpha = node.attribute_float("alpha", 0.01)
    if not isfinite(alpha):
        return _below_zero(node, x, _times(node, x, alpha))
    return node.emit("add", node.emit("nn.relu", x), _times(node, _negative_part(node, x), alpha))


@converts("PRelu", since=7)
def convert_prelu(node: NodeView) -> SSAValue:
    """max(x, 0) + slope * min(x, 0), the slope broadcast; a slope that may be infinite leaves positive x alone."""
    x, slope = node.input(0), node.input(1)
    known = node.constant(1)
    if known is None or not np.all(np.abs(known) < np.inf):
        return _below_zero(node, x, node.emit("multiply", x, slope))
    return node.emit("add", node.emit("nn.relu", x), node.emit("multiply", _negative_part(node, x), slope))


def _exponential(node: NodeView, x: SSAValue, alpha: float, scale: float) -> SSAValue:
    """max(x, 0) + alpha * (exp(min(x, 0) / scale) - 1)."""
    argument = _negative_part(node, x)
    if scale != 1.0:
        argument = node.emit("divide", argument, node.scalar(scale, argument))
    below = _times(node, _plus(node, node.emit("exp", argument), -1.0), alpha)
    if not isfinite(alpha):
        return _below_zero(node, x, below)
    return node.emit("add", node.emit("nn.relu", x), below)


@converts("Elu", attributes=("alpha", "consumed_inputs"))
@rounded_once
def convert_elu(node: NodeView, x: SSAValue) -> SSAValue:
    """X above zero, alpha * (exp(x) - 1) below."""
    return _exponential(node, x, node.attribute_float("alpha", 1.0), 1.0)


@converts("Celu", since=12, attributes=("alpha",))
@rounded_once
def convert_celu(node: NodeView, x: SSAValue) -> SSAValue:
    """X above zero, alpha * (exp(x / alpha) - 1) below."""
    alpha = node.attribute_float("alpha", 1.0)
    if alpha == 0.0:
        raise node.illegal("alpha", alpha)
    return _exponential(node, x, alpha, alpha)


@converts("Selu", attributes=("alpha", "gamma", "consumed_inputs"))
@rounded_once
def convert_selu(node: NodeView, x: SSAValue) -> SSAValue:
    """Gamma * Elu(x)."""
    inner = _exponential(node, x, node.attribute_float("alpha", _SELU_ALPHA), 1.0)
    return _times(node, inner, node.attribute_float("gamma", _SELU_GAMMA))


def _hard_sigmoid(node: NodeView, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return node.emit("clip", _plus(node, _times(node, x, alpha), beta), a_min=0.0, a_max=1.0)


@converts("HardSigmoid", attributes=("alpha", "beta", "consumed_inputs"))
@rounded_once
def convert_hard_sigmoid(node: NodeView, x: SSAValue) -> SSAValue:
    """Alpha * x + beta, clipped to [0, 1]."""
    return _hard_sigmoid(node, x, node.attribute_float("alpha", 0.2), node.attribute_float("beta", 0.5))


@converts("HardSwish", since=14)
@rounded_once
def convert_hard_swish(node: NodeView, x: SSAValue) -> SSAValue:
    """X * clip(x / 6 + 1/2, 0, 1)."""
    return node.emit("multiply", x, _hard_sigmoid(node, x, 1 / 6, 0.5))


def _softplus(node: NodeView, x: SSAValue) -> SSAValue:
    """max(x, 0) + log(1 + u) for u = exp(-|x|), which does not overflow.

    The sum w = 1 + u is rounded, and for small u it is 1: what was lost, u - (w - 1), comes back as the first term of
    the logarithm's series, (u - (w - 1)) / w.
    """
    u = node.emit("exp", node.emit("negative", node.emit("abs", x)))
    w = _plus(node, u, 1.0)
    lost = node.emit("subtract", u, _plus(node, w, -1.0))
    logarithm = node.emit("add", node.emit("log", w), node.emit("divide", lost, w))
    return node.emit("add", node.emit("nn.relu", x), logarithm)


@converts("Softplus")
@rounded_once
def convert_softplus(node: NodeView, x: SSAValue) -> SSAValue:
    """log(1 + exp(x))."""
    return _softplus(node, x)


@converts("Mish", since=18)
@rounded_once
def convert_mish(node: NodeView, x: SSAValue) -> SSAValue:
    """X * tanh(softplus(x))."""
    return node.emit("multiply", x, node.emit("tanh", _softplus(node, x)))


@converts("Softsign")
@rounded_once
def convert_softsign(node: NodeView, x: SSAValue) -> SSAValue:
    """X / (1 + |x|)."""
    return node.emit("divide", x, _plus(node, node.emit("abs", x), 1.0))


@converts("Gelu", since=20, attributes=("approximate",))
@rounded_once
def convert_gelu(node: NodeView, x: SSAValue) -> SSAValue:
    """X / 2 * (1 + erf(x / sqrt(2))), or with the tanh that approximates it."""
    if node.attribute_string("approximate", "none", ("none", "tanh")) == "tanh":
        cube = node.emit("multiply", node.emit("multiply", x, x), x)
        inner = _times(node, node.emit("add", x, _times(node, cube, 0.044715)), sqrt(2 / pi))
        bend = node.emit("tanh", inner)
    else:
        bend = node.emit("erf", _times(node, x, sqrt(0.5)))
    return node.emit("multiply", _times(node, x, 0.5), _plus(node, bend, 1.0))
