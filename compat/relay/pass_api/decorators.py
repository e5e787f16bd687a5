"""`@module_pass`, `@function_pass` and `@kernel_pass` create passes from functions and classes.

    @function_pass(opt_level=1)
    class CustomPipeline:
        def __init__(self, multiplier):
            self.multiplier = multiplier

        def transform_function(self, func, mod, ctx):
            return func

    CustomPipeline(multiplier=relay.const(3.0))(module)

A decorated function `f(mod, ctx)` or `f(func, mod, ctx)` is a pass. A decorated class with `transform_module` or
`transform_function` becomes a class of passes with the same constructor arguments. Both work on a copy of the module,
so they may rewrite in place; they must return the module or function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassArgumentError, PassInfo, PassTypeError, check_level, check_names
from xrelay.relay.pass_api.named_passes import register_pass
from xrelay.relay.pass_api.passes import FunctionPass, KernelPass, ModulePass, Pass


class UsersPass(Pass):
    """A pass made from a function, or from the method of an object whose attributes are attributes of the pass."""

    def __init__(self, info: PassInfo, function: Callable[..., object], instance: object = None):
        super().__init__(info)
        self._function, self._instance = function, instance

    def __getattr__(self, name: str) -> Any:
        instance = self.__dict__.get("_instance")
        if instance is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(instance, name)


class _UsersModulePass(UsersPass, ModulePass):
    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Calls the function; the caller checks the result."""
        return cast(ModuleOp, self._function(mod, ctx))


