"""Layers that create variables for omitted parameters: `name_weight`, `name_bias`, `name_gamma`, …."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xrelay.errors import InputError
from xrelay.relay import Expr, ExprLike, Function, var
from xrelay.relay.analysis import free_vars
from xrelay.relay.operator_functions.calls import nn

_KERNEL_LAYOUTS = {"NCHW": ("OIHW", "OIHW"), "NHWC": ("HWIO", "HWOI")}
"""Data layout → the layouts of the weights of convolutions and of depthwise convolutions."""


def batch_norm_infer(
    data: ExprLike,
    gamma: Expr | None = None,
    beta: Expr | None = None,
    moving_mean: Expr | None = None,
    moving_var: Expr | None = None,
    *,
    name: str,
    **attributes: Any,
) -> Expr:
    """Returns the normalised data of `nn.batch_norm`."""
    given = {"gamma": gamma, "beta": beta, "moving_mean": moving_mean, "moving_var": moving_var}
    params = [var(f"{name}_{kind}") if value is None else value for kind, value in given.items()]
    return nn.batch_norm(data, *params, **attributes)[0]


def _convolution(operator: str) -> Callable[..., Expr]:
    def apply(data: ExprLike, weight: Expr | None = None, *, name: str, **attributes: Any) -> Expr:
        return getattr(nn, operator)(data, var(f"{name}_weight") if weight is None else weight, **attributes)

    apply.__doc__ = f"`nn.{operator}`."
    return apply


conv2d, conv3d, conv2d_transpose = map(_convolution, ("conv2d", "conv3d", "conv2d_transpose"))


def conv2d_bias_relu(data: ExprLike, *, name: str, **attributes: Any) -> Expr:
    """Returns a convolution with a bias and `nn.relu`."""
    return nn.relu(nn.bias_add(conv2d(data, name=name, **attributes), var(f"{name}_bias")))


def dense_add_bias(
    data: ExprLike,
    weight: Expr | None = None,
    bias: Expr | None = None,
    units: int | None = None,
    *,
    name: str,
    **attributes: Any,
) -> Expr:
    """`nn.dense` with a bias."""
    weight = var(f"{name}_weight") if weight is None else weight
    bias = var(f"{name}_bias") if bias is None else bias
    return nn.bias_add(nn.dense(data, weight, units=units, **attributes), bias, axis=-1)


def conv_kernel_layout(data_layout: str, is_depthwise: bool = False) -> str:
    """Returns the weight layout for a data layout, NCHW or NHWC. Raises `InputError` for another one."""
    if data_layout not in _KERNEL_LAYOUTS:
        known = ", ".join(_KERNEL_LAYOUTS)
        raise InputError(f"there is no kernel layout for the data layout {data_layout!r}", help=f"pass one of {known}")
    return _KERNEL_LAYOUTS[data_layout][is_depthwise]


def function_of(net: Expr) -> Function:
    """Returns the function of the free variables of a network."""
    return Function(free_vars(net), net)
