"""What the scalar ops of `arith` and `math` mean on numpy arrays, element by element.

`evaluate(op, operands)` gives one array per result; `RULES` maps names of ops to their meaning and may be added to.
Booleans (`i1`) are numpy booleans, other integers are signed arrays that wrap around, `index` is 64 bits wide; unsigned
ops look at the same bits. Floats are computed in their own precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation

from xrelay.errors import InterpreterError

Array: TypeAlias = NDArray[Any]
Rule: TypeAlias = Callable[[Operation, Sequence[Array]], Array]

_FLOATS: dict[type[Attribute], str] = {Float16Type: "float16", Float32Type: "float32", Float64Type: "float64"}


def numpy_dtype(type: Attribute) -> np.dtype[Any]:
    """The dtype of arrays that hold values of a scalar type; raises `InterpreterError` where numpy has none."""
    if isinstance(type, IndexType):
        return np.dtype(np.int64)
    if isinstance(type, IntegerType):
        width = type.width.data
        if width == 1:
            return np.dtype(np.bool_)
        if width in (8, 16, 32, 64):
            return np.dtype(f"{'uint' if type.signedness.data.name == 'UNSIGNED' else 'int'}{width}")
    if isinstance(type, BFloat16Type):
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    if (name := _FLOATS.get(type.__class__)) is not None:
        return np.dtype(name)
    raise InterpreterError(f"numpy has no dtype for {type}")


def scalar_value(attr: Attribute) -> Array:
    """A scalar constant as an array without dimensions."""
    if isinstance(attr, IntegerAttr):
        dtype = numpy_dtype(attr.type)
        value = attr.value.data
        bits = dtype.itemsize * 8
        if dtype.kind == "i" and value >= 1 << (bits - 1):  # written unsigned, the same bits
            value -= 1 << bits
        return np.array(value, dtype)
    if isinstance(attr, FloatAttr):
        return np.array(attr.value.data, numpy_dtype(attr.type))
    raise InterpreterError(f"{attr} is not a scalar constant")


def evaluate(op: Operation, operands: Sequence[Array]) -> Array:
    """The result of a scalar op on arrays that broadcast against each other.

    Raises `InterpreterError` for an op without a rule.
    """
    rule = RULES.get(op.name)
    if rule is None:
        raise InterpreterError(f"no numpy meaning is known for '{op.name}'")
    with np.errstate(all="ignore"):
        return rule(op, operands)


def _function(apply: Callable[..., Array]) -> Rule:
    """An op that is one function of its operands, of their dtype."""

    def rule(op: Operation, operands: Sequence[Array]) -> Array:
        return np.asarray(apply(*operands)).astype(numpy_dtype(op.results[0].type), copy=False)

    return rule


def _unsigned(array: Array) -> Array:
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "i" else array


def _unsigned_function(apply: Callable[..., Array]) -> Rule:
    """An op that is one function of its operands' bits taken as unsigned numbers."""

    def rule(op: Operation, operands: Sequence[Array]) -> Array:
        result = np.asarray(apply(*(_unsigned(np.asarray(x)) for x in operands)))
        dtype = numpy_dtype(op.results[0].type)
        return result.view(dtype) if dtype.kind == "i" and result.dtype.kind == "u" else result.astype(dtype)

    return rule


def _truncated_quotient(a: Array, b: Array) -> Array:
    floor = a // b
    return floor + ((floor < 0) & (floor * b != a))


def _attribute_of(op: Operation, name: str) -> Attribute:
    attr = op.properties.get(name, op.attributes.get(name))
    if attr is None:
        raise InterpreterError(f"'{op.name}' has no attribute {name!r}")
    return attr


def _predicate(op: Operation) -> int:
    attr = _attribute_of(op, "predicate")
    if not isinstance(attr, IntegerAttr):
        raise InterpreterError(f"'{op.name}' has predicate {attr}, which is not a number")
    return attr.value.data


_COMPARE_INTEGERS: list[Callable[[Array, Array], Array]] = [
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.less, np.less_equal, np.greater, np.greater_equal,
]  # fmt: skip
"""By the number of the predicate; those from 6 on are unsigned."""


def _cmpi(op: Operation, operands: Sequence[Array]) -> Array:
    predicate = _predicate(op)
    a, b = (_unsigned(np.asarray(x)) if predicate >= 6 else x for x in operands)
    return _COMPARE_INTEGERS[predicate](a, b)


_COMPARE_FLOATS: list[Callable[[Array, Array], Array]] = [
    np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal,
]  # fmt: skip
"""eq, gt, ge, lt, le, ne: ordered from predicate 1 on, unordered from predicate 8 on."""


def _cmpf(op: Operation, operands: Sequence[Array]) -> Array:
    a, b = operands
    predicate, unordered = _predicate(op), np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return np.full(unordered.shape, predicate == 15)
    if predicate in (7, 14):
        return ~unordered if predicate == 7 else unordered
    if predicate < 7:
        return _COMPARE_FLOATS[predicate - 1](a, b) & ~unordered
    return _COMPARE_FLOATS[predicate - 8](a, b) | unordered


