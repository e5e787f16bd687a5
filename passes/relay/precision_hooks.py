"""What `relay-to-mixed-precision` asks of operators: what each class declares, and what others say in its place.

    @sets_precision("nn.dense")
    def hook(op: DenseOp, mixed: Attribute) -> Precision:
        return Precision(MixedPrecision.ALWAYS, accumulation=f32, output=mixed)

`op.MIXED_PRECISION` is the rule; a hook is for who knows more of a model or of a machine than the operator does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from xdsl.ir import Attribute

from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.locations import describe_place
from xrelay.errors import PassError
from xrelay.raised import also, raised
from xrelay.registrations import note_registration


@dataclass(frozen=True)
class Precision:
    """How one op is done where floats of fewer bits are asked for."""

    category: MixedPrecision
    accumulation: Attribute
    """The element type of its result, of an op that has a property for it."""
    output: Attribute
    """The element type to which the result is cast for others."""


PrecisionHook: TypeAlias = Callable[[RelayOp, Attribute], object]
"""`hook(op, mixed)`: a `Precision` for the op, which is done in the element type `mixed` or not."""

HookT = TypeVar("HookT", bound=PrecisionHook)

_HOOKS: dict[type[RelayOp], PrecisionHook] = {}


def sets_precision(op: type[RelayOp] | str) -> Callable[[HookT], HookT]:
    """Decorator: the function says how `op`, a class or Relay's name, is done. It replaces an earlier one, for good.

    `UnknownOpError` for a name of no op.
    """
    kind = get_relay_op(op) if isinstance(op, str) else op

    def register(hook: HookT) -> HookT:
        _HOOKS[kind] = hook
        note_registration(hook)
        return hook

    return register


def registered_precision_hook(op: type[RelayOp]) -> PrecisionHook | None:
    """The hook that is registered for an op; `None` for none."""
    return _HOOKS.get(op)


def forget_precision_hook(op: type[RelayOp]) -> None:
    """Take back what is registered: what the operator declares counts again."""
    _HOOKS.pop(op, None)


def precision_of(op: RelayOp, mixed: Attribute) -> Precision | None:
    """How `op` is done where `mixed` is asked for; `None` where nobody has said.

    `PassError`, naming both, where a hook raises or its answer is none.
    """
    hook = _HOOKS.get(type(op))
    if hook is None:
        return None if op.MIXED_PRECISION is None else Precision(op.MIXED_PRECISION, mixed, mixed)
    try:
        answer = hook(op, mixed)
    except Exception as error:
        raise also(_hook_error(hook, op, raised(error)), error) from error
    if not isinstance(answer, Precision):
        raise _hook_error(hook, op, f"returned {answer!r}, which is no Precision")
    return answer


def _hook_error(hook: PrecisionHook, op: RelayOp, message: str) -> PassError:
    name = getattr(hook, "__qualname__", type(hook).__name__)
    return PassError(
        f"relay-to-mixed-precision: what {name} says of {op.relay_name()}: it {message}", location=describe_place(op)
    )
