"""Elementwise operators."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.meaning.integer_division import truncated_quotient
from xrelay.dialects.relay.ops.annotation import CheckpointOp, CompilerBeginOp, CompilerEndOp, StopFusionOp
from xrelay.dialects.relay.ops.nn_activation import DropoutOp, ReluOp
from xrelay.dialects.relay.ops.require import RequireOp
from xrelay.dialects.relay.ops.tensor_compare import EqualOp, GreaterEqualOp, GreaterOp, LessEqualOp, LessOp, NotEqualOp
from xrelay.dialects.relay.ops.tensor_elementwise import (
    AddOp,
    CastOp,
    DivideOp,
    ExpOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    PowerOp,
    ReinterpretOp,
    SigmoidOp,
    SubtractOp,
)
from xrelay.dialects.relay.ops.tensor_select import WhereOp
from xrelay.dialects.relay.ops.tensor_unary import (
    AbsOp,
    ClipOp,
    CopyOp,
    ErfOp,
    LogOp,
    NegativeOp,
    RsqrtOp,
    SqrtOp,
    TanhOp,
)
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.numerics.powers import float_power, integer_power
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.interpreters.relay.registry import Value, evaluates

_erf = np.frompyfunc(math.erf, 1, 1)


def _sigmoid(data: Array) -> Array:
    wide = data.astype(accumulator(data.dtype), copy=False)
    one = wide.dtype.type(1)
    return one / (one + np.exp(-wide))


def _error_function(data: Array) -> Array:
    return np.asarray(_erf(data.astype(np.float64)), np.float64).astype(data.dtype)


def _rsqrt(data: Array) -> Array:
    return data.dtype.type(1) / np.sqrt(data)


def _relu(data: Array) -> Array:
    return np.maximum(data, data.dtype.type(0))


_UNARY: dict[type[Operation], Callable[[Array], Array]] = {
    AbsOp: np.abs,
    ErfOp: _error_function,
    ExpOp: np.exp,
    LogOp: np.log,
    CopyOp: np.array,
    NegativeOp: np.negative,
    ReluOp: _relu,
    RsqrtOp: _rsqrt,
    SigmoidOp: _sigmoid,
    SqrtOp: np.sqrt,
    TanhOp: np.tanh,
}


@evaluates(*_UNARY)
def evaluate_unary(op: Operation, data: Array) -> Array:
    """Applies a function to each element."""
    return np.asarray(_UNARY[type(op)](data), data.dtype)


@evaluates(ClipOp)
def evaluate_clip(op: ClipOp, data: Array) -> Array:
    """Clamps each element."""
    low, high = (_bound(value.value.data, data.dtype) for value in (op.a_min, op.a_max))
    return np.minimum(np.maximum(data, low), high)


def _bound(value: float, dtype: np.dtype) -> np.generic:
    """Converts a bound to the data's dtype; bounds out of range become the least or greatest integer."""
    if dtype.kind not in "iub":
        return dtype.type(value)
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if value <= least or value >= most:
        return dtype.type(least if value <= least else most)
    return dtype.type(int(value))


@evaluates(CastOp)
def evaluate_cast(op: CastOp, data: Array) -> Array:
    """Converts each element with one rounding; numpy also truncates towards zero."""
    return cast_once(data, numpy_dtype(op.dtype))


@evaluates(ReinterpretOp)
def evaluate_reinterpret(op: ReinterpretOp, data: Array) -> Array:
    """Returns a view of the same bytes."""
    return data.view(numpy_dtype(op.dtype))


@evaluates(LetOp, RequireOp, StopFusionOp, CheckpointOp, CompilerBeginOp, CompilerEndOp)
def evaluate_identity(op: Operation, value: Value) -> Value:
    """Returns the operand."""
    return value


@evaluates(DropoutOp)
def evaluate_dropout(op: DropoutOp, data: Array) -> tuple[Array, Array]:
    """Returns the data and a mask of ones."""
    return data, np.ones_like(data)


def _divide(lhs: Array, rhs: Array) -> Array:
    return truncated_quotient(lhs, rhs) if lhs.dtype.kind in "iu" else lhs / rhs


def _power(lhs: Array, rhs: Array) -> Array:
    return integer_power(lhs, rhs) if rhs.dtype.kind in "iu" else float_power(lhs, rhs)


_BINARY: dict[type[Operation], Callable[[Array, Array], Array]] = {
    AddOp: np.add,
    DivideOp: _divide,
    MaximumOp: np.maximum,
    MinimumOp: np.minimum,
    MultiplyOp: np.multiply,
    PowerOp: _power,
    SubtractOp: np.subtract,
}


@evaluates(*_BINARY)
def evaluate_binary(op: Operation, lhs: Array, rhs: Array) -> Array:
    """Applies a binary function with broadcasting."""
    return np.asarray(_BINARY[type(op)](lhs, rhs), lhs.dtype)


_COMPARE: dict[type[Operation], Callable[[Array, Array], Array]] = {
    EqualOp: np.equal,
    GreaterEqualOp: np.greater_equal,
    GreaterOp: np.greater,
    LessEqualOp: np.less_equal,
    LessOp: np.less,
    NotEqualOp: np.not_equal,
}


@evaluates(*_COMPARE)
def evaluate_compare(op: Operation, lhs: Array, rhs: Array) -> Array:
    """Compares with broadcasting."""
    return np.asarray(_COMPARE[type(op)](lhs, rhs), np.bool_)


@evaluates(WhereOp)
def evaluate_where(op: WhereOp, condition: Array, x: Array, y: Array) -> Array:
    """Selects with broadcasting."""
    return np.where(condition, x, y)
