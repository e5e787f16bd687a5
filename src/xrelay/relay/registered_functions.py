"""`xrelay.register_func`: what compilers from outside do, by the names that Relay's users know.

    @xrelay.register_func("relay.ext.mine.optimize")
    def optimize(mod):
        return transform.FoldConstant()(mod)

`relay.ext.NAME.optimize` gets each function that `transform.PartitionGraph` makes for the compiler `NAME`, as @main of
a module of its own, and gives the module back. No other name has a meaning here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import InputError
from xrelay.passes.byoc.function_optimizers import forget_optimizer, optimizes, registered_optimizer
from xrelay.relay.module import IRModule

Optimizer: TypeAlias = Callable[[IRModule], ModuleOp]
OptimizerT = TypeVar("OptimizerT", bound=Optimizer)

_OPTIMIZE = re.compile(r"relay\.ext\.(.+)\.optimize")
_GIVEN: dict[str, Optimizer] = {}


def register_func(
    func_name: str, f: Optimizer | None = None, override: bool = False
) -> Callable[[OptimizerT], OptimizerT]:
    """Decorator, or called with the function: it is the one that is called `func_name`.

    `InputError` for a name that means nothing here, for what cannot be called, and, unless it is to `override` that
    one, where the name has a function.
    """
    compiler = _compiler(func_name)

    def decorate(function: OptimizerT) -> OptimizerT:
        _register(func_name, compiler, function, override)
        return function

    if f is not None:
        _register(func_name, compiler, f, override)
    return decorate


def _register(name: str, compiler: str, function: Optimizer, override: bool) -> None:
    if not callable(function):
        raise InputError(f"{function!r} cannot be called", help="give a function of a module")
    if registered_optimizer(compiler) is not None and not override:
        raise InputError(f"{name!r} is registered already", help="give override=True to replace it")

    def hook(module: ModuleOp) -> object:
        return function(IRModule.of(module))

    hook.__module__ = function.__module__
    optimizes(compiler)(hook)
    _GIVEN[name] = function


def get_global_func(name: str, allow_missing: bool = False) -> Optimizer | None:
    """The function that was registered by a name; None, or `InputError` unless `allow_missing`, for none."""
    found = _GIVEN.get(name)
    if found is None and not allow_missing:
        raise InputError(f"no function is registered by the name {name!r}", help="xrelay.register_func registers one")
    return found


def remove_global_func(name: str) -> None:
    """Take back what was registered by a name, if anything was."""
    forget_optimizer(_compiler(name))
    _GIVEN.pop(name, None)


def _compiler(name: str) -> str:
    """The compiler of which `name` is the optimizer."""
    found = _OPTIMIZE.fullmatch(name)
    if found is None:
        help = "relay.ext.NAME.optimize does; functions for code generators are those of the module with Compiler"
        raise InputError(f"the function {name!r} has no meaning here", help=help)
    return found[1]
