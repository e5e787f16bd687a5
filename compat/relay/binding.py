"""`relay.bind` and `bind_params_by_name`: substitute values for variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from xrelay.api.arrays import arrays_by_name
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.errors import InputError, with_article
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, const, view
from xrelay.relay.function import Function
from xrelay.relay.nodes import free_vars
from xrelay.relay.visitor import ExprMutator


@overload
def bind(expr: Function, binds: Mapping[Var, ExprLike]) -> Function: ...


@overload
def bind(expr: Expr, binds: Mapping[Var, ExprLike]) -> Expr: ...


def bind(expr: Expr, binds: Mapping[Var, ExprLike]) -> Expr:
    """Returns `expr` with variables replaced by values. Types that depend on them have to be inferred again.

    A function loses the bound parameters. Free variables of the values that were not free in the function become its
    last parameters. Raises `InputError` if a key is not a variable.
    """
    others = [key for key in cast("Mapping[object, ExprLike]", binds) if not isinstance(key, Var)]
    if others:
        raise InputError(f"{with_article(type(others[0]).__name__)} cannot be bound", help="pass variables")
    values = {variable: view(as_value(value)) for variable, value in binds.items()}
    if not isinstance(expr, Function):
        return _Bound(values).visit(expr)
    kept = [param for param in expr.params if param not in values]
    bound = expr.with_parts(kept, _Bound(values).visit(expr.body))
    before = set(free_vars(expr))
    return bound.with_parts([*kept, *(var for var in free_vars(bound) if var not in before)], bound.body)


def bind_params_by_name(func: Function, params: Mapping[str, object]) -> Function:
    """Returns the function with the parameters of these names replaced by constants. Unknown names are ignored.

    Python numbers, lists of numbers, and floats of another dtype are converted to the dtype of the parameter. Raises
    `InputError` if two parameters have one of the names, or if a value is not an array of numbers or does not fit.
    """
    arrays = arrays_by_name(params)
    names = Counter(param.name for param in func.params)
    for name in arrays:
        if names[name] > 1:
            raise InputError(f"{names[name]} parameters are called {name!r}", help="bind the variables with relay.bind")
    found = [param for param in func.params if param.name in arrays]
    return bind(func, {param: _constant(param, params[param.name], arrays[param.name]) for param in found})


def _constant(param: Var, given: object, array: NDArray[Any]) -> Expr:
    """Returns the array as a constant, in the parameter's dtype if `given` is a Python number or list."""
    if not isinstance(given, int | float | list | tuple):
        return const(as_parameter(array, param.type))
    if not isinstance(param.type, TensorType):
        return const(array.tolist())
    dtype = numpy_dtype(param.type.element_type)
    found = array.astype(dtype)
    if dtype.kind in "iub" and not np.array_equal(found, array):
        raise InputError(f"parameter {param.name!r} is {param.type}, its value {given!r}", help="pass integers")
    return const(found)


def as_parameter(array: NDArray[Any], type: Attribute) -> NDArray[Any]:
    """Returns the array for a parameter of a type. Floats are converted to the parameter's float dtype."""
    dtype = numpy_dtype(type.element_type) if isinstance(type, TensorType) else None
    are_floats = dtype is not None and dtype.kind == array.dtype.kind == "f"
    return array.astype(dtype) if are_floats and dtype != array.dtype else array


class _Bound(ExprMutator):
    def __init__(self, values: Mapping[Var, Expr]):
        super().__init__()
        self._values = values

    def visit_var(self, var: Var) -> Any:
        return self._values.get(var, var)
