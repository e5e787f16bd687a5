"""`@module_pass`, `@function_pass` and `@kernel_pass` make passes of functions and classes.

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
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassArgumentError, PassInfo, PassTypeError, check_level, check_names
from xrelay.passes.relay_api.named_passes import register_pass
from xrelay.passes.relay_api.passes import FunctionPass, KernelPass, ModulePass, Pass


class UsersPass(Pass):
    """A pass made of a function, or of the method of an object, whose attributes are those of the pass too."""

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
        """Call the function; what it gives is checked by the caller."""
        return cast(ModuleOp, self._function(mod, ctx))


class UsersFunctionPass(UsersPass, FunctionPass):
    """A pass made of a function, or of a method, that takes a function of the module."""

    def transform_function(self, func: FuncOp, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        """Call the function; what it gives is checked by the caller."""
        return self.call(func, mod, ctx)

    def call(self, func: object, mod: ModuleOp, ctx: PassContext) -> FuncOp:
        """Returns what the user's function gives, whatever that is; `func` may be given in another form."""
        return cast(FuncOp, self._function(func, mod, ctx))


class _UsersKernelPass(UsersFunctionPass, KernelPass):
    pass


@dataclass(frozen=True)
class Kind:
    """A decorator: what it makes, of which method of a class, and what functions are called with."""

    name: str
    made: type[UsersPass]
    method: str
    arguments: tuple[str, ...]


_MODULE = Kind("module", _UsersModulePass, "transform_module", ("mod", "ctx"))
FUNCTION = Kind("function", UsersFunctionPass, "transform_function", ("func", "mod", "ctx"))
"""Passes on functions as xDSL has them."""
_KERNEL = Kind("kernel", _UsersKernelPass, "transform_function", ("func", "mod", "ctx"))


class PassDecorator:
    """Turns a function into a pass, or a class into a class of passes."""

    def __init__(self, kind: Kind, opt_level: int, name: str | None, required: tuple[str, ...], *, traceable: bool):
        self._kind, self._level, self._name = kind, opt_level, name
        self._required, self._traceable = required, traceable

    def __call__(self, item: object) -> Any:
        """Returns the pass that the function `item` is, or the class of passes of a class: no type tells which.

        Raises `PassTypeError` for what cannot be called, for a class without the method, and for a function or method
        that does not take what it will be called with.
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
    """Returns the class of passes whose instances each hold one of `item`."""
    if not callable(getattr(item, kind.method, None)):
        message = f"class {item.__name__} has no method {kind.method}"
        raise PassTypeError(message, help=f"a {kind.name} pass needs one")
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
    """`PassTypeError` where `function` cannot be called with the arguments of its kind."""
    arguments = kind.arguments if bound else ("self", *kind.arguments)
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return  # Builtin functions have none; calling will tell.
    try:
        signature.bind(*arguments)
    except TypeError:
        takes, called = ", ".join(signature.parameters), ", ".join(kind.arguments)
        raise PassTypeError(f"{what} takes ({takes}), but a {kind.name} pass is called with ({called})") from None


def _check_call(item: type[object], arguments: tuple[object, ...], named: dict[str, object], what: str) -> None:
    """`PassTypeError` where the constructor of `item` does not take these."""
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
    """Returns the pass or class of passes that a decorator of `kind` makes; without `pass_func` the decorator."""
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
    """Make a module pass of `f(mod, ctx) -> mod`, or of a class with `transform_module(mod, ctx)`.

    `opt_level` must be given (`PassArgumentError`); `required` is a list or tuple of names (`PassTypeError`); `name` is
    the function's or class's unless given. Works as a decorator and called with the function.
    """
    return decorated(_MODULE, pass_func, opt_level, name, required, traceable=traceable)


def function_pass(
    pass_func: Callable[..., object] | None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: object = None,
    traceable: bool = False,
) -> Any:
    """Make a function pass of `f(func, mod, ctx) -> func`, or of a class with `transform_function(func, mod, ctx)`.

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
    """Make a pass on kernels (topi and loop level) of `f(func, mod, ctx) -> func`, or of a class as `function_pass`.

    Relay's users know it as `prim_func_pass`. Arguments and errors as for `module_pass`.
    """
    return decorated(_KERNEL, pass_func, opt_level, name, required, traceable=traceable)
