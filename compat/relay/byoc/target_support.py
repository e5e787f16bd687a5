"""Hooks that decide which operators an external compiler supports, for `relay-annotate-target`.

    @takes("nn.relu", target="ccompiler")
    def hook(op: ReluOp) -> bool:
        return op.data.type.element_type == f32

Relay's `relay.op.register_op_attr("nn.relu", "target.ccompiler")` is equivalent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.locations import describe_location
from xrelay.errors import PassError
from xrelay.raised import also, raised
from xrelay.registrations import note_registration

DEFAULT: Final = "default"
"""The target of ops that no other target supports: this compiler."""

TargetHook: TypeAlias = Callable[[RelayOp], object]
"""`hook(op)` returns whether the compiler supports the op."""

HookT = TypeVar("HookT", bound=TargetHook)

_HOOKS: dict[str, dict[type[RelayOp], TargetHook]] = {}


def takes(op: type[RelayOp] | str, *, target: str) -> Callable[[HookT], HookT]:
    """Decorator that registers whether compiler `target` supports `op`, given by class or by Relay's name.

    It replaces an earlier hook permanently. Raises `UnknownOpError` for an unknown name.
    """
    kind = get_relay_op(op) if isinstance(op, str) else op

    def register(hook: HookT) -> HookT:
        _HOOKS.setdefault(target, {})[kind] = hook
        note_registration(hook)
        return hook

    return register


def registered_target_hook(op: type[RelayOp], *, target: str) -> TargetHook | None:
    """Returns the hook of an op, or `None`."""
    return _HOOKS.get(target, {}).get(op)


def forget_target_hook(op: type[RelayOp], *, target: str) -> None:
    """Remove the hook of an op, which `target` then does not support."""
    _HOOKS.get(target, {}).pop(op, None)


def is_taken(op: RelayOp, target: str) -> bool:
    """Returns whether compiler `target` supports `op`; raises `PassError`, naming both, if its hook raises."""
    hook = _HOOKS.get(target, {}).get(type(op))
    if hook is None:
        return False
    try:
        return bool(hook(op))
    except Exception as error:
        name = getattr(hook, "__qualname__", type(hook).__name__)
        message = f"relay-annotate-target: {name} for {target!r} and {op.relay_name()} {raised(error)}"
        raise also(PassError(message, location=describe_location(op)), error) from error
