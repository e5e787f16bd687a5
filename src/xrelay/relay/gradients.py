"""`transform.gradient`: the function that gives a function's result and the gradients of its parameters.

x = relay.var("x", shape=(4,))
function = relay.transform.gradient(relay.Function([x], relay.exp(x)))   # x → (exp(x), (exp(x),))
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.errors import InputError, did_you_mean
from xrelay.passes.gradient.differentiate import differentiate
from xrelay.passes.relay.inline import inline_calls
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule
from xrelay.relay.nodes import GlobalVar

FIRST_ORDER, HIGHER_ORDER = MODES = ("first_order", "higher_order")
"""Relay's two ways. Programs have no references here, so they differ in what is differentiated of a tuple alone."""


def gradient(expr: Function | GlobalVar, mod: ModuleOp | None = None, mode: str = HIGHER_ORDER) -> Function:
    """The function x ↦ (f(x), (df/dx, …)) of a function f, given itself or as a global variable of `mod`.

    df/dx is the gradient of the sum of all elements of the result, and has the type of the parameter. Where f gives a
    tuple, "first_order" takes all tensors in it, and "higher_order", as Relay does, the first alone: the others may be
    there for information. Functions of `mod` that f calls are inlined, and closures. `InputError` for what is no
    function and for another mode; `PassError` where f cannot be differentiated, with the operator.
    """
    if mode not in MODES:
        raise InputError(f"there is no mode {mode!r}", help=did_you_mean(mode, MODES, f"modes are {', '.join(MODES)}"))
    module = IRModule() if mod is None else IRModule.of(mod)
    name = _name_in(module, expr)
    infer_types(module)
    inline_calls(module)
    function = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    differentiate(function, first_alone=mode == HIGHER_ORDER)
    return module[name]


def _name_in(module: IRModule, expr: object) -> str:
    """The name under which the function, or a copy of the one that a global variable means, was added to `module`."""
    if not isinstance(expr, Function | GlobalVar):
        raise InputError(f"gradient takes a function, found {expr!r}", help="give a relay.Function or relay.GlobalVar")
    name = "gradient"
    while name in module:
        name += "_"
    module[name] = expr if isinstance(expr, Function) else module[expr]
    return name
