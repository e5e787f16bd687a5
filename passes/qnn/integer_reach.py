"""Which values of a graph integers can represent, and to which steps each is rounded.

`reach` is a forward analysis from dequantisations, and `goals` a backward one from quantisations. Both visit each op
once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.passes.qnn.integer_rules import Result, Rule
from xrelay.passes.qnn.quantized import Steps, float_constant

MOST_GOALS = 4
"""The maximum number of different roundings of an op, for different quantisations of its result."""


@dataclass(frozen=True)
class Refusal:
    """The reason why no integers can represent a value."""

    message: str
    is_boundary: bool = False
    """Whether the reason is a float input that is not quantised, rather than a missing rule."""


@dataclass
class Reach:
    """The result of the forward analysis."""

    found: dict[SSAValue, Refusal | bool] = field(default_factory=dict[SSAValue, Refusal | bool])
    """For each value that depends on a dequantisation: a refusal, or whether a later quantisation sets its steps."""

    def refusal(self, value: SSAValue) -> Refusal | None:
        """Returns the reason why integers cannot represent `value`; `None` if they can, or if it is not reached."""
        found = self.found.get(value)
        return found if isinstance(found, Refusal) else None

    def is_reached(self, value: SSAValue) -> bool:
        """Returns whether integers may represent `value`."""
        return isinstance(self.found.get(value), bool)

    def is_open(self, value: SSAValue) -> bool:
        """Returns whether a later quantisation determines the steps of `value`."""
        return self.found.get(value) is True

    def form_of(self, value: SSAValue, goal: Steps | None) -> tuple[SSAValue, Steps | None]:
        """Returns the key of the form of `value` that an op with this goal reads."""
        return value, goal if self.is_open(value) else None


def reach(ops: Sequence[RelayOp], rules: Mapping[str, Rule]) -> Reach:
    """Returns which values integers can represent, by a forward analysis of `ops`, which are in program order."""
    known = Reach()
    for op in ops:
        if isinstance(op, DequantizeOp):
            if all(map(is_complete, op.operand_types)):
                finite = steps_of(op).is_finite
                known.found[op.result] = False if finite else Refusal(f"{op.name} has a scale that is not finite")
        elif not isinstance(op, QuantizeOp) and any(operand in known.found for operand in op.operands):
            known.found[op.results[0]] = _reached(op, rules.get(op.relay_name()), known)
    return known


def _reached(op: RelayOp, rule: Rule | None, known: Reach) -> Refusal | bool:
    data = list(op.operands)[: rule.data_of(op) if rule is not None else None]
    for operand in data:
        refusal = known.refusal(operand)
        if refusal is not None:
            return refusal
    if rule is None:
        return Refusal(f"{op.name} has no integer form")
    others = [operand for operand in data if not known.is_reached(operand)]
    if len(others) == len(data):
        return Refusal(f"{op.name} has no quantised operand")
    for operand in () if rule.takes_any else others:
        if not rule.constants or float_constant(operand) is None:
            maker = operand.owner.name if isinstance(operand.owner, Operation) else "a parameter"
            return Refusal(f"{op.name} reads floats from {maker}", is_boundary=True)
    if rule.result in (Result.ROUNDED, Result.SHARED):
        return True
    return rule.result is Result.KEPT and any(map(known.is_open, data))


def goals(ops: Sequence[RelayOp], rules: Mapping[str, Rule], known: Reach) -> dict[SSAValue, dict[Steps | None, None]]:
    """Returns the requested steps of each value (`None`: its own), by a backward analysis from the quantisations."""
    requested: dict[SSAValue, dict[Steps | None, None]] = {}

    def request(value: SSAValue, goal: Steps | None) -> None:
        key, wanted = known.form_of(value, goal)
        own = requested.setdefault(key, {})
        if len(own) < MOST_GOALS:
            own.setdefault(wanted)

    for op in reversed(ops):
        if isinstance(op, QuantizeOp) and known.is_reached(op.operands[0]):
            request(op.operands[0], steps_of(op))
        rule = rules.get(op.relay_name())
        if rule is None or not known.is_reached(op.results[0]):
            continue
        keeps = rule.result in (Result.KEPT, Result.SHARED)
        for goal in requested.get(op.results[0], {}):
            for operand in list(op.operands)[: rule.data_of(op)]:
                if known.is_reached(operand):
                    request(operand, goal if keeps else None)
    return requested


def steps_of(op: QuantizeOp | DequantizeOp) -> Steps:
    """Returns the steps that an op quantises to, or dequantises from."""
    data, scale, zero_point = op.operands
    rank = len(shape_of(data.type))
    integers = op.result if isinstance(op, QuantizeOp) else data
    element = integers.type.element_type if isinstance(integers.type, TensorType) else integers.type
    return Steps(scale, zero_point, element, op.axis.value.data % rank if rank else 0)
