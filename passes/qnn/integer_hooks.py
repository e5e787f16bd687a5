"""Rules of `relay-fake-quantization-to-integer` that are registered from outside; they go before its own.

    @writes_integers("acme.scale")
    def write(w: IntegerWriter) -> StandIn:
        return replace(w.tensor(0), value=w.call("acme.scale_integers", w.tensor(0).value))

Such a rule is shown an op as soon as one of its operands stands for quantised numbers; the others are as they are, and
the rule has to look at them itself. Where it raises, the op stays in floats. An optional rule counts where the pass is
given the op's name. `relay.op.register_fake_quantization_to_integer` takes Relay's form.
"""

from __future__ import annotations

from collections.abc import Callable

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.errors import PassError
from xrelay.passes.qnn.integer_rules import Result, Rule, Write, integer_rules
from xrelay.passes.qnn.quantized import IntegerWriter, NoIntegerFormError, StandIn
from xrelay.plugins import load_plugins
from xrelay.raised import raised
from xrelay.registrations import note_registration

_HOOKS: dict[tuple[bool, type[RelayOp]], Write] = {}
"""Whether the rule is optional, and the op → the rule."""


def writes_integers(op: type[RelayOp] | str, *, optional: bool = False) -> Callable[[Write], Write]:
    """Decorator: the function makes the integer form of `op`, a class or Relay's name. It replaces an earlier one.

    `UnknownOpError` for a name of no op.
    """
    kind = get_relay_op(op) if isinstance(op, str) else op

    def register(hook: Write) -> Write:
        _HOOKS[optional, kind] = hook
        note_registration(hook)
        return hook

    return register


def registered_integer_hook(op: type[RelayOp], *, optional: bool = False) -> Write | None:
    """The rule that is registered for an op; `None` for none."""
    return _HOOKS.get((optional, op))


def forget_integer_hook(op: type[RelayOp], *, optional: bool = False) -> None:
    """Take back what is registered: the pass's own rule counts again."""
    _HOOKS.pop((optional, op), None)


def all_integer_rules() -> dict[str, Rule]:
    """The rules by Relay's names of ops: those registered from outside, and the pass's own for the other ops."""
    load_plugins("targets")
    rules = dict(integer_rules())
    for (optional, kind), hook in _HOOKS.items():
        name = kind.relay_name()
        if not optional or name not in rules or rules[name].optional:
            rules[name] = Rule(_asking(hook), Result.SHARED, data=None, optional=optional, takes_any=True)
    return rules


def _asking(hook: Write) -> Write:
    """The rule, whose errors say why the op stays in floats; one of this project's own goes through."""

    def write(w: IntegerWriter) -> StandIn:
        try:
            return hook(w)
        except (NoIntegerFormError, PassError):
            raise
        except Exception as error:
            name = getattr(hook, "__qualname__", type(hook).__name__)
            raise NoIntegerFormError(f"the rule {name} {raised(error)}") from error

    return write
