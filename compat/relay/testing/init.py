"""Parameters of the networks for tests: `create_workload(net)` returns a module and arrays by name."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import InputError
from xrelay.nd import array
from xrelay.relay import Expr, Function, IRModule
from xrelay.relay.transform import InferType
from xrelay.relay.types import TensorTypeView

INPUT = "data"
"""The name of inputs, which are not parameters."""

_CONSTANTS = {"bias": 0.0, "gamma": 1.0, "beta": 0.0, "mean": 0.0, "var": 1.0}
"""The values of parameters by the suffix of their names."""

FillArray: TypeAlias = Callable[[str, NDArray[Any]], None]
"""Fills the array of the parameter of a name."""


Workload: TypeAlias = "tuple[IRModule, dict[str, NDArray[Any]]]"
"""A network as a typed module, and its parameters by name."""


class Initializer:
    """Fills the arrays of parameters by the suffix of their names: weights in a subclass, others with constants."""

    def __init__(self, **kwargs: object):
        self._kwargs = kwargs

    def __call__(self, desc: str, arr: NDArray[Any]) -> None:
        """Fills the array of the parameter `desc`. Raises `InputError` if its name has no known suffix."""
        if desc.endswith("weight"):
            self._init_weight(desc, arr)
            return
        value = next((number for end, number in _CONSTANTS.items() if desc.endswith(end)), None)
        if value is None:
            ends = ", ".join(("weight", *_CONSTANTS))
            raise InputError(f"the parameter {desc!r} has no initial value", help=f"end its name in one of {ends}")
        arr[...] = value

    def _init_weight(self, name: str, arr: NDArray[Any]) -> None:
        raise InputError(f"there are no initial values for the weight {name!r}", help="use Xavier or Constant")


class Xavier(Initializer):
    """Random weights, scaled to preserve the variance of activations."""

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        if rnd_type != "uniform":
            raise InputError(f"rnd_type is {rnd_type!r}", help="the only distribution is 'uniform'")
        if factor_type not in ("avg", "in", "out"):
            raise InputError(f"factor_type is {factor_type!r}", help="pass 'avg', 'in' or 'out'")
        self.factor_type, self.magnitude = factor_type, float(magnitude)

    def _init_weight(self, name: str, arr: NDArray[Any]) -> None:
        if arr.ndim < 2:
            raise InputError(f"the weight {name!r} has rank {arr.ndim}", help="Xavier needs a rank of 2 or more")
        window = prod(arr.shape[2:])
        fans = {"in": arr.shape[1] * window, "out": arr.shape[0] * window}
        factor = fans.get(self.factor_type, (fans["in"] + fans["out"]) / 2)
        # In a depthwise convolution each output channel has one input channel.
        scale = np.sqrt(self.magnitude / (window if "depthwise" in name else factor))
        arr[...] = np.random.uniform(-scale, scale, size=arr.shape)


class Constant(Initializer):
    """Equal weights with the sum 1."""

    def _init_weight(self, name: str, arr: NDArray[Any]) -> None:
        arr[...] = 1.0 / arr.size


def tensor_type(expr: Expr) -> TensorTypeView:
    """Returns the type of a tensor. Raises `InputError` for another value."""
    type = expr.checked_type
    if not isinstance(type, TensorTypeView):
        raise InputError(f"{expr!r} is not a tensor", help="pass a tensor")
    return type


def create_workload(net: Function, initializer: FillArray | None = None, seed: int = 0) -> Workload:
    """Returns the typed module of a network, and arrays for its parameters except those called `data`."""
    module = InferType()(IRModule.from_expr(net))
    np.random.seed(seed)
    fill = initializer if initializer is not None else Xavier()
    params: dict[str, NDArray[Any]] = {}
    for param in module["main"].params:
        if param.name != INPUT:
            type = tensor_type(param)
            values = np.zeros(type.concrete_shape, type.dtype)
            fill(param.name, values)
            params[param.name] = array(values)
    return module, params
