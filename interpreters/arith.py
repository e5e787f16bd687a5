"""Semantics of the `arith` ops on numpy values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation

from xrelay.dialects.shared.locations import location_of
from xrelay.errors import InterpreterError
from xrelay.interpreters.scalar_meaning import (
    ScalarCompiler,
    ScalarFunction,
    Value,
    caster,
    numpy_dtype,
    plain,
    rounded,
)


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
