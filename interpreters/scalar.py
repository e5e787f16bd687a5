"""Semantics of the scalar ops (`arith`, `math`, checked indices), shared by the interpreters of topi and loop.

`compile_scalar(op)` returns a function from the op's operand values to its result. It works on numpy scalars and,
elementwise, on arrays. Attributes and types are read only at compilation. Values have the numpy dtype of their type
(`numpy_dtype`; `index` is int64), so results are rounded as in compiled code.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import erf as _erf_of_float
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation

from xrelay.dialects.shared import dtypes
from xrelay.dialects.shared.checked_index import CheckedIndex, out_of_range
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.numerics import cast_once, float_power
from xrelay.errors import InterpreterError, TypeInferenceError

Value: TypeAlias = Any
"""A numpy scalar, a numpy array of lanes, or (for `index`) a Python int. numpy's types cannot express this."""

ScalarFunction: TypeAlias = Callable[..., Value]
"""Maps operand values to the value of the single result."""

ScalarCompiler: TypeAlias = Callable[[Operation], ScalarFunction]
"""Maps an op to its function."""


def numpy_dtype(element_type: Attribute) -> np.dtype[Any]:
    """Returns the numpy dtype of `element_type`. Raises `InterpreterError` for other types."""
    if isinstance(element_type, IndexType):
        return np.dtype(np.int64)
    try:
        return dtypes.numpy_dtype(element_type)
    except TypeInferenceError as error:
        raise InterpreterError(error.message, help=error.help) from error


def signless_view(array: NDArray[Any]) -> NDArray[Any]:
    """Returns a view of unsigned arrays as signed ones of the same width, because scalars are signless."""
    return array.view(f"int{8 * array.itemsize}") if array.dtype.kind == "u" else array


def plain(function: ScalarFunction) -> ScalarCompiler:
    """Returns the compiler of an op whose semantics do not depend on attributes or types."""

    def compiler(op: Operation) -> ScalarFunction:
        return function

    return compiler


def rounded(function: ScalarFunction) -> ScalarCompiler:
    """Returns the compiler of an op that casts `function`'s result to the result's type."""

    def compiler(op: Operation) -> ScalarFunction:
        cast = caster(numpy_dtype(op.results[0].type))

        def function_and_cast(*values: Value) -> Value:
            return cast(function(*values))

        return function_and_cast

    return compiler


def caster(dtype: np.dtype[Any]) -> Callable[[Value], Value]:
    """Returns a cast of scalars and arrays to `dtype` that wraps integers and rounds floats as numpy does."""
    kind = dtype.type

    def cast(value: Value) -> Value:
        if type(value) is kind:
            return value
        return cast_once(np.asarray(value), dtype)[()]

    return cast


def _constant(op: Operation) -> ScalarFunction:
    attr = cast(arith.ConstantOp, op).value
    dtype = numpy_dtype(op.results[0].type) if not isinstance(attr, DenseIntOrFPElementsAttr) else None
    if dtype is None or not isinstance(attr, IntegerAttr | FloatAttr):
        raise InterpreterError(f"arith.constant {attr} is not a scalar", help="use one number of an element type")
    number = attr.value.data
    value = dtype.type(bool(number)) if dtype == np.bool_ else np.asarray(number).astype(dtype)[()]
    return lambda: value


def _same(value: Value) -> Value:
    return value


def _unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind in "bu" else np.dtype(f"uint{dtype.itemsize * 8}")


def _on_unsigned(function: ScalarFunction) -> ScalarCompiler:
    """Compiles `function` on unsigned operands; the result is cast to the result's type."""

    def compiler(op: Operation) -> ScalarFunction:
        dtype = numpy_dtype(op.operands[0].type)
        to_unsigned, back = caster(_unsigned(dtype)), caster(numpy_dtype(op.results[0].type))

        def on_unsigned(*values: Value) -> Value:
            return back(function(*map(to_unsigned, values)))

        return on_unsigned

    return compiler


