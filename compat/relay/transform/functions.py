"""Functions from functions: `gradient`, `to_cps`, `un_cps` and `Defunctionalization`.

x = relay.var("x", shape=(4,))
function = relay.transform.gradient(relay.Function([x], relay.exp(x)))   # x → (exp(x), (exp(x),))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xrelay.errors import InputError, PassError, did_you_mean
from xrelay.passes.functions.inline import inline_calls
from xrelay.passes.functions.lift_closures import lift_closures
from xrelay.passes.gradient.first_order_gradient import differentiate
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import has_incomplete_types
from xrelay.relay.copies import insert_after
from xrelay.relay.expr import Expr, view
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule, add_function
from xrelay.relay.nodes import GlobalVar
from xrelay.relay.passes.to_cps import to_cps as functions_to_cps
from xrelay.relay.passes.un_cps import un_cps as function_from_cps

OpT = TypeVar("OpT", bound=Operation)

FIRST_ORDER, HIGHER_ORDER = MODES = ("first_order", "higher_order")
"""Relay's two modes. Without references in programs, they differ only for a function that returns a tuple."""


def gradient(expr: Function | GlobalVar, mod: ModuleOp | None = None, mode: str = HIGHER_ORDER) -> Function:
    """Returns the function x ↦ (f(x), (df/dx, …)) of f, a function or a global variable of `mod`.

    df/dx is the gradient of the sum of all elements of the result, and has the type of the parameter. If f returns a
    tuple, "first_order" sums over all its tensors, and "higher_order", as in Relay, over the first only: the others may
    be auxiliary. Closures and functions of `mod` that f calls are inlined. Raises `InputError` for anything other than
    a function and for an unknown mode, and `PassError` with the operator if f is not differentiable.
    """
    if mode not in MODES:
        raise InputError(f"there is no mode {mode!r}", help=did_you_mean(mode, MODES, f"modes are {', '.join(MODES)}"))
    module = IRModule() if mod is None else IRModule.of(mod)
    if not isinstance(cast("object", expr), Function | GlobalVar):
        raise InputError(f"gradient takes a function, found {expr!r}", help="pass a relay.Function or relay.GlobalVar")
    name = add_function(module, module[expr] if isinstance(expr, GlobalVar) else expr, "gradient")
    infer_types(module)
    inline_calls(module)
    differentiate(functions_of(module)[name], first_alone=mode == HIGHER_ORDER)
    return module[name]


def to_cps(func: Function, mod: IRModule | None = None) -> Function:
    """Returns `func` in continuation-passing style: its last parameter is the continuation, whose result it returns.

    Each function `f` of `mod` that it calls, directly or indirectly, is added to `mod` in this style as `f_cps`, and
    the call is redirected to it. Raises `PassError` if `relay-to-cps` fails.
    """
    program = IRModule() if mod is None else IRModule.of(mod)
    name = _with(program, func)
    made = functions_to_cps(program, only=[name])
    if mod is not None:
        mod.update({new: functions_of(program)[new] for new in made})
    return program[name]


def un_cps(func: Function) -> Function:
    """Returns the direct-style function of `func`, which is in continuation-passing style.

    Raises `InputError` if its last parameter is not a continuation whose result `func` returns.
    """
    program = IRModule()
    name = _with(program, func)
    if not function_from_cps(functions_of(program)[name]):
        raise InputError(
            "the last parameter is not a continuation whose result the function returns",
            help="transform.to_cps converts functions to continuation-passing style",
        )
    return program[name]


def _with(program: IRModule, func: Function) -> str:
    """Adds `func` to `program` and infers its types; returns its name there."""
    name = add_function(program, func)
    if has_incomplete_types([program]):
        infer_types(program)
    return name


def defunctionalize(func: Function, mod: IRModule) -> Function:
    """Returns `func`, the entry of the program, without functions as values, to be stored in `mod` again.

    A closure becomes data (`!relay.closure`): the number of a function and the captured values. Functions of `mod` that
    `func` calls, directly or indirectly, take and return such data. The bodies of closures become functions of `mod`,
    and a call selects one by its number. Functions that `func` does not call are not changed.

    Raises `PassError` if `func` itself takes or returns functions, and if `relay-lift-closures` fails.
    """
    program = IRModule.of(mod)
    name = _with(program, func)
    functions = functions_of(program)
    _refuse(functions[name])
    for each, function in functions.items():
        function.sym_visibility = None if each == name else StringAttr("private")
    visibilities = {each: function.sym_visibility for each, function in functions_of(mod).items()}
    lift_closures(program, keep=True)
    for each, function in functions_of(program).items():
        if each != name:
            function.sym_visibility = visibilities.get(each, function.sym_visibility)
            mod.update_func(each, function)
    return program[name]


def _refuse(function: FuncOp) -> None:
    """Raises `PassError` if the entry function takes or returns functions."""
    type = function.function_type
    if any(isinstance(leaf, FunctionType) for leaf in leaf_types([*type.inputs, *type.outputs])):
        raise PassError(
            "Defunctionalization: the function takes or returns functions",
            help="pass the entry of the program, a function on tensors and tuples",
        )


def replace_each(func: FuncOp, kind: type[OpT], replacement: Callable[[Expr], Expr]) -> FuncOp:
    """Replaces the result of each op of class `kind` in `func` by `replacement(result)`, in place; returns `func`.

    The ops of the replacement are inserted after the op, whose result they may use. An expression that several
    replacements share, such as a constant, is copied for each of them.
    """
    for op in [op for op in func.walk() if isinstance(op, kind)]:
        old = op.results[0]
        uses = list(old.uses)
        new = insert_after(op, replacement(view(old)).ssa_value)
        for use in uses:
            use.operation.operands[use.index] = new
    return func
