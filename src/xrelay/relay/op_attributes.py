"""`register_op_attr`: what Relay's users say of an operator by the name of an attribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.errors import InputError
from xrelay.passes.byoc.target_support import takes
from xrelay.registrations import note_registration
from xrelay.relay.expr import view

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])

_PREFIX = "target."
_LEVELS: dict[tuple[type[RelayOp], str], int] = {}


def register_op_attr(
    op_name: str, attr_key: str, value: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Decorator, or called with the function: it says whether a compiler from outside takes calls of `op_name`.

    The attribute is `target.` and the compiler's name. The function gets the call and returns True or False, which
    `transform.AnnotateTarget` asks. It replaces one of a lower or the same `level`. `UnknownOpError` for a name of no
    op, `InputError` for other attributes: those of operators here are declared with them.
    """
    kind = get_relay_op(op_name)
    target = attr_key.removeprefix(_PREFIX)
    if not attr_key.startswith(_PREFIX) or not target:
        raise InputError(
            f"{attr_key!r} is no attribute that is registered from outside",
            help="target.NAME says which operators the compiler NAME takes; relay.op has functions for others",
        )

    def register(function: FunctionT) -> FunctionT:
        if level >= _LEVELS.get((kind, target), 0):
            _LEVELS[kind, target] = level
            takes(kind, target=target)(_hook(function))
            note_registration(function)
        return function

    if value is not None:
        register(cast(FunctionT, value))
    return register


def _hook(function: Callable[..., object]) -> Callable[[RelayOp], object]:
    """A hook of this project for one of Relay's."""

    def hook(op: RelayOp) -> object:
        return function(view(op.results[0]))

    hook.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return hook
