"""`relay-legalize`: replaces operators by the results of hooks.

The pass calls the registered hook of each operator once, after those of its operands. The result of the hook replaces
the operator; hooks are not called on new ops. With a hook, a target can require another form of an operator (channels
in multiples of four, say, or another operator) without a pass of its own. The pass is exact if the hooks are.

There are no predefined hooks. A hook inserts ops before `op` with `emit` and returns the value that replaces its
result, or `None` if `op` is to remain. The value must have the same type and must not depend on `op`:

    @legalizes("nn.conv2d")
    def hook(op: Conv2DOp, emit: Emitter) -> SSAValue | None:
        return emit.call(Conv2DOp, op.data, emit.call(NegativeOp, op.weight), **attributes)

A later hook for an op replaces an earlier one. `legalize_scope` registers hooks for a `with` block.
`relay.op.register_legalize` accepts hooks in Relay's form. `legalize-map-attr-name` selects another list of hooks than
`FTVMLegalize`.

Before, with a hook that doubles weights:

    %y = relay.nn.conv2d(%x, %w) {padding = [1, 1, 1, 1]}

After:

    %v = relay.multiply(%w, %two)
    %y = relay.nn.conv2d(%x, %v) {padding = [1, 1, 1, 1]}

Operators without a hook, operators whose hook returns `None`, and operators whose types are not inferred yet are not
changed. Raises `PassError` with hook, op and location if a hook raises, or returns anything else than a value of the
result's type.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import is_complete
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter, rewrite_once
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.plugins import load_plugins
from xrelay.raised import combine_classes, raised
from xrelay.registrations import registering, registration_scope

LegalizeHook: TypeAlias = Callable[..., object]
"""`hook(op, emit)`; see the module's docstring for its result, and `apply_hook` for the checks."""

HookT = TypeVar("HookT", bound=LegalizeHook)

LEGALIZE = "FTVMLegalize"
"""The default list: Relay's name for the attribute of operators."""

_HOOKS: dict[tuple[str, type[RelayOp]], LegalizeHook] = {}
_SCOPED: ContextVar[Mapping[tuple[str, type[RelayOp]], LegalizeHook]] = ContextVar(
    "legalize_hooks", default=MappingProxyType({})
)


@dataclass(frozen=True)
class RelayLegalizePass(XRelayPass):
    """Replaces operators by the results of their hooks; see the module's docstring."""

    name = "relay-legalize"
    numerics = reassociates("the ops that a hook returns may round differently")
    per_function = True

    legalize_map_attr_name: str = field(default=LEGALIZE, metadata={"help": "the name of the list of hooks"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Legalizes in place."""
        hooks = legalize_hooks(self.legalize_map_attr_name)
        if hooks:
            rewrite_once(op, RelayOp, ApplyHook(hooks))


class ApplyHook(RewritePattern):
    """Replaces an operator by the result of its hook. Exact if the hook is.

    Before:

        %y = relay.nn.relu(%x)

    After, with such a hook for `nn.relu`:

        %z = relay.add(%zero, %x)
        %y = relay.nn.relu(%z)
    """

    def __init__(self, hooks: Mapping[type[RelayOp], LegalizeHook]):
        self._hooks = hooks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Calls the hook for the class of `op`, if there is one."""
        if not isinstance(op, RelayOp) or type(op) not in self._hooks:
            return
        if not all(map(is_complete, (*op.operand_types, *op.result_types))):
            return
        emit = Emitter(rewriter, op)
        value = apply_hook(self._hooks[type(op)], op, emit)
        if value is not None:
            emit.replace(value)


def legalizes(op: type[RelayOp] | str, *, name: str = LEGALIZE) -> Callable[[HookT], HookT]:
    """Returns a decorator that registers a function as hook for `op`, a class or Relay's name, in the list `name`.

    It replaces an earlier hook permanently. Raises `UnknownOpError` if no op has this name.
    """
    kind = _class_of(op)

    return registering(_HOOKS, (name, kind))


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
        raise combine_classes(_hook_error(hook, op, raised(error)), error) from error
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
