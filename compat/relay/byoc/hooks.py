"""Hooks of external compilers: the operators that they support, and optimizers of their functions.

    @takes("nn.relu", target="ccompiler")
    def supports(op: ReluOp) -> bool:
        return op.data.type.element_type == f32

    @optimizes("ccompiler")
    def optimize(module: ModuleOp) -> ModuleOp:
        return FoldConstant()(module)

`relay-annotate-target` calls the first, `relay-partition-graph` the second with a module that contains the function as
@main, without the attributes that protect it from passes. Relay's `relay.op.register_op_attr("nn.relu",
"target.ccompiler")` and `xrelay.register_func("relay.ext.ccompiler.optimize", hook)` are equivalent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.attribute_names import COMPILER, COMPILER_INLINE, COMPILER_PRIMITIVE, GLOBAL_SYMBOL
from xrelay.dialects.shared.locations import describe_location
from xrelay.errors import PassError, with_article
from xrelay.raised import combine_classes, raised
from xrelay.registrations import registering

DEFAULT: Final = "default"
"""The target of ops that no other target supports: this compiler."""

TargetHook: TypeAlias = Callable[[RelayOp], object]
"""`hook(op)` returns whether the compiler supports the op."""

OptimizeHook: TypeAlias = Callable[[ModuleOp], object]
"""`hook(module)` returns the module with an optimised @main."""

HookT = TypeVar("HookT", bound=Callable[..., object])

_TARGET_HOOKS: dict[tuple[str, type[RelayOp]], TargetHook] = {}
_OPTIMIZERS: dict[str, OptimizeHook] = {}


def takes(op: type[RelayOp] | str, *, target: str) -> Callable[[HookT], HookT]:
    """Decorator that registers whether compiler `target` supports `op`, given by class or by Relay's name.

    It replaces an earlier hook permanently. Raises `UnknownOpError` for an unknown name.
    """
    kind = get_relay_op(op) if isinstance(op, str) else op

    return registering(_TARGET_HOOKS, (target, kind))


def registered_target_hook(op: type[RelayOp], *, target: str) -> TargetHook | None:
    """Returns the hook of an op, or `None`."""
    return _TARGET_HOOKS.get((target, op))


def forget_target_hook(op: type[RelayOp], *, target: str) -> None:
    """Removes the hook of an op, which `target` then does not support."""
    _TARGET_HOOKS.pop((target, op), None)


def is_taken(op: RelayOp, target: str) -> bool:
    """Returns whether compiler `target` supports `op`; raises `PassError`, naming both, if its hook raises."""
    hook = _TARGET_HOOKS.get((target, type(op)))
    if hook is None:
        return False
    try:
        return bool(hook(op))
    except Exception as error:
        name = getattr(hook, "__qualname__", type(hook).__name__)
        message = f"relay-annotate-target: {name} for {target!r} and {op.relay_name()} {raised(error)}"
        raise combine_classes(PassError(message, location=describe_location(op)), error) from error


def optimizes(compiler: str) -> Callable[[HookT], HookT]:
    """Decorator that registers the optimizer of functions for `compiler`; it replaces an earlier one permanently."""
    return registering(_OPTIMIZERS, compiler)


def registered_optimizer(compiler: str) -> OptimizeHook | None:
    """Returns the optimizer of a compiler, or `None`."""
    return _OPTIMIZERS.get(compiler)


def forget_optimizer(compiler: str) -> None:
    """Removes the optimizer of a compiler."""
    _OPTIMIZERS.pop(compiler, None)


def optimized(function: FuncOp, compiler: str) -> FuncOp:
    """Returns the result of the optimizer of `compiler` for `function`, or `function` if there is no optimizer.

    `function` is in no module. Raises `PassError`, naming the compiler, if the hook raises, or does not return a module
    that contains only @main, with an unchanged type.
    """
    hook = _OPTIMIZERS.get(compiler)
    if hook is None:
        return function
    main = function.clone()
    for name in (COMPILER, COMPILER_PRIMITIVE, COMPILER_INLINE, GLOBAL_SYMBOL):
        main.attributes.pop(name, None)
    main.sym_name, main.sym_visibility = StringAttr("main"), None
    try:
        made = hook(ModuleOp([main]))
    except Exception as error:
        raise combine_classes(
            PassError(f"relay-partition-graph: the optimizer of {compiler!r} {raised(error)}"), error
        ) from error
    new = _main_of(made, function, compiler)
    new.detach()
    new.attributes.update(function.attributes)
    new.sym_name, new.sym_visibility = function.sym_name, function.sym_visibility
    new.arg_attrs, new.res_attrs = function.arg_attrs, function.res_attrs
    return new


def _main_of(made: object, function: FuncOp, compiler: str) -> FuncOp:
    """Returns @main of the result of an optimizer; raises `PassError` for another result."""
    functions = [op for op in made.ops if isinstance(op, FuncOp)] if isinstance(made, ModuleOp) else []
    names = [op.sym_name.data for op in functions]
    if not isinstance(made, ModuleOp):
        problem = f"returns {with_article(type(made).__name__)}, not a module"
    elif names != ["main"]:
        listed = ", ".join(f"@{name}" for name in names)
        problem = f"returns the functions {listed or 'of an empty module'} instead of only @main"
    elif functions[0].function_type != function.function_type:
        problem = f"changes the type {function.function_type} to {functions[0].function_type}"
    else:
        return functions[0]
    message = f"relay-partition-graph: the optimizer of {compiler!r} {problem}"
    raise PassError(message, help="return the module with another @main")