def _wrapping(function: ScalarFunction) -> ScalarCompiler:
    """Compiles two's complement arithmetic; arithmetic on i1 is modulo 2."""

    def compiler(op: Operation) -> ScalarFunction:
        dtype = numpy_dtype(op.results[0].type)
        if dtype != np.bool_:
            return function
        to_int = caster(np.dtype(np.int8))

        def modulo_two(*values: Value) -> Value:
            return (np.asarray(function(*map(to_int, values))) & 1).astype(np.bool_)[()]

        return modulo_two

    return compiler


def _dividing(quotient: ScalarFunction, finish: Callable[[ScalarFunction], ScalarCompiler] = rounded) -> ScalarCompiler:
    """Compiles an integer division. The least integer by -1 wraps; division by zero is an error with a location."""

    def compiler(op: Operation) -> ScalarFunction:
        divide, location = finish(quotient)(op), location_of(op)

        def checked(left: Value, right: Value) -> Value:
            if np.any(np.asarray(right) == 0):
                raise InterpreterError(f"{op.name}: division by zero", location=location)
            with np.errstate(over="ignore"):
                return divide(left, right)

        return checked

    return compiler


def _truncated_quotient(left: Value, right: Value) -> Value:
    quotient = np.floor_divide(left, right)
    inexact = (np.remainder(left, right) != 0) & ((np.asarray(left) < 0) != (np.asarray(right) < 0))
    return quotient + inexact


def _ceiling_quotient(left: Value, right: Value) -> Value:
    return np.floor_divide(left, right) + (np.remainder(left, right) != 0)


def _shift(function: ScalarFunction) -> ScalarFunction:
    def shift(left: Value, right: Value) -> Value:
        bits = np.asarray(left).dtype.itemsize * 8
        if np.any((np.asarray(right) < 0) | (np.asarray(right) >= bits)):
            raise InterpreterError(f"shift by {right} of a number of {bits} bits")
        return function(left, right)

    return shift


_INTEGER_COMPARISONS = (
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.lt, operator.le, operator.gt, operator.ge,
)  # fmt: skip
_FIRST_UNSIGNED = 6


def _cmpi(op: Operation) -> ScalarFunction:
    predicate = cast(arith.CmpiOp, op).predicate.value.data
    compare = _INTEGER_COMPARISONS[predicate]
    return compare if predicate < _FIRST_UNSIGNED else _on_unsigned(compare)(op)


def _unordered(left: Value, right: Value) -> Value:
    return np.isnan(left) | np.isnan(right)


def _or_unordered(compare: ScalarFunction) -> ScalarFunction:
    def function(left: Value, right: Value) -> Value:
        return compare(left, right) | _unordered(left, right)

    return function


def _truth(value: bool) -> ScalarFunction:
    def function(left: Value, right: Value) -> Value:
        return np.full(np.broadcast(left, right).shape, value)[()]

    return function


def _ordered(left: Value, right: Value) -> Value:
    return np.logical_not(_unordered(left, right))


def _ordered_not_equal(left: Value, right: Value) -> Value:
    return (left != right) & _ordered(left, right)


_FLOAT_COMPARISONS: tuple[ScalarFunction, ...] = (
    _truth(False), operator.eq, operator.gt, operator.ge, operator.lt, operator.le,
    _ordered_not_equal, _ordered,
    _or_unordered(operator.eq), _or_unordered(operator.gt), _or_unordered(operator.ge), _or_unordered(operator.lt),
    _or_unordered(operator.le), operator.ne, _unordered, _truth(True),
)  # fmt: skip


def _cmpf(op: Operation) -> ScalarFunction:
    return _FLOAT_COMPARISONS[cast(arith.CmpfOp, op).predicate.value.data]


_choose: ScalarFunction = np.where


def _select(condition: Value, left: Value, right: Value) -> Value:
    if np.ndim(condition) == 0 and np.ndim(left) == np.ndim(right):
        return left if condition else right
    return _choose(condition, left, right)


def _bitcast(op: Operation) -> ScalarFunction:
    dtype = numpy_dtype(op.results[0].type)

    def bitcast(value: Value) -> Value:
        return np.asarray(value).view(dtype)[()]

    return bitcast


def _float_to_integer(value: Value) -> Value:
    return np.trunc(np.asarray(value, dtype=np.float64))


