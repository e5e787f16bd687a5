"""Types and rounding shared by the semantics of all scalar ops.

Values have the numpy dtype of their type (`numpy_dtype`; `index` is int64), so results are rounded as in compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Operation

from xrelay.dialects.shared import dtypes
from xrelay.dialects.shared.numerics.rounding import cast_once
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
