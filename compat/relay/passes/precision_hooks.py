"""The precision of operators for `relay-to-mixed-precision`: the declaration of each class, or a hook.

    @sets_precision("nn.dense")
    def hook(op: DenseOp, mixed: Attribute) -> Precision:
        return Precision(MixedPrecision.ALWAYS, accumulation=f32, output=mixed)

`op.MIXED_PRECISION` is the default; a hook overrides it for a specific model or machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from xdsl.ir import Attribute

from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.locations import describe_location
from xrelay.errors import PassError
from xrelay.raised import also, raised
from xrelay.registrations import note_registration


@dataclass(frozen=True)
class Precision:
    """The way in which an op is computed in mixed precision."""

    category: MixedPrecision
    accumulation: Attribute
    """The element type of the result, for an op that has a property for it."""
    output: Attribute
    """The element type to which the result is cast for its users."""


PrecisionHook: TypeAlias = Callable[[RelayOp, Attribute], object]
"""`hook(op, mixed)` returns the `Precision` of `op`, with `mixed` as the element type of lower precision."""

HookT = TypeVar("HookT", bound=PrecisionHook)

_HOOKS: dict[type[RelayOp], PrecisionHook] = {}


def sets_precision(op: type[RelayOp] | str) -> Callable[[HookT], HookT]:
    """Returns a decorator that registers a function as precision hook for `op`, a class or Relay's name.

    It replaces an earlier hook permanently. Raises `UnknownOpError` if no op has this name.
    """
    kind = get_relay_op(op) if isinstance(op, str) else op

    def register(hook: HookT) -> HookT:
        _HOOKS[kind] = hook
        note_registration(hook)
        return hook

    return register


def registered_precision_hook(op: type[RelayOp]) -> PrecisionHook | None:
    """The registered hook for `op`, or `None`."""
    return _HOOKS.get(op)


def forget_precision_hook(op: type[RelayOp]) -> None:
    """Removes the hook for `op`, so that the declaration of its class applies again."""
    _HOOKS.pop(op, None)


def precision_of(op: RelayOp, mixed: Attribute) -> Precision | None:
    """The precision of `op` for the element type `mixed`; `None` without declaration and hook.

    Raises `PassError` with hook and op if the hook raises or does not return a `Precision`.
    """
    hook = _HOOKS.get(type(op))
    if hook is None:
        return None if op.MIXED_PRECISION is None else Precision(op.MIXED_PRECISION, mixed, mixed)
    try:
        answer = hook(op, mixed)
    except Exception as error:
        raise also(_hook_error(hook, op, raised(error)), error) from error
    if not isinstance(answer, Precision):
        raise _hook_error(hook, op, f"returned {answer!r}, not a Precision")
    return answer


def _hook_error(hook: PrecisionHook, op: RelayOp, message: str) -> PassError:
    name = getattr(hook, "__qualname__", type(hook).__name__)
    return PassError(
        f"relay-to-mixed-precision: the hook {name} of {op.relay_name()} {message}", location=describe_location(op)
    )
