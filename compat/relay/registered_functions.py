"""`xrelay.register_func`: registers functions for external compilers under Relay's names.

    @xrelay.register_func("relay.ext.mine.optimize")
    def optimize(mod):
        return transform.FoldConstant()(mod)

`relay.ext.NAME.optimize` receives each function that `transform.PartitionGraph` creates for the compiler `NAME`, as
@main of a module, and returns the module. No other names are supported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import InputError
from xrelay.relay.byoc.hooks import forget_optimizer, optimizes, registered_optimizer
from xrelay.relay.module import IRModule

Optimizer: TypeAlias = Callable[[IRModule], ModuleOp]
OptimizerT = TypeVar("OptimizerT", bound=Optimizer)

_OPTIMIZE = re.compile(r"relay\.ext\.(.+)\.optimize")
_REGISTERED: dict[str, Optimizer] = {}


def register_func(
    func_name: str, f: Optimizer | None = None, override: bool = False
) -> Callable[[OptimizerT], OptimizerT]:
    """Registers a function under `func_name`. May be used as a decorator.

    Raises `InputError` for an unsupported name, for an object that is not callable, and for a name that is registered
    already, unless `override` is set.
    """
    compiler = _compiler(func_name)

    def register(function: OptimizerT) -> OptimizerT:
        if not callable(function):
            raise InputError(f"{function!r} cannot be called", help="pass a function of a module")
        if registered_optimizer(compiler) is not None and not override:
            raise InputError(f"{func_name!r} is registered already", help="pass override=True to replace it")

        def hook(module: ModuleOp) -> object:
            return function(IRModule.of(module))

        hook.__module__ = function.__module__
        optimizes(compiler)(hook)
        _REGISTERED[func_name] = function
        return function

    if f is not None:
        register(cast("OptimizerT", f))
    return register


def get_global_func(name: str, allow_missing: bool = False) -> Optimizer | None:
    """Returns the function registered under a name. If it is missing, returns None or raises `InputError`."""
    found = _REGISTERED.get(name)
    if found is None and not allow_missing:
        raise InputError(
            f"no function is registered under the name {name!r}", help="register one with xrelay.register_func"
        )
    return found


def remove_global_func(name: str) -> None:
    """Removes the function registered under a name, if there is one."""
    forget_optimizer(_compiler(name))
    _REGISTERED.pop(name, None)


def _compiler(name: str) -> str:
    """Returns the compiler in the name of an optimizer. Raises `InputError` for other names."""
    found = _OPTIMIZE.fullmatch(name)
    if found is None:
        help = "use relay.ext.NAME.optimize; code generators take the functions with the attribute Compiler"
        raise InputError(f"functions of the name {name!r} are not supported", help=help)
    return found[1]
