"""The registry of the hooks that `relay-legalize` calls, by the name of a list and by op.

    @legalizes("nn.conv2d")
    def hook(op: Conv2DOp, emit: Emitter) -> SSAValue | None:
        return emit.call(Conv2DOp, op.data, emit.call(NegativeOp, op.weight), **attributes)

A hook inserts ops before `op` with `emit` and returns the value that replaces its result, or `None` if `op` is to
remain. The value must have the same type and must not depend on `op`. A later hook for an op replaces an earlier one.
`legalize_scope` registers hooks for a `with` block. `relay.op.register_legalize` accepts hooks in Relay's form.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.locations import describe_location
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter
from xrelay.plugins import load_plugins
from xrelay.raised import also, raised
from xrelay.registrations import note_registration, registration_scope

LegalizeHook: TypeAlias = Callable[..., object]
"""`hook(op, emit)`; see the module's docstring for its result, and `apply_hook` for the checks."""

HookT = TypeVar("HookT", bound=LegalizeHook)

LEGALIZE = "FTVMLegalize"
"""The default list: Relay's name for the attribute of operators."""

_HOOKS: dict[tuple[str, type[RelayOp]], LegalizeHook] = {}
_SCOPED: ContextVar[Mapping[tuple[str, type[RelayOp]], LegalizeHook]] = ContextVar(
    "legalize_hooks", default=MappingProxyType({})
)


def legalizes(op: type[RelayOp] | str, *, name: str = LEGALIZE) -> Callable[[HookT], HookT]:
    """Returns a decorator that registers a function as hook for `op`, a class or Relay's name, in the list `name`.

    It replaces an earlier hook permanently. Raises `UnknownOpError` if no op has this name.
    """
    kind = _class_of(op)

    def register(hook: HookT) -> HookT:
        _HOOKS[name, kind] = hook
        note_registration(hook)
        return hook

    return register


def registered_legalize_hook(op: type[RelayOp], *, name: str = LEGALIZE) -> LegalizeHook | None:
    """The permanently registered hook for `op` in the list `name`, or `None`."""
    return _HOOKS.get((name, op))


def forget_legalize_hook(op: type[RelayOp], *, name: str = LEGALIZE) -> None:
    """Removes the permanently registered hook for `op`."""
    _HOOKS.pop((name, op), None)


@contextmanager
def legalize_scope(hooks: Mapping[type[RelayOp] | str, LegalizeHook], *, name: str = LEGALIZE) -> Generator[None]:
    """A context in which `hooks` override the registered ones, in this thread only.

    Inner contexts override outer ones. Raises `UnknownOpError` if no op has a given name.
    """
    own = {(name, _class_of(op)): hook for op, hook in hooks.items()}
    token = _SCOPED.set({**_SCOPED.get(), **own})
    try:
        with registration_scope():
            yield
    finally:
        _SCOPED.reset(token)


def legalize_hooks(name: str = LEGALIZE) -> dict[type[RelayOp], LegalizeHook]:
    """The hooks of the list `name`; empty for an unknown list."""
    load_plugins("targets")
    registered = {**_HOOKS, **_SCOPED.get()}
    return {op: hook for (own, op), hook in registered.items() if own == name}


def apply_hook(hook: LegalizeHook, op: RelayOp, emit: Emitter) -> SSAValue | None:
    """The value with which `hook` replaces the result of `op`; `None` if `op` remains.

    Raises `PassError` with hook and op if the hook raises, or returns no value or a value of another type.
    """
    try:
        answer = hook(op, emit)
    except Exception as error:
        raise also(_hook_error(hook, op, raised(error)), error) from error
    result = op.results[0]
    if answer is None or answer is result:
        return None
    if not isinstance(answer, SSAValue):
        raise _hook_error(hook, op, f"returned {answer!r}, not a value or None")
    if answer.type != result.type:
        raise _hook_error(hook, op, f"returned a value of type {answer.type} for a result of type {result.type}")
    return answer


def _hook_error(hook: LegalizeHook, op: RelayOp, message: str) -> PassError:
    name = getattr(hook, "__qualname__", type(hook).__name__)
    return PassError(
        f"relay-legalize: the hook {name} of {op.relay_name()} {message}",
        location=describe_location(op),
    )


def _class_of(op: type[RelayOp] | str) -> type[RelayOp]:
    return get_relay_op(op) if isinstance(op, str) else op
