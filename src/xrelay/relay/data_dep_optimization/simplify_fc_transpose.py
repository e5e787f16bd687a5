"""Dense layers whose weights a program transposes: transposed once, as parameters."""

from __future__ import annotations

from xrelay.passes.graph.parameters import free_functions
from xrelay.passes.relay.simplify_fc_transpose import simplify_transposes, transposed_parameters
from xrelay.relay.data_dep_optimization.weights import Params, array_of, module_of, rewritten, without
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function


def search_fc_transpose(expr: Expr) -> list[str]:
    """The names of the parameters whose transposes are weights of dense layers, in program order."""
    return [name for function in free_functions(module_of(expr)) for name in transposed_parameters(function)]


def convert(func: Expr, params: Params) -> tuple[Function, Params]:
    """`nn.dense(x, transpose(w))` as `nn.dense(x, w.T)`, with the array `w.T` in the place of `w` in `params`.

    `params` itself is changed and given back, as by Relay. `InputError` where it lacks one of the arrays.
    """
    names = search_fc_transpose(func)
    transposed = {name: array_of(params, name).T.copy() for name in names}
    new = rewritten(func, lambda module: simplify_transposes(module, tuple(names)))
    params.update({f"{name}.T": array for name, array in transposed.items()})
    return new, without(params, names, new)