def _float_to_unsigned(op: Operation) -> ScalarFunction:
    """Compiles a truncation to an unsigned number, whose bits are those of the signless result."""
    dtype = numpy_dtype(op.results[0].type)
    to_unsigned, back = caster(_unsigned(dtype)), caster(dtype)

    def convert(value: Value) -> Value:
        return back(to_unsigned(_float_to_integer(value)))

    return convert


DIVISIONS = frozenset(
    f"arith.{name}" for name in ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui")
)
"""Names of the ops whose second operand must not be zero."""

ARITH: dict[str, ScalarCompiler] = {
    "arith.constant": _constant,
    "arith.addf": plain(operator.add),
    "arith.subf": plain(operator.sub),
    "arith.mulf": plain(operator.mul),
    "arith.divf": plain(np.divide),
    "arith.remf": plain(np.fmod),
    "arith.negf": plain(operator.neg),
    "arith.maximumf": plain(np.maximum),
    "arith.minimumf": plain(np.minimum),
    "arith.maxnumf": plain(np.fmax),
    "arith.minnumf": plain(np.fmin),
    "arith.addi": _wrapping(operator.add),
    "arith.subi": _wrapping(operator.sub),
    "arith.muli": _wrapping(operator.mul),
    "arith.divsi": _dividing(_truncated_quotient),
    "arith.divui": _dividing(np.floor_divide, _on_unsigned),
    "arith.floordivsi": _dividing(np.floor_divide),
    "arith.ceildivsi": _dividing(_ceiling_quotient),
    "arith.ceildivui": _dividing(_ceiling_quotient, _on_unsigned),
    "arith.remsi": _dividing(np.fmod),
    "arith.remui": _dividing(np.remainder, _on_unsigned),
    "arith.minsi": plain(np.minimum),
    "arith.maxsi": plain(np.maximum),
    "arith.minui": _on_unsigned(np.minimum),
    "arith.maxui": _on_unsigned(np.maximum),
    "arith.andi": plain(np.bitwise_and),
    "arith.ori": plain(np.bitwise_or),
    "arith.xori": plain(np.bitwise_xor),
    "arith.shli": rounded(_shift(np.left_shift)),
    "arith.shrsi": rounded(_shift(np.right_shift)),
    "arith.shrui": _on_unsigned(_shift(np.right_shift)),
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": plain(_select),
    "arith.bitcast": _bitcast,
    "arith.index_cast": rounded(_same),
    "arith.index_castui": _on_unsigned(_same),
    "arith.fptosi": rounded(_float_to_integer),
    "arith.fptoui": _float_to_unsigned,
    "arith.sitofp": rounded(_same),
    "arith.uitofp": _on_unsigned(_same),
    "arith.extf": rounded(_same),
    "arith.truncf": rounded(_same),
    "arith.trunci": rounded(_same),
    "arith.extsi": rounded(_same),
    "arith.extui": _on_unsigned(_same),
}
"""The compiler of each op, by name."""


def _erf(value: Value) -> Value:
    """Computes `math.erf` in double precision, element by element, because numpy has no erf."""
    flat = [_erf_of_float(float(x)) for x in np.ravel(value)]
    return np.array(flat, dtype=np.float64).reshape(np.shape(value))


def _rsqrt(value: Value) -> Value:
    return 1 / np.sqrt(value)


def _round_half_away(value: Value) -> Value:
    return np.copysign(np.floor(np.abs(value) + 0.5), value)


def _fma(op: Operation) -> ScalarFunction:
    """Compiles a multiply-add with one rounding; products of narrow floats are exact in double precision."""
    dtype = numpy_dtype(op.results[0].type)
    cast, widen = caster(dtype), caster(np.dtype(np.float64))

    def fma(a: Value, b: Value, c: Value) -> Value:
        return cast(widen(a) * widen(b) + widen(c))

    return fma


def _bits(dtype: np.dtype[Any]) -> int:
    return 1 if dtype == np.bool_ else dtype.itemsize * 8


def _counting(count: ScalarFunction) -> ScalarCompiler:
    """Compiles a function of bit patterns: `count(pattern as Python int, width)` for each element."""

    def compiler(op: Operation) -> ScalarFunction:
        dtype = numpy_dtype(op.results[0].type)
        width, cast = _bits(dtype), caster(dtype)
        mask = (1 << width) - 1

        def function(value: Value) -> Value:
            flat = [count(int(x) & mask, width) for x in np.ravel(value)]
            return cast(np.array(flat, dtype=np.int64).reshape(np.shape(value)))

        return function

    return compiler


