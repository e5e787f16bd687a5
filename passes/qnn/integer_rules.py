"""The rules of `relay-fake-quantization-to-integer`: the integer form of each float op.

A rule is a function from an `IntegerWriter` to the quantised result. It is registered under Relay's name of the op, or
for a kind of ops (`RelayOp.QUANTIZATION`), with the source of the steps of its result. The rules are in
`integer_movement.py`, `integer_arithmetic.py`, `integer_sums.py` and `integer_products.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.passes.qnn.quantized import IntegerWriter, QuantizedValue
from xrelay.registrations import import_registrations

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


_MODULES = ("integer_movement", "integer_arithmetic", "integer_sums", "integer_products")


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
