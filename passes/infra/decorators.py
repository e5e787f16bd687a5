"""`@module_pass`, `@function_pass` and `@kernel_pass`: passes written as functions or classes.

    @function_pass(opt_level=1)
    class CustomPipeline:
        def __init__(self, multiplier):
            self.multiplier = multiplier

        def transform_function(self, func, mod, ctx):
            return func

    CustomPipeline(multiplier=relay.const(3.0))(module)

A decorated function `f(mod, ctx)` or `f(func, mod, ctx)` is a pass; a decorated class with `transform_module` or
`transform_function` becomes a class of passes, whose constructor takes what the class takes. Either works on a copy of
the module, so it may rewrite in place; it must return the module or function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.passes.infra.named_passes import register_pass
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassArgumentError, PassInfo, PassTypeError, check_level, check_names
from xrelay.passes.infra.passes import FunctionPass, KernelPass, ModulePass, Pass

ModuleFunction: TypeAlias = Callable[[ModuleOp, PassContext], ModuleOp]
FuncFunction: TypeAlias = Callable[[FuncOp, ModuleOp, PassContext], FuncOp]
PassClass: TypeAlias = Callable[..., Pass]


class _ModuleFunctionPass(ModulePass):
    """A module pass that a function is."""

    def __init__(self, info: PassInfo, function: ModuleFunction, instance: object = None):
        super().__init__(info)
        self._function, self._instance = function, instance

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Call the function."""
        return self._function(mod, ctx)

    def __getattr__(self, name: str) -> Any:
        return _attribute_of(self, name)


class _FuncFunctionPass(FunctionPass):
    """A function pass that a function is."""

    def __init__(self, info: PassInfo, function: FuncFunction, instance: object = None):
        super().__init__(info)
        self._function, self._instance = function, instance

    def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        """Call the function."""
        return self._function(func, mod, ctx)

    def __getattr__(self, name: str) -> Any:
        return _attribute_of(self, name)


class _KernelFunctionPass(KernelPass):
    """A kernel pass that a function is."""

    def __init__(self, info: PassInfo, function: FuncFunction, instance: object = None):
        super().__init__(info)
        self._function, self._instance = function, instance

    def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        """Call the function."""
        return self._function(func, mod, ctx)

    def __getattr__(self, name: str) -> Any:
        return _attribute_of(self, name)


def _attribute_of(current: Pass, name: str) -> Any:
    """An attribute of the instance of the decorated class, which the pass stands for."""
    instance = current.__dict__.get("_instance")
    if instance is None or name.startswith("__"):
        raise AttributeError(f"{type(current).__name__} has no attribute {name!r}")
    return getattr(instance, name)


class PassDecorator:
    """Turns a function into a pass, or a class into a class of passes."""

    def __init__(self, kind: str, made: Callable[..., Pass], info: tuple[int, str | None, tuple[str, ...]]):
        self._kind, self._made = kind, made
        self._level, self._name, self._required = info

    def __call__(self, item: Callable[..., object]) -> Any:
        """The pass that the function `item` is, or the class of passes of a class: no type tells which.

        Raises `PassTypeError` for what cannot be called, and for a class without the method.
        """
        if not callable(item):
            raise PassTypeError(f"pass_func must be a callable for {self._kind} pass, found {item!r}")
        name = self._name if self._name is not None else getattr(item, "__name__", type(item).__name__)
        info = PassInfo(self._level, name, self._required)
        if inspect.isclass(item):
            return self._of_class(item, info)
        made = self._made(info, item)
        register_pass(name, lambda: made)
        return made

    def _of_class(self, item: type[object], info: PassInfo) -> PassClass:
        method = "transform_module" if self._kind == "module" else "transform_function"
        if not callable(getattr(item, method, None)):
            raise PassTypeError(f"class {item.__name__} has no method {method}", help=f"a {self._kind} pass needs one")

        def make(*arguments: object, **named: object) -> Pass:
            instance = item(*arguments, **named)
            return self._made(info, getattr(instance, method), instance)

        make.__name__, make.__qualname__, make.__doc__ = item.__name__, item.__qualname__, item.__doc__
        register_pass(info.name, make)
        return make


def _decorator(
    kind: str, made: Callable[..., Pass], pass_func: object, opt_level: object, name: object, required: object
) -> Any:
    if opt_level is None:
        raise PassArgumentError(f"Please provide opt_level for the {kind} pass.")
    if isinstance(required, set | frozenset):
        raise PassTypeError("Required is expected to be the type of list/tuple, found set")
    if name is not None and not isinstance(name, str):
        raise PassTypeError(f"the name of a {kind} pass must be a string, found {name!r}")
    info = (check_level(opt_level, f"{kind} pass"), name, check_names(required, "Required"))
    decorator = PassDecorator(kind, made, info)
    return decorator if pass_func is None else decorator(cast("Callable[..., object]", pass_func))


def module_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: object = None,
) -> Any:
    """Make a module pass of `f(mod, ctx) -> mod`, or of a class with `transform_module(mod, ctx)`.

    `opt_level` must be given (`PassArgumentError`); `required` is a list or tuple of names (`PassTypeError`); `name` is
    the function's or class's unless given. Works as a decorator and called with the function.
    """
    return _decorator("module", _ModuleFunctionPass, pass_func, opt_level, name, required)


def function_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: object = None,
) -> Any:
    """Make a function pass of `f(func, mod, ctx) -> func`, or of a class with `transform_function(func, mod, ctx)`.

    It runs on every function of the graph. Arguments and errors as for `module_pass`.
    """
    return _decorator("function", _FuncFunctionPass, pass_func, opt_level, name, required)


def kernel_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: object = None,
) -> Any:
    """Make a pass on kernels (topi and loop level) of `f(func, mod, ctx) -> func`, or of a class as `function_pass`.

    Relay's users know it as `prim_func_pass`. Arguments and errors as for `module_pass`.
    """
    return _decorator("kernel", _KernelFunctionPass, pass_func, opt_level, name, required)
