"""`relay.transform`: the names of `xrelay.transform`, with a `function_pass` for functions on `relay.Function`.

    @relay.transform.function_pass(opt_level=1)
    class CustomPipeline:
        def __init__(self, multiplier):
            self.multiplier = multiplier

        def transform_function(self, func, mod, ctx):
            return relay.Function(func.params, relay.multiply(self.multiplier, func.body))

`xrelay.transform.function_pass` instead passes the `func.func` of xDSL, which a pass rewrites in place.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.passes.infra.pass_context import PassContext
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule
from xrelay.relay.pass_api.decorators import UsersFunctionPass
from xrelay.relay.pass_api.decorators import function_pass as xdsl_function_pass


class RelayFunctionPass(UsersFunctionPass):
    """A pass from a callable that takes a `relay.Function`, the `IRModule` and the context, and returns a function."""

    def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        """Calls the callable. The caller checks its result."""
        return self.call(Function.of_func(func), mod if isinstance(mod, IRModule) else IRModule.of(mod), ctx)


function_pass = replace(xdsl_function_pass, made=RelayFunctionPass)
"""Makes a function pass of `f(func, mod, ctx) -> func`, or of a class with `transform_function(func, mod, ctx)`.

`func` is a `relay.Function`, and so may be the result. The pass runs on each function of the graph. Arguments and
errors are those of `xrelay.transform.module_pass`.
"""


def _all() -> Any:
    """Returns `xrelay.transform`, which imports this package."""
    return import_module("xrelay.transform")


def __getattr__(name: str) -> Any:
    """Returns the attribute of `xrelay.transform`."""
    return getattr(_all(), name)


def __dir__() -> list[str]:
    return dir(_all())