def _leading_zeros(pattern: int, width: int) -> int:
    return width - pattern.bit_length()


def _trailing_zeros(pattern: int, width: int) -> int:
    return width if pattern == 0 else (pattern & -pattern).bit_length() - 1


def _ones(pattern: int, width: int) -> int:
    return pattern.bit_count()


MATH: dict[str, ScalarCompiler] = {
    "math.absf": plain(np.abs),
    "math.absi": plain(np.abs),
    "math.acos": rounded(np.arccos),
    "math.acosh": rounded(np.arccosh),
    "math.asin": rounded(np.arcsin),
    "math.asinh": rounded(np.arcsinh),
    "math.atan": rounded(np.arctan),
    "math.atan2": rounded(np.arctan2),
    "math.atanh": rounded(np.arctanh),
    "math.cbrt": rounded(np.cbrt),
    "math.ceil": plain(np.ceil),
    "math.copysign": plain(np.copysign),
    "math.cos": rounded(np.cos),
    "math.cosh": rounded(np.cosh),
    "math.ctlz": _counting(_leading_zeros),
    "math.ctpop": _counting(_ones),
    "math.cttz": _counting(_trailing_zeros),
    "math.erf": rounded(_erf),
    "math.exp": rounded(np.exp),
    "math.exp2": rounded(np.exp2),
    "math.expm1": rounded(np.expm1),
    "math.floor": plain(np.floor),
    "math.fma": _fma,
    "math.fpowi": rounded(np.power),
    "math.ipowi": rounded(np.power),
    "math.log": rounded(np.log),
    "math.log10": rounded(np.log10),
    "math.log1p": rounded(np.log1p),
    "math.log2": rounded(np.log2),
    "math.powf": rounded(float_power),
    "math.round": plain(_round_half_away),
    "math.roundeven": plain(np.rint),
    "math.rsqrt": rounded(_rsqrt),
    "math.sin": rounded(np.sin),
    "math.sinh": rounded(np.sinh),
    "math.sqrt": rounded(np.sqrt),
    "math.tan": rounded(np.tan),
    "math.tanh": rounded(np.tanh),
    "math.trunc": plain(np.trunc),
}
"""The compiler of each op, by name."""


def compile_checked_index(op: Operation) -> ScalarFunction:
    """Returns a function of an index, or an array of indices, and of the size if that is dynamic.

    The function raises `InterpreterError` for an index out of range.
    """
    if not isinstance(op, CheckedIndex):
        raise InterpreterError(f"'{op.name}' is no checked index")
    known, from_end, location = None if op.dynamic_size is not None else op.size, op.from_end, location_of(op)

    def checked(index: Value, given: Value = 0) -> Value:
        values, size = np.asarray(index), int(np.asarray(given).flat[0]) if known is None else known
        limits = (-size if from_end else 0, size)
        wrong = (values < limits[0]) | (values >= limits[1])
        if wrong.any():
            message = out_of_range(int(values[wrong].flat[0]), limits)
            raise InterpreterError(f"{op.name}: {message}", location=location)
        counted = np.where(values < 0, values + size, values)
        return counted if values.ndim else int(counted)

    return checked


SCALAR_COMPILERS: dict[str, ScalarCompiler] = {
    **ARITH,
    **MATH,
    "topi.checked_index": compile_checked_index,
    "loop.checked_index": compile_checked_index,
}
"""The compilers of all ops that `compile_scalar` supports, by name."""


def is_scalar_op(op: Operation) -> bool:
    """Returns whether `compile_scalar` supports the op."""
    return op.name in SCALAR_COMPILERS


def compile_scalar(op: Operation) -> ScalarFunction:
    """Returns the function that computes `op`. Raises `InterpreterError` for an unsupported op."""
    compiler = SCALAR_COMPILERS.get(op.name)
    if compiler is None:
        raise InterpreterError(
            f"'{op.name}' has no meaning as a scalar op", help="arith and math ops with one result are known"
        )
    return compiler(op)