class UsersFunctionPass(UsersPass, FunctionPass):
    """A pass from a function or method that takes a function of the module."""

    def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        """Calls the function; the caller checks the result."""
        return self.call(func, mod, ctx)

    def call(self, func: object, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        """Returns the result of the user's function, unchecked; `func` may have another representation."""
        return cast(FuncOp, self._function(func, mod, ctx))


class _UsersKernelPass(UsersFunctionPass, KernelPass):
    pass


@dataclass(frozen=True)
class Kind:
    """A decorator: the class of its passes, the method of decorated classes, the arguments of decorated functions."""

    name: str
    made: type[UsersPass]
    method: str
    arguments: tuple[str, ...]


_MODULE = Kind("module", _UsersModulePass, "transform_module", ("mod", "ctx"))
FUNCTION = Kind("function", UsersFunctionPass, "transform_function", ("func", "mod", "ctx"))
"""Passes on functions in xDSL's representation."""
_KERNEL = Kind("kernel", _UsersKernelPass, "transform_function", ("func", "mod", "ctx"))


class PassDecorator:
    """Turns a function into a pass, or a class into a class of passes."""

    def __init__(self, kind: Kind, opt_level: int, name: str | None, required: tuple[str, ...], *, traceable: bool):
        self._kind, self._level, self._name = kind, opt_level, name
        self._required, self._traceable = required, traceable

    def __call__(self, item: object) -> Any:
        """Returns a pass for a function `item`, or a class of passes for a class; the type is only known at run time.

        Raises `PassTypeError` for an object that is not callable, a class without the method, and a function or method
        that does not accept the arguments of its kind.
        """
        if not callable(item):
            raise PassTypeError(f"pass_func must be a callable for {self._kind.name} pass, found {item!r}")
        name = self._name if self._name is not None else getattr(item, "__name__", type(item).__name__)
        info = PassInfo(self._level, name, self._required, self._traceable)
        if inspect.isclass(item):
            return _class_of_passes(item, info, self._kind)
        _check_signature(item, self._kind, f"[{name}] the function")
        made = self._kind.made(info, item)
        register_pass(name, lambda: made)
        return made


def _class_of_passes(item: type[object], info: PassInfo, kind: Kind) -> type[UsersPass]:
    """Returns the class of passes whose instances each hold an instance of `item`."""
    if not callable(getattr(item, kind.method, None)):
        message = f"class {item.__name__} has no method {kind.method}"
        raise PassTypeError(message, help=f"a {kind.name} pass requires it")
    is_bound = isinstance(inspect.getattr_static(item, kind.method), staticmethod | classmethod)
    method: Callable[..., object] = getattr(item, kind.method)
    _check_signature(method, kind, f"[{info.name}] {kind.method}", bound=is_bound)

    def construct(self: UsersPass, *arguments: object, **named: object) -> None:
        _check_call(item, arguments, named, f"[{info.name}]")
        instance = item(*arguments, **named)
        kind.made.__init__(self, info, getattr(instance, kind.method), instance)

    namespace = {name: getattr(item, name) for name in ("__module__", "__qualname__", "__doc__")}
    made = cast("type[UsersPass]", type(item.__name__, (kind.made,), {**namespace, "__init__": construct}))
    register_pass(info.name, cast("Callable[[], Pass]", made))
    return made


def _check_signature(function: Callable[..., object], kind: Kind, what: str, *, bound: bool = True) -> None:
    """Raises `PassTypeError` if `function` cannot be called with the arguments of its kind."""
    arguments = kind.arguments if bound else ("self", *kind.arguments)
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return  # Builtin functions have no signature; a mismatch is an error of the call.
    try:
        signature.bind(*arguments)
    except TypeError:
        takes, called = ", ".join(signature.parameters), ", ".join(kind.arguments)
        raise PassTypeError(f"{what} takes ({takes}), but a {kind.name} pass is called with ({called})") from None


def _check_call(item: type[object], arguments: tuple[object, ...], named: dict[str, object], what: str) -> None:
    """Raises `PassTypeError` if the constructor of `item` does not accept these arguments."""
    try:
        signature = inspect.signature(item)
    except (ValueError, TypeError):
        return
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        raise PassTypeError(f"{what} {error}", help=f"{item.__name__} takes {signature}") from None


def decorated(
    kind: Kind, pass_func: object, opt_level: object, name: object, required: object, *, traceable: bool
) -> Any:
    """Returns the pass or class of passes that a decorator of `kind` creates; without `pass_func`, the decorator."""
    if opt_level is None:
        raise PassArgumentError(f"Please provide opt_level for the {kind.name} pass.")
    if isinstance(required, set | frozenset):
        raise PassTypeError("Required is expected to be the type of list/tuple, found set")
    if name is not None and not isinstance(name, str):
        raise PassTypeError(f"the name of a {kind.name} pass must be a string, found {name!r}")
    level = check_level(opt_level, f"{kind.name} pass")
    decorator = PassDecorator(kind, level, name, check_names(required, "Required"), traceable=traceable)
    return decorator if pass_func is None else decorator(pass_func)


def module_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: object = None,
    traceable: bool = False,
) -> Any:
    """Creates a module pass from `f(mod, ctx) -> mod`, or from a class with `transform_module(mod, ctx)`.

    `opt_level` is mandatory (`PassArgumentError`); `required` is a list or tuple of names (`PassTypeError`); `name`
    defaults to that of the function or class. Works as a decorator, and as a call with the function.
    """
    return decorated(_MODULE, pass_func, opt_level, name, required, traceable=traceable)


def function_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: object = None,
    traceable: bool = False,
) -> Any:
    """Creates a function pass from `f(func, mod, ctx) -> func` or a class with `transform_function(func, mod, ctx)`.

    It runs on every function of the graph. Arguments and errors as for `module_pass`.
    """
    return decorated(FUNCTION, pass_func, opt_level, name, required, traceable=traceable)


def kernel_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: object = None,
    traceable: bool = False,
) -> Any:
    """Creates a pass on kernels (topi and loop level) from `f(func, mod, ctx) -> func` or a class, as `function_pass`.

    Relay's name of this decorator is `prim_func_pass`. Arguments and errors as for `module_pass`.
    """
    return decorated(_KERNEL, pass_func, opt_level, name, required, traceable=traceable)
