"""Transposes weights of dense layers in advance, if the program transposes them."""

from __future__ import annotations

from xrelay.relay.data_dep_optimization.weights import Params, array_of, module_of, rewritten, without
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.passes.sparse.simplify_fc_transpose import simplify_transposes, transposed_parameters
from xrelay.relay.passes.sparse.sparse_weights import free_functions


def search_fc_transpose(expr: Expr) -> list[str]:
    """Returns the names of the parameters whose transposes are weights of dense layers, in program order."""
    return [name for function in free_functions(module_of(expr)) for name in transposed_parameters(function)]


def convert(func: Expr, params: Params) -> tuple[Function, Params]:
    """Returns the function with `nn.dense(x, transpose(w))` as `nn.dense(x, w.T)`, and `params` with `w.T` for `w`.

    `params` is changed in place, as in Relay. Raises `InputError` if it lacks one of the arrays.
    """
    names = search_fc_transpose(func)
    transposed = {name: array_of(params, name).T.copy() for name in names}
    new = rewritten(func, lambda module: simplify_transposes(module, names))
    params.update({f"{name}.T": array for name, array in transposed.items()})
    return new, without(params, names, new)
