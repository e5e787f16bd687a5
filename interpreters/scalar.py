"""Meaning of the scalar ops (`arith`, `math`) on numpy values, shared by the interpreters of topi and loop.

`compile_scalar(op)` gives a function of the op's operand values that returns the op's result. It works on numpy
scalars and, elementwise, on arrays; values have the numpy dtype of their type (`numpy_dtype`; `index` is int64), so
that results round as in compiled code. Attributes and types are looked at once, when compiling.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay import dtypes
from xrelay.errors import InterpreterError, TypeInferenceError

Value: TypeAlias = Any
"""A numpy scalar, a numpy array of lanes, or (for `index`) a Python int. numpy's own types cannot say this."""

ScalarFunction: TypeAlias = Callable[..., Value]
"""From operand values to the value of the single result."""

ScalarCompiler: TypeAlias = Callable[[Operation], ScalarFunction]
"""From an op, looked at once, to its function."""


def numpy_dtype(element_type: Attribute) -> np.dtype[Any]:
    """The numpy dtype that holds values of `element_type`; `InterpreterError` where there is none."""
    if isinstance(element_type, IndexType):
        return np.dtype(np.int64)
    try:
        return dtypes.numpy_dtype(element_type)
    except TypeInferenceError as error:
        raise InterpreterError(error.message, help=error.help) from error


@cache
def scalar_compilers() -> dict[str, ScalarCompiler]:
    """Every op that `compile_scalar` knows, by name."""
    from xrelay.interpreters.arith import ARITH
    from xrelay.interpreters.math import MATH

    return {**ARITH, **MATH}


def is_scalar_op(op: Operation) -> bool:
    """Whether `compile_scalar` knows the op."""
    return op.name in scalar_compilers()


def compile_scalar(op: Operation) -> ScalarFunction:
    """The function that computes `op`; `InterpreterError` for an op that is not a known scalar op."""
    compiler = scalar_compilers().get(op.name)
    if compiler is None:
        raise InterpreterError(
            f"'{op.name}' has no meaning as a scalar op", help="arith and math ops with one result are known"
        )
    return compiler(op)


def plain(function: ScalarFunction) -> ScalarCompiler:
    """The compiler of an op whose meaning needs neither attributes nor types."""

    def compiler(op: Operation) -> ScalarFunction:
        return function

    return compiler


def rounded(function: ScalarFunction) -> ScalarCompiler:
    """The compiler of an op whose result is computed by numpy and cast to the result's type."""

    def compiler(op: Operation) -> ScalarFunction:
        cast = caster(numpy_dtype(op.results[0].type))

        def function_and_cast(*values: Value) -> Value:
            return cast(function(*values))

        return function_and_cast

    return compiler


def caster(dtype: np.dtype[Any]) -> Callable[[Value], Value]:
    """A cast of scalars and arrays to `dtype`, wrapping integers and rounding floats as numpy does."""

    def cast(value: Value) -> Value:
        return np.asarray(value).astype(dtype)[()]

    return cast
