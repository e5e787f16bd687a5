"""The registry of what `relay-legalize` asks: hooks by op, under a name of the list that they belong to.

    @legalizes("nn.conv2d")
    def hook(op: Conv2DOp, emit: Emitter) -> SSAValue | None:
        return emit.call(Conv2DOp, op.data, emit.call(NegativeOp, op.weight), **attributes)

A hook puts ops in front of `op` with `emit` and gives the value that is to stand for its result, of the same type and
not computed from it; or `None` where `op` is to stay. Of several hooks for an op the last one counts;
`legalize_scope` has hooks that end with a `with` block. `relay.op.register_legalize` takes Relay's form.
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
from xrelay.dialects.shared.locations import describe_place
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter
from xrelay.plugins import load_plugins
from xrelay.raised import also, raised
from xrelay.registrations import note_registration, registration_scope

LegalizeHook: TypeAlias = Callable[..., object]
"""`hook(op, emit)`; see the module's docstring for what it gives, `ask_hook` for what is checked."""

HookT = TypeVar("HookT", bound=LegalizeHook)

LEGALIZE = "FTVMLegalize"
"""The list that is asked where no other is named: Relay's name of the attribute of operators."""

_HOOKS: dict[tuple[str, type[RelayOp]], LegalizeHook] = {}
_SCOPED: ContextVar[Mapping[tuple[str, type[RelayOp]], LegalizeHook]] = ContextVar(
    "legalize_hooks", default=MappingProxyType({})
)


def legalizes(op: type[RelayOp] | str, *, name: str = LEGALIZE) -> Callable[[HookT], HookT]:
    """Decorator: the function says what takes the place of `op`, a class or Relay's name, in the list `name`.

    It replaces an earlier one, for good. `UnknownOpError` for a name of no op.
    """
    kind = _class_of(op)

    def register(hook: HookT) -> HookT:
        _HOOKS[name, kind] = hook
        note_registration(hook)
        return hook

    return register


def registered_legalize_hook(op: type[RelayOp], *, name: str = LEGALIZE) -> LegalizeHook | None:
    """The hook that is registered for good for an op in the list `name`; `None` for none."""
    return _HOOKS.get((name, op))


def forget_legalize_hook(op: type[RelayOp], *, name: str = LEGALIZE) -> None:
    """Take back what is registered for good."""
    _HOOKS.pop((name, op), None)


@contextmanager
def legalize_scope(hooks: Mapping[type[RelayOp] | str, LegalizeHook], *, name: str = LEGALIZE) -> Generator[None]:
    """Hooks that go before the registered ones, until the `with` block ends; this thread alone sees them.

    Scopes nest: the inner one goes before the outer. `UnknownOpError` for a name of no op.
    """
    own = {(name, _class_of(op)): hook for op, hook in hooks.items()}
    token = _SCOPED.set({**_SCOPED.get(), **own})
    try:
        with registration_scope():
            yield
    finally:
        _SCOPED.reset(token)


def legalize_hooks(name: str = LEGALIZE) -> dict[type[RelayOp], LegalizeHook]:
    """The hooks of the list `name`; none for a list that nobody has written to."""
    load_plugins("targets")
    registered = {**_HOOKS, **_SCOPED.get()}
    return {op: hook for (own, op), hook in registered.items() if own == name}


def ask_hook(hook: LegalizeHook, op: RelayOp, emit: Emitter) -> SSAValue | None:
    """What is to stand for the result of `op`; `None` where it stays.

    `PassError`, naming both, where the hook raises, or gives what is no value or has another type.
    """
    try:
        answer = hook(op, emit)
    except Exception as error:
        raise also(_hook_error(hook, op, raised(error)), error) from error
    result = op.results[0]
    if answer is None or answer is result:
        return None
    if not isinstance(answer, SSAValue):
        raise _hook_error(hook, op, f"gave {answer!r}, not a value or None")
    if answer.type != result.type:
        raise _hook_error(hook, op, f"gave a value of type {answer.type} for one of type {result.type}")
    return answer


def _hook_error(hook: LegalizeHook, op: RelayOp, message: str) -> PassError:
    name = getattr(hook, "__qualname__", type(hook).__name__)
    return PassError(
        f"relay-legalize: the hook {name} of {op.relay_name()} {message}",
        location=describe_place(op),
    )


def _class_of(op: type[RelayOp] | str) -> type[RelayOp]:
    return get_relay_op(op) if isinstance(op, str) else op
