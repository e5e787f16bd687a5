"""Types and rounding that the meanings of all scalar ops share.

Values have the numpy dtype of their type (`numpy_dtype`; `index` is int64), so that results round as in compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Operation

from xrelay.dialects.shared import dtypes
from xrelay.errors import InterpreterError, TypeInferenceError
from xrelay.interpreters.rounding import cast_once

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


def signless_view(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory as scalars see it: arrays of unsigned numbers as signed ones of the same bits."""
    return array.view(f"int{8 * array.itemsize}") if array.dtype.kind == "u" else array


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
    kind = dtype.type

    def cast(value: Value) -> Value:
        if type(value) is kind:
            return value
        return cast_once(np.asarray(value), dtype)[()]

    return cast
