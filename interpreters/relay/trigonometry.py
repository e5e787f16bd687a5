"""Trigonometric and hyperbolic functions, rounding, sign, and float predicates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.relay.ops.tensor_rounding import (
    CeilOp,
    FloorOp,
    IsfiniteOp,
    IsinfOp,
    IsnanOp,
    RoundOp,
    SignOp,
    TruncOp,
)
from xrelay.dialects.relay.ops.tensor_trigonometry import (
    AcoshOp,
    AcosOp,
    AsinhOp,
    AsinOp,
    AtanhOp,
    AtanOp,
    CoshOp,
    CosOp,
    SinhOp,
    SinOp,
    TanOp,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates

_FUNCTIONS: dict[type[Operation], Callable[[Array], Array]] = {
    AcosOp: np.arccos,
    AcoshOp: np.arccosh,
    AsinOp: np.arcsin,
    AsinhOp: np.arcsinh,
    AtanOp: np.arctan,
    AtanhOp: np.arctanh,
    CosOp: np.cos,
    CoshOp: np.cosh,
    SinOp: np.sin,
    SinhOp: np.sinh,
    TanOp: np.tan,
}
_ROUNDING: dict[type[Operation], Callable[[Array], Array]] = {
    CeilOp: np.ceil,
    FloorOp: np.floor,
    RoundOp: np.rint,
    TruncOp: np.trunc,
}
_QUESTIONS: dict[type[Operation], Callable[[Array], Array]] = {
    IsfiniteOp: np.isfinite,
    IsinfOp: np.isinf,
    IsnanOp: np.isnan,
}


@evaluates(*_FUNCTIONS)
def evaluate_function(op: Operation, data: Array) -> Array:
    """Applies a function to each element."""
    return np.asarray(_FUNCTIONS[type(op)](data), data.dtype)


@evaluates(*_ROUNDING)
def evaluate_rounding(op: Operation, data: Array) -> Array:
    """Rounds each float to a whole number; integers and booleans are unchanged."""
    return data if data.dtype.kind in "iub" else np.asarray(_ROUNDING[type(op)](data), data.dtype)


@evaluates(SignOp)
def evaluate_sign(op: SignOp, data: Array) -> Array:
    """Returns -1, 0 or 1; the sign of a boolean is itself."""
    return data if data.dtype.kind == "b" else np.asarray(np.sign(data), data.dtype)


@evaluates(*_QUESTIONS)
def evaluate_question(op: Operation, data: Array) -> Array:
    """Applies a predicate to each element; integers are finite."""
    if data.dtype.kind in "iub":
        return np.full(data.shape, isinstance(op, IsfiniteOp))
    return np.asarray(_QUESTIONS[type(op)](data), np.bool_)
