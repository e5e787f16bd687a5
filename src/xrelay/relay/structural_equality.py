"""Whether two programs are the same but for the names of variables: `structural_equal` and its kin."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xrelay.passes.patterns.same_program import same_program
from xrelay.relay.analysis import free_vars
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule
from xrelay.relay.nodes import GlobalVar


def structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> bool:
    """Whether two expressions, functions, modules or types are the same but for the names of variables.

    Operators, attributes, constants, attributes of functions and the types of parameters count; types that inference
    finds do not, nor whether an expression is shared or written twice. Free variables are equal where they are the
    same, with `map_free_vars` in the order in which they are met. The functions of modules go by name.
    """
    if isinstance(lhs, ModuleOp) and isinstance(rhs, ModuleOp):
        return _same_modules(IRModule.of(lhs), IRModule.of(rhs))
    if isinstance(lhs, GlobalVar) or isinstance(rhs, GlobalVar):
        return isinstance(lhs, GlobalVar) and isinstance(rhs, GlobalVar) and lhs.name_hint == rhs.name_hint
    if not isinstance(lhs, Expr) or not isinstance(rhs, Expr):
        return lhs == rhs
    free = _paired(free_vars(lhs), free_vars(rhs)) if map_free_vars else {}
    if free is None:
        return False
    if isinstance(lhs, Function) and isinstance(rhs, Function):
        return _same_functions(lhs, rhs, free)
    return isinstance(lhs, Function) == isinstance(rhs, Function) and same_program(lhs.ssa_value, rhs.ssa_value, free)


def assert_structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> None:
    """Raise `ValueError`, which shows both, where `structural_equal` says no."""
    if not structural_equal(lhs, rhs, map_free_vars):
        raise ValueError(f"the programs differ:\n{lhs}\n{rhs}")


def _same_modules(lhs: IRModule, rhs: IRModule) -> bool:
    names = [{var.name_hint for var in module.get_global_vars()} for module in (lhs, rhs)]
    return names[0] == names[1] and all(structural_equal(lhs[name], rhs[name]) for name in names[0])


def _same_functions(lhs: Function, rhs: Function, free: dict[SSAValue, SSAValue]) -> bool:
    params = _paired(lhs.params, rhs.params)
    if params is None or lhs.attrs != rhs.attrs:
        return False
    if lhs.itself is not None and rhs.itself is not None:
        params[lhs.itself.ssa_value] = rhs.itself.ssa_value
    return same_program(lhs.body.ssa_value, rhs.body.ssa_value, {**free, **params})


def _paired(lhs: Sequence[Expr], rhs: Sequence[Expr]) -> dict[SSAValue, SSAValue] | None:
    """Variables by those in the same place; `None` where their types or numbers differ."""
    if [var.type for var in lhs] != [var.type for var in rhs]:
        return None
    return {one.ssa_value: other.ssa_value for one, other in zip(lhs, rhs, strict=True)}
