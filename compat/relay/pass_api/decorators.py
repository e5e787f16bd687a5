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
from collections.abc import Callable, Mapping, Sequence
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
class PassDecorator:
    """A decorator that turns a function into a pass, or a class into a class of passes of the same arguments.

    `made` is the class of the passes, `method` the method of decorated classes, which is called with `arguments`, as is
    a decorated function.
    """

    name: str
    made: type[UsersPass]
    method: str
    arguments: tuple[str, ...]

    def __call__(
        self,
        pass_func: Callable[..., object] | None = None,
        opt_level: int | None = None,
        name: object = None,
        required: object = None,
        traceable: bool = False,
    ) -> Any:
        """Returns the pass, or the class of passes, of `pass_func`; without it, the decorator.

        `opt_level` is mandatory (`PassArgumentError`); `required` is a list or tuple of names (`PassTypeError`); `name`
        defaults to that of the function or class. Raises `PassTypeError` for an object that is not callable, a class
        without the method, and a function or method that does not accept the arguments.
        """
        if opt_level is None:
            raise PassArgumentError(f"Please provide opt_level for the {self.name} pass.")
        if isinstance(required, set | frozenset):
            raise PassTypeError("Required is expected to be the type of list/tuple, found set")
        if name is not None and not isinstance(name, str):
            raise PassTypeError(f"the name of a {self.name} pass must be a string, found {name!r}")
        level, needed = check_level(opt_level, f"{self.name} pass"), check_names(required, "Required")

        def decorate(item: object) -> Any:
            if not callable(item):
                raise PassTypeError(f"pass_func must be a callable for {self.name} pass, found {item!r}")
            own = name if name is not None else getattr(item, "__name__", type(item).__name__)
            info = PassInfo(level, own, needed, traceable)
            if inspect.isclass(item):
                return _class_of_passes(item, info, self)
            _check_signature(item, self, f"[{own}] the function")
            made = self.made(info, item)
            register_pass(own, lambda: made)
            return made

        return decorate if pass_func is None else decorate(pass_func)


module_pass = PassDecorator("module", _UsersModulePass, "transform_module", ("mod", "ctx"))
"""Makes a module pass of `f(mod, ctx) -> mod`, or of a class with `transform_module(mod, ctx)`."""

function_pass = PassDecorator("function", UsersFunctionPass, "transform_function", ("func", "mod", "ctx"))
"""Makes a pass on every function of the graph of `f(func, mod, ctx) -> func` or of a class with `transform_function`.

Functions are in xDSL's representation.
"""

kernel_pass = PassDecorator("kernel", _UsersKernelPass, "transform_function", ("func", "mod", "ctx"))
"""Makes a pass on kernels (topi and loop level), as `function_pass`. Relay's name is `prim_func_pass`."""


def _class_of_passes(item: type[object], info: PassInfo, kind: PassDecorator) -> type[UsersPass]:
    """Returns the class of passes whose instances each hold an instance of `item`."""
    if not callable(getattr(item, kind.method, None)):
        message = f"class {item.__name__} has no method {kind.method}"
        raise PassTypeError(message, help=f"a {kind.name} pass requires it")
    is_bound = isinstance(inspect.getattr_static(item, kind.method), staticmethod | classmethod)
    method: Callable[..., object] = getattr(item, kind.method)
    _check_signature(method, kind, f"[{info.name}] {kind.method}", bound=is_bound)

    def construct(self: UsersPass, *arguments: object, **named: object) -> None:
        mismatch = _mismatch(item, arguments, named)
        if mismatch is not None:
            raise PassTypeError(f"[{info.name}] {mismatch[1]}", help=f"{item.__name__} takes {mismatch[0]}")
        instance = item(*arguments, **named)
        kind.made.__init__(self, info, getattr(instance, kind.method), instance)

    namespace = {name: getattr(item, name) for name in ("__module__", "__qualname__", "__doc__")}
    made = cast("type[UsersPass]", type(item.__name__, (kind.made,), {**namespace, "__init__": construct}))
    register_pass(info.name, cast("Callable[[], Pass]", made))
    return made


def _check_signature(function: Callable[..., object], kind: PassDecorator, what: str, *, bound: bool = True) -> None:
    """Raises `PassTypeError` if `function` cannot be called with the arguments of its kind."""
    mismatch = _mismatch(function, kind.arguments if bound else ("self", *kind.arguments), {})
    if mismatch is not None:
        takes, called = ", ".join(mismatch[0].parameters), ", ".join(kind.arguments)
        raise PassTypeError(f"{what} takes ({takes}), but a {kind.name} pass is called with ({called})")


def _mismatch(
    function: Callable[..., object], arguments: Sequence[object], named: Mapping[str, object]
) -> tuple[inspect.Signature, TypeError] | None:
    """Returns the signature of `function` and the error if it does not accept these arguments."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return None  # Builtin functions have no signature; a mismatch is an error of the call.
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        return signature, error
    return None
