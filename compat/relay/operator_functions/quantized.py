"""Quantised operators of Relay's Python without an op: `requantize` with defaults, and simulated quantisation.

with relay.qnn.requantize_config(rounding="TONEAREST"):
    y = relay.qnn.op.requantize(x, s, z, t, u)
x = relay.qnn.op.simulated_quantize(x, s, z, out_dtype=relay.var("code", shape=(), dtype="int32"))
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import numpy as np

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.ops.qnn.quantize import RequantizeOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MaximumOp, MinimumOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import EqualOp, WhereOp
from xrelay.dialects.relay.ops.tensor.rounding import RoundOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp
from xrelay.dialects.shared.types import is_complete
from xrelay.errors import InputError, did_you_mean
from xrelay.relay.expr import Expr, ExprLike, as_value, call, const, view

CODES: Final = {"disable": 0, "int8": 1, "uint8": 2, "int32": 3}
"""The codes by which a program selects the dtype of simulated quantisation at run time."""


@dataclass(frozen=True)
class RequantizeConfig:
    """The defaults of `requantize`."""

    rounding: str = "UPWARD"
    compute_dtype: str = "int64"


_CURRENT: ContextVar[RequantizeConfig | None] = ContextVar("requantize_config", default=None)


@contextmanager
def requantize_config(rounding: str = "UPWARD", compute_dtype: str = "int64") -> Generator[RequantizeConfig]:
    """Returns a context that sets the default rounding and compute dtype of `requantize`."""
    config = RequantizeConfig(rounding, compute_dtype)
    token = _CURRENT.set(config)
    try:
        yield config
    finally:
        _CURRENT.reset(token)


def current_requantize_config() -> RequantizeConfig:
    """Returns the innermost entered configuration, or the default."""
    return _CURRENT.get() or RequantizeConfig()


def requantize(
    data: ExprLike,
    input_scale: ExprLike,
    input_zero_point: ExprLike,
    output_scale: ExprLike,
    output_zero_point: ExprLike,
    axis: int = -1,
    rounding: str | None = None,
    compute_dtype: str | None = None,
    out_dtype: AttributeValue = "int8",
) -> Expr:
    """`qnn.requantize`, with defaults from `requantize_config` for options of value None or "None"."""
    current = current_requantize_config()
    return call(
        RequantizeOp,
        data,
        input_scale,
        input_zero_point,
        output_scale,
        output_zero_point,
        axis=axis,
        rounding=current.rounding if rounding in (None, "None") else rounding,
        compute_dtype=current.compute_dtype if compute_dtype in (None, "None") else compute_dtype,
        out_dtype=out_dtype,
    )


def simulated_quantize(
    data: ExprLike,
    output_scale: ExprLike,
    output_zero_point: ExprLike,
    axis: int = -1,
    out_dtype: str | Expr = "int8",
) -> Expr:
    """Returns the values of `qnn.quantize` as floats of the data's type.

    `out_dtype` is `int8`, `uint8`, `int32`, or `disable` for the data itself; or an expression that evaluates to 1, 2,
    3 or 0 for these. Scale and zero point are scalars, or vectors along `axis`.
    """
    value, code, scale, zero_point = _typed_operands(data, out_dtype, output_scale, output_zero_point, axis)
    shifted = call(AddOp, call(RoundOp, call(DivideOp, value, scale)), zero_point)
    bounds = {name: np.iinfo(name) for name in ("int8", "uint8", "int32")}
    least = _value_for_code(code, {name: bounds[name].min for name in bounds}, value)
    greatest = _value_for_code(code, {name: bounds[name].max for name in bounds}, value)
    return _unless_disabled(code, call(MinimumOp, call(MaximumOp, shifted, least), greatest), value)


def simulated_dequantize(
    data: ExprLike,
    input_scale: ExprLike,
    input_zero_point: ExprLike,
    axis: int = -1,
    in_dtype: str | Expr = "int8",
) -> Expr:
    """Returns the values of `qnn.dequantize` for integers stored as floats; the data for `disable` or 0."""
    value, code, scale, zero_point = _typed_operands(data, in_dtype, input_scale, input_zero_point, axis)
    return _unless_disabled(code, call(MultiplyOp, call(SubtractOp, value, zero_point), scale), value)


def _typed_operands(
    data: ExprLike, dtype: str | Expr, scale: ExprLike, zero_point: ExprLike, axis: int
) -> tuple[Expr, Expr, Expr, Expr]:
    """Returns the data, the code of the dtype, and scale and zero point that broadcast with the data."""
    value, code = _typed(data), _code(dtype)
    return value, code, _broadcast_along(value, _typed(scale), axis), _broadcast_along(value, _typed(zero_point), axis)


def _typed(value: ExprLike) -> Expr:
    given = view(as_value(value))
    if not is_complete(given.type):
        raise InputError(
            "simulated quantisation requires operands of known types", help="specify the types of variables"
        )
    return given


def _code(dtype: str | Expr) -> Expr:
    if isinstance(dtype, Expr):
        return dtype
    if dtype not in CODES:
        hint = did_you_mean(dtype, CODES, f"they are {', '.join(CODES)}")
        raise InputError(f"there is no quantisation to {dtype!r}", help=hint)
    return const(CODES[dtype], "int32")


def _broadcast_along(data: Expr, parameter: Expr, axis: int) -> Expr:
    """Returns a scale or zero point in the data's element type, shaped to broadcast along `axis`."""
    converted = call(CastOp, parameter, dtype=str(data.dtype))
    trailing = len(data.shape) - 1 - axis_index(axis, len(data.shape))
    is_vector = len(parameter.shape) == 1
    return call(ExpandDimsOp, converted, axis=1, num_newaxis=trailing) if is_vector and trailing else converted


def _value_for_code(code: Expr, values: dict[str, int], data: Expr) -> Expr:
    """Returns the value for `code`; that of `int32` for unknown codes."""
    numbers = {name: const(float(value), data.dtype) for name, value in values.items()}
    result = numbers["int32"]
    for name in ("uint8", "int8"):
        result = call(WhereOp, call(EqualOp, code, const(CODES[name], code.dtype)), numbers[name], result)
    return result


def _unless_disabled(code: Expr, quantized: Expr, data: Expr) -> Expr:
    return call(WhereOp, call(EqualOp, code, const(CODES["disable"], code.dtype)), data, quantized)
