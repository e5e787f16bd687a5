"""Rules of `relay-fake-quantization-to-integer` from other packages; they take precedence over its own.

    @writes_integers("acme.scale")
    def write(w: IntegerWriter) -> QuantizedValue:
        return replace(w.tensor(0), value=w.call("acme.scale_integers", w.tensor(0).value))

Such a rule is called for an op as soon as one of its operands is quantised; the others are unchanged, and the rule has
to check them itself. If it raises, the op stays in floats. An optional rule applies only if the pass's option names the
op. `relay.op.register_fake_quantization_to_integer` accepts Relay's form.
"""

from __future__ import annotations

from collections.abc import Callable

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.errors import PassError
from xrelay.passes.qnn.integer_rules import Result, Rule, Write, integer_rules
from xrelay.passes.qnn.quantized import IntegerWriter, NoIntegerFormError, QuantizedValue
from xrelay.plugins import load_plugins
from xrelay.raised import raised
from xrelay.registrations import note_registration

_HOOKS: dict[tuple[bool, type[RelayOp]], Write] = {}
"""(whether the rule is optional, op) → the rule."""


def writes_integers(op: type[RelayOp] | str, *, optional: bool = False) -> Callable[[Write], Write]:
    """Decorator that registers the integer form of `op`, given by class or Relay's name; it replaces an earlier one.

    Raises `UnknownOpError` for an unknown name.
    """
    kind = get_relay_op(op) if isinstance(op, str) else op

    def register(hook: Write) -> Write:
        _HOOKS[optional, kind] = hook
        note_registration(hook)
        return hook

    return register


def registered_integer_hook(op: type[RelayOp], *, optional: bool = False) -> Write | None:
    """Returns the rule of an op, or `None`."""
    return _HOOKS.get((optional, op))


def forget_integer_hook(op: type[RelayOp], *, optional: bool = False) -> None:
    """Remove a registered rule; the pass's own rule applies again."""
    _HOOKS.pop((optional, op), None)


def all_integer_rules() -> dict[str, Rule]:
    """Returns the rules by Relay's names of ops: registered ones, and the pass's own for other ops."""
    load_plugins("targets")
    rules = dict(integer_rules())
    for (optional, kind), hook in _HOOKS.items():
        name = kind.relay_name()
        if not optional or name not in rules or rules[name].optional:
            rules[name] = Rule(_asking(hook), Result.SHARED, data=None, optional=optional, takes_any=True)
    return rules


def _asking(hook: Write) -> Write:
    """The rule with its errors as reasons why the op stays in floats; this project's own errors propagate."""

    def write(w: IntegerWriter) -> QuantizedValue:
        try:
            return hook(w)
        except (NoIntegerFormError, PassError):
            raise
        except Exception as error:
            name = getattr(hook, "__qualname__", type(hook).__name__)
            raise NoIntegerFormError(f"the rule {name} {raised(error)}") from error

    return write
