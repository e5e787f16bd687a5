"""The registry of layout hooks by target and op, which `relay-alter-op-layout` calls.

    @alters_layout("nn.conv2d", target="cpu")
    def hook(op: Conv2DOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal | None: …

`available` contains, for each operand, the layout other than the original in which it is already available, or None.
`lanes` is the number of f32 in a vector of the target. A hook returns

- a `LayoutDecision`: the op is rebuilt with it, or replaced by the decision's `op`;
- a `LayoutRefusal`, or the op itself: the op keeps its original layouts;
- `None`: the op follows its operands if it can, as ops without a hook do.

Other packages register hooks for their own ops and targets in the same way. `layout_hook_scope` registers hooks for the
duration of a `with` block, and a caller of `alter_layouts` may pass hooks that take precedence over all registered
ones. The hooks of the CPU are in `cpu_layout_hooks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.locations import describe_location
from xrelay.errors import PassError, did_you_mean
from xrelay.plugins import load_plugins
from xrelay.raised import combine_classes, raised
from xrelay.registrations import registering, registration_scope
from xrelay.target.target import device_kind

LayoutHook: TypeAlias = Callable[..., object]
"""`hook(op, available, lanes)`; the module's docstring lists the results, `call_hook` checks them."""

LayoutHooks: TypeAlias = Mapping[type[RelayOp], LayoutHook]

HookT = TypeVar("HookT", bound=LayoutHook)

_Registry: TypeAlias = dict[tuple[str, type[RelayOp]], LayoutHook]

_HOOKS: _Registry = {}
_SCOPED: ContextVar[Mapping[tuple[str, type[RelayOp]], LayoutHook]] = ContextVar(
    "layout_hooks", default=MappingProxyType({})
)


def alters_layout(op: type[RelayOp] | str, *, target: str) -> Callable[[HookT], HookT]:
    """Registers the decorated function to choose the layouts of `op`, a class or Relay's name, on `target`.

    It replaces an earlier registration. Raises `UnknownOpError` for an unknown name.
    """
    kind = _class_of(op)

    return registering(_HOOKS, (device_kind(target), kind))


def registered_layout_hook(op: type[RelayOp], *, target: str) -> LayoutHook | None:
    """Returns the permanently registered hook of an op, or `None`."""
    return _HOOKS.get((device_kind(target), op))


def forget_layout_hook(op: type[RelayOp], *, target: str) -> None:
    """Removes the permanent registration of an op, including built-in ones."""
    _HOOKS.pop((device_kind(target), op), None)


@contextmanager
def layout_hook_scope(hooks: Mapping[type[RelayOp] | str, LayoutHook], *, target: str = "cpu") -> Generator[None]:
    """Registers hooks for `target` that take precedence inside the `with` block, in this thread only.

    Scopes nest: the inner scope takes precedence. Raises `UnknownOpError` for an unknown name.
    """
    own = {(device_kind(target), _class_of(op)): hook for op, hook in hooks.items()}
    token = _SCOPED.set({**_SCOPED.get(), **own})
    try:
        with registration_scope():
            yield
    finally:
        _SCOPED.reset(token)


def layout_hooks(target: str) -> LayoutHooks:
    """Returns the hooks of a target; empty for a target without hooks."""
    load_plugins("targets")
    registered, kind = {**_HOOKS, **_SCOPED.get()}, device_kind(target)
    return {op: hook for (name, op), hook in registered.items() if name == kind}


def call_hook(
    hook: LayoutHook, op: RelayOp, available: list[Layout | None], lanes: int
) -> LayoutDecision | LayoutRefusal | None:
    """Returns the result of `hook` for `op`; raises `PassError` if the hook raises or its result does not fit."""
    try:
        answer = hook(op, available, lanes)
    except Exception as error:
        raise combine_classes(hook_error(hook, op, raised(error)), error) from error
    if answer is op:
        return LayoutRefusal("its hook keeps the layouts")
    if answer is None or isinstance(answer, LayoutRefusal):
        return answer
    if not isinstance(answer, LayoutDecision):
        found = f"the op {answer.name}" if isinstance(answer, RelayOp) else f"{answer!r}"
        raise hook_error(
            hook, op, f"returned {found}", help="return a LayoutDecision, a LayoutRefusal, the op itself or None"
        )
    _check_decision(hook, op, answer)
    return answer


def hook_error(hook: LayoutHook, op: RelayOp, message: str, *, help: str | None = None) -> PassError:
    """Returns an error in the result of `hook` for `op`."""
    name = getattr(hook, "__qualname__", type(hook).__name__)
    return PassError(
        f"relay-alter-op-layout: the layout hook {name} of {op.relay_name()} {message}",
        location=describe_location(op),
        help=help,
    )


def _check_decision(hook: LayoutHook, op: RelayOp, decision: LayoutDecision) -> None:
    """Checks that a decision has a layout for each operand, and only properties of the op."""
    if len(decision.operands) != len(op.operands):
        raise hook_error(hook, op, f"returned {len(decision.operands)} layouts for {len(op.operands)} operands")
    strange = [layout for layout in decision.operands if not _is_layout(layout)]
    if strange:
        raise hook_error(hook, op, f"returned the layout {strange[0]!r}", help="write Layout.parse(…)")
    kind = decided_class(op, decision)
    known = kind.get_irdl_definition().properties
    for name in decision.properties:
        if name not in known:
            hint = did_you_mean(name, known, f"it has {', '.join(known) or 'none'}")
            raise hook_error(hook, op, f"sets {name!r}, which {kind.relay_name()} does not have", help=hint)


def _class_of(op: type[RelayOp] | str) -> type[RelayOp]:
    return get_relay_op(op) if isinstance(op, str) else op


def _is_layout(value: object) -> bool:
    return value is None or isinstance(value, Layout)


def decided_class(op: RelayOp, decision: LayoutDecision) -> type[RelayOp]:
    """Returns the class of the op that replaces `op`; raises `PassError` for a class that is not a `RelayOp`."""
    kind = type(op) if decision.op is None else decision.op
    if not issubclass(kind, RelayOp):
        raise PassError(f"a layout decision for {op.name} names {kind.name}, which is not a RelayOp")
    return kind


def rebuild_op(op: RelayOp, decision: LayoutDecision, operands: Sequence[SSAValue]) -> RelayOp:
    """Builds `op` with `decision` on `operands`, not inserted; raises `ConstraintError` if it is not well-formed."""
    kind = decided_class(op, decision)
    given = dict(decision.properties)
    properties = kind.properties_from(given) if decision.op is not None else op.properties | given
    new = kind.typed(operands, properties)
    new.attributes.update(op.attributes)
    new.location = op.location
    new.results[0].name_hint = op.results[0].name_hint
    return new
