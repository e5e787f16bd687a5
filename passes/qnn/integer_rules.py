"""The rules of `relay-fake-quantization-to-integer`: the integer form of each float op.

A rule is a function from an `IntegerWriter` to the quantised result. It is registered under Relay's name of the op, or
for a kind of ops (`RelayOp.QUANTIZATION`), with the source of the steps of its result. The rules are in
`integer_arithmetic.py` and `integer_sums.py`. Rules of other packages take precedence:

    @writes_integers("acme.scale")
    def write(w: IntegerWriter) -> QuantizedValue:
        return replace(w.tensor(0), value=w.call("acme.scale_integers", w.tensor(0).value))

Such a rule is called for an op as soon as one of its operands is quantised; the others are unchanged, and the rule has
to check them itself. If it raises, the op stays in floats. An optional rule applies only if the pass's option names the
op. `relay.op.register_fake_quantization_to_integer` accepts Relay's form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.core.registry import get_relay_op, relay_ops
from xrelay.errors import PassError
from xrelay.passes.qnn.quantized import IntegerWriter, NoIntegerFormError, QuantizedValue
from xrelay.plugins import load_plugins
from xrelay.raised import raised
from xrelay.registrations import import_registrations, note_registration

Write: TypeAlias = Callable[[IntegerWriter], QuantizedValue]


class Result(Enum):
    """The source of the steps of a result."""

    OWN = "derived from the operands, without rounding"
    KEPT = "those of the operands"
    SHARED = "those of the operands if these agree, else those of the quantised result"
    ROUNDED = "those of the quantised result"


@dataclass(frozen=True)
class Rule:
    """The integer form of an op."""

    write: Write
    result: Result
    data: int | None = 1
    """The number of leading operands that must be quantised; `None` for all."""
    constants: bool = False
    """Whether all but one of them may be float constants."""
    optional: bool = False
    """Whether the op stays in floats unless an option names it."""
    takes_any: bool = False
    """Whether the other operands may be any values, which the rule checks itself."""

    def data_of(self, op: RelayOp) -> int:
        """Returns the number of leading operands of `op` that must be quantised."""
        return len(op.operands) if self.data is None else self.data


_RULES: dict[str | Quantization, Rule] = {}


_MODULES = ("integer_arithmetic", "integer_sums")


def integer_rule(
    *ops: str | Quantization, result: Result, data: int | None = 1, constants: bool = False, optional: bool = False
) -> Callable[[Write], Write]:
    """Decorator that registers a rule under Relay's names of ops, or for a kind of ops without rules of their own."""

    def register(write: Write) -> Write:
        _RULES.update(dict.fromkeys(ops, Rule(write, result, data, constants, optional)))
        return write

    return register


def integer_rules() -> dict[str, Rule]:
    """Returns the rules by Relay's names of ops."""
    import_registrations(f"xrelay.passes.qnn.{name}" for name in _MODULES)
    kinds = {name: _RULES[op.QUANTIZATION] for name, op in relay_ops().items() if op.QUANTIZATION in _RULES}
    return kinds | {name: rule for name, rule in _RULES.items() if isinstance(name, str)}


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
