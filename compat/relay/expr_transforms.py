"""Passes on one expression: `FoldConstantExpr`, `ToANormalFormExpr`."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.relay.binding import bind
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule
from xrelay.relay.nodes import GlobalVar, free_vars
from xrelay.relay.pass_api.named_passes import create_pass


def fold_constant_expr(expr: Expr, mod: IRModule, fold_qnn: bool = False) -> Expr:
    """Returns `expr` with constant subexpressions folded, as `FoldConstant` does in a module.

    `mod` contains the functions that it calls. With `fold_qnn`, operators on quantised numbers are folded too. Raises
    `TypeInferenceError` if the types of variables do not determine all others.
    """
    return _transformed(expr, "FoldConstant{fold_qnn=true}" if fold_qnn else "FoldConstant", mod)


def to_a_normal_form_expr(e: Expr) -> Expr:
    """Returns `e` with each intermediate value bound by a let, as `ToANormalForm` does in a module.

    Raises `TypeInferenceError` if the types of variables do not determine all others.
    """
    return _transformed(e, "ToANormalForm", IRModule({}))


def _transformed(expr: Expr, pass_text: str, mod: IRModule) -> Expr:
    """Applies the pass to a function of the free variables of `expr` in a copy of `mod`; returns the expression."""
    variables = [] if isinstance(expr, Function) else free_vars(expr)
    others: dict[GlobalVar | str, Function | FuncOp] = {**mod.functions}
    name = fresh_name("expr", {variable.name_hint for variable in mod.functions})
    made = create_pass(pass_text)(IRModule.from_expr(_function(expr), others, name=name))
    function = IRModule.of(made)[name]
    if isinstance(expr, Function):
        return function
    return bind(function.body, dict(zip(function.params, variables, strict=True)))


def _function(expr: Expr) -> Function:
    return expr if isinstance(expr, Function) else Function(free_vars(expr), expr)
