"""`transform.gradient`: the function that returns a function's result and the gradients of its parameters.

x = relay.var("x", shape=(4,))
function = relay.transform.gradient(relay.Function([x], relay.exp(x)))   # x → (exp(x), (exp(x),))
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.errors import InputError, did_you_mean
from xrelay.passes.functions.inline import inline_calls
from xrelay.passes.gradient.first_order_gradient import differentiate
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule
from xrelay.relay.nodes import GlobalVar

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
    name = _name_in(module, expr)
    infer_types(module)
    inline_calls(module)
    function = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    differentiate(function, first_alone=mode == HIGHER_ORDER)
    return module[name]


def _name_in(module: IRModule, expr: object) -> str:
    """Adds the function, or a copy of the function of a global variable, to `module`; returns its name."""
    if not isinstance(expr, Function | GlobalVar):
        raise InputError(f"gradient takes a function, found {expr!r}", help="pass a relay.Function or relay.GlobalVar")
    name = "gradient"
    while name in module:
        name += "_"
    module[name] = expr if isinstance(expr, Function) else module[expr]
    return name