def _cast(op: Operation, operands: Sequence[Array]) -> Array:
    return operands[0].astype(numpy_dtype(op.results[0].type))


def _cast_unsigned(op: Operation, operands: Sequence[Array]) -> Array:
    return _unsigned(np.asarray(operands[0])).astype(numpy_dtype(op.results[0].type))


def _extend_signed(op: Operation, operands: Sequence[Array]) -> Array:
    value, dtype = operands[0], numpy_dtype(op.results[0].type)
    # The one bit of a boolean is its sign.
    return -value.astype(dtype) if value.dtype == np.bool_ else value.astype(dtype)


def _truncate(op: Operation, operands: Sequence[Array]) -> Array:
    dtype = numpy_dtype(op.results[0].type)
    return (operands[0] & 1).astype(dtype) if dtype == np.bool_ else operands[0].astype(dtype)


def _to_unsigned(op: Operation, operands: Sequence[Array]) -> Array:
    dtype = numpy_dtype(op.results[0].type)
    return operands[0].astype(f"u{dtype.itemsize}").view(dtype)


def _bitcast(op: Operation, operands: Sequence[Array]) -> Array:
    return np.asarray(operands[0]).view(numpy_dtype(op.results[0].type))


def _constant(op: Operation, operands: Sequence[Array]) -> Array:
    return scalar_value(_attribute_of(op, "value"))


def _fma(a: Array, b: Array, c: Array) -> Array:
    # One rounding: f32 products are exact in f64.
    wide = np.float64 if a.dtype.itemsize < 8 else a.dtype
    return a.astype(wide) * b.astype(wide) + c.astype(wide)


_python_erf = np.frompyfunc(math.erf, 1, 1)


def _erf(a: Array) -> Array:
    return np.asarray(_python_erf(a.astype(np.float64))).astype(np.float64)


def _round_half_away(a: Array) -> Array:
    return np.copysign(np.floor(np.abs(a) + 0.5), a)


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.remf": np.fmod, "arith.negf": np.negative, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
    "arith.muli": np.multiply, "arith.divsi": _truncated_quotient, "arith.floordivsi": np.floor_divide,
    "arith.ceildivsi": lambda a, b: -(-a // b), "arith.remsi": np.fmod,
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift, "arith.shrsi": np.right_shift,
    "arith.select": np.where,
    "math.absf": np.abs, "math.absi": np.abs, "math.acos": np.arccos, "math.acosh": np.arccosh,
    "math.asin": np.arcsin, "math.asinh": np.arcsinh, "math.atan": np.arctan, "math.atanh": np.arctanh,
    "math.atan2": np.arctan2, "math.cbrt": np.cbrt, "math.ceil": np.ceil, "math.copysign": np.copysign,
    "math.cos": np.cos, "math.cosh": np.cosh, "math.erf": _erf, "math.exp": np.exp, "math.exp2": np.exp2,
    "math.expm1": np.expm1, "math.floor": np.floor, "math.fma": _fma, "math.fpowi": np.power, "math.ipowi": np.power,
    "math.log": np.log, "math.log10": np.log10, "math.log1p": np.log1p, "math.log2": np.log2, "math.powf": np.power,
    "math.round": _round_half_away, "math.roundeven": np.rint, "math.rsqrt": lambda a: 1 / np.sqrt(a),
    "math.sin": np.sin, "math.sinh": np.sinh, "math.sqrt": np.sqrt, "math.tan": np.tan, "math.tanh": np.tanh,
    "math.trunc": np.trunc,
    "math.isnan": np.isnan, "math.isinf": np.isinf, "math.isfinite": np.isfinite,
}  # fmt: skip

_UNSIGNED_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "arith.divui": np.floor_divide, "arith.remui": np.remainder, "arith.ceildivui": lambda a, b: a // b + (a % b != 0),
    "arith.maxui": np.maximum, "arith.minui": np.minimum, "arith.shrui": np.right_shift,
    # Addition modulo 2 of booleans is not numpy's addition, which is "or".
    "arith.addi": lambda a, b: a ^ b if a.dtype == np.bool_ else a + b,
    "arith.subi": lambda a, b: a ^ b if a.dtype == np.bool_ else a - b,
}  # fmt: skip

RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.index_cast": _cast,
    "arith.index_castui": _cast_unsigned,
    "arith.extf": _cast,
    "arith.truncf": _cast,
    "arith.sitofp": _cast,
    "arith.fptosi": _cast,
    "arith.uitofp": _cast_unsigned,
    "arith.fptoui": _to_unsigned,
    "arith.extsi": _extend_signed,
    "arith.extui": _cast_unsigned,
    "arith.trunci": _truncate,
    "arith.bitcast": _bitcast,
    **{name: _function(apply) for name, apply in _FUNCTIONS.items()},
    **{name: _unsigned_function(apply) for name, apply in _UNSIGNED_FUNCTIONS.items()},
}
"""The meaning of each op by its name."""
