"""Optimizers of external compilers, which `relay-partition-graph` applies to each function for such a compiler.

    @optimizes("ccompiler")
    def hook(module: ModuleOp) -> ModuleOp:
        return FoldConstant()(module)

The module contains the function as @main, without the attributes that protect it from passes. Relay's
`xrelay.register_func("relay.ext.ccompiler.optimize", hook)` is equivalent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.dialects.shared.attribute_names import COMPILER, COMPILER_INLINE, COMPILER_PRIMITIVE, GLOBAL_SYMBOL
from xrelay.errors import PassError, with_article
from xrelay.raised import also, raised
from xrelay.registrations import note_registration

OptimizeHook: TypeAlias = Callable[[ModuleOp], object]
"""`hook(module)` returns the module with an optimised @main."""

HookT = TypeVar("HookT", bound=OptimizeHook)

_HOOKS: dict[str, OptimizeHook] = {}


def optimizes(compiler: str) -> Callable[[HookT], HookT]:
    """Decorator that registers the optimizer of functions for `compiler`; it replaces an earlier one permanently."""

    def register(hook: HookT) -> HookT:
        _HOOKS[compiler] = hook
        note_registration(hook)
        return hook

    return register


def registered_optimizer(compiler: str) -> OptimizeHook | None:
    """Returns the optimizer of a compiler, or `None`."""
    return _HOOKS.get(compiler)


def forget_optimizer(compiler: str) -> None:
    """Remove the optimizer of a compiler."""
    _HOOKS.pop(compiler, None)


def optimized(function: FuncOp, compiler: str) -> FuncOp:
    """Returns the result of the optimizer of `compiler` for `function`, or `function` if there is no optimizer.

    `function` is in no module. Raises `PassError`, naming the compiler, if the hook raises, or does not return a module
    that contains only @main, with an unchanged type.
    """
    hook = registered_optimizer(compiler)
    if hook is None:
        return function
    main = function.clone()
    for name in (COMPILER, COMPILER_PRIMITIVE, COMPILER_INLINE, GLOBAL_SYMBOL):
        main.attributes.pop(name, None)
    main.sym_name, main.sym_visibility = StringAttr("main"), None
    try:
        made = hook(ModuleOp([main]))
    except Exception as error:
        raise also(PassError(f"relay-partition-graph: the optimizer of {compiler!r} {raised(error)}"), error) from error
    new = _main_of(made, function, compiler)
    new.detach()
    new.attributes.update(function.attributes)
    new.sym_name, new.sym_visibility = function.sym_name, function.sym_visibility
    new.arg_attrs, new.res_attrs = function.arg_attrs, function.res_attrs
    return new


def _main_of(made: object, function: FuncOp, compiler: str) -> FuncOp:
    if not isinstance(made, ModuleOp):
        raise _wrong(compiler, f"returns {with_article(type(made).__name__)}, not a module")
    functions = [op for op in made.ops if isinstance(op, FuncOp)]
    main = next((op for op in functions if op.sym_name.data == "main"), None)
    if main is None or len(functions) > 1:
        names = ", ".join(f"@{op.sym_name.data}" for op in functions)
        raise _wrong(compiler, f"returns the functions {names or 'of an empty module'} instead of only @main")
    if main.function_type != function.function_type:
        raise _wrong(compiler, f"changes the type {function.function_type} to {main.function_type}")
    return main


def _wrong(compiler: str, what: str) -> PassError:
    return PassError(
        f"relay-partition-graph: the optimizer of {compiler!r} {what}", help="return the module with another @main"
    )
