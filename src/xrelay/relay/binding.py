"""`relay.bind` and `bind_params_by_name`: values in the place of variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast, overload

from numpy.typing import ArrayLike, NDArray

from xrelay.errors import InputError, with_article
from xrelay.relay.analysis import free_vars
from xrelay.relay.arrays import arrays_by_name
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, const, view
from xrelay.relay.function import Function
from xrelay.relay.visitor import ExprMutator


@overload
def bind(expr: Function, binds: Mapping[Var, ExprLike]) -> Function: ...


@overload
def bind(expr: Expr, binds: Mapping[Var, ExprLike]) -> Expr: ...


def bind(expr: Expr, binds: Mapping[Var, ExprLike]) -> Expr:
    """`expr` with values in the place of variables; types that follow from them are to be inferred anew.

    A function loses the parameters that are bound; variables that the values use and that were free nowhere before are
    its last parameters. `InputError` for a key that is no variable.
    """
    others = [key for key in cast("Mapping[object, ExprLike]", binds) if not isinstance(key, Var)]
    if others:
        raise InputError(f"{with_article(type(others[0]).__name__)} cannot be bound", help="give variables")
    values = {variable: view(as_value(value)) for variable, value in binds.items()}
    if not isinstance(expr, Function):
        return _Bound(values).visit(expr)
    kept = [param for param in expr.params if param not in values]
    bound = expr.with_parts(kept, _Bound(values).visit(expr.body))
    before = set(free_vars(expr))
    return bound.with_parts([*kept, *(var for var in free_vars(bound) if var not in before)], bound.body)


def bind_params_by_name(func: Function, params: Mapping[str, object]) -> Function:
    """The function with constants in the place of the parameters of these names; other names say nothing.

    Numbers of Python's, and lists of them, have 32 bits as in `relay.const`; an array keeps its type.

    `InputError` where two parameters have one of the names, or a value is no array of numbers.
    """
    arrays = arrays_by_name(params)
    names = Counter(param.name for param in func.params)
    for name in arrays:
        if names[name] > 1:
            raise InputError(f"{names[name]} parameters are called {name!r}", help="bind the variables with relay.bind")
    found = [param for param in func.params if param.name in arrays]
    return bind(func, {param: const(_plain(params[param.name], arrays[param.name])) for param in found})


def _plain(value: object, array: NDArray[Any]) -> ArrayLike:
    """What is no array yet as it was given; else the array."""
    return cast("ArrayLike", value) if isinstance(value, int | float | list | tuple) else array


class _Bound(ExprMutator):
    def __init__(self, values: Mapping[Var, Expr]):
        super().__init__()
        self._values = values

    def visit_var(self, var: Var) -> Any:
        return self._values.get(var, var)
