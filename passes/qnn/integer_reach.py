"""How far integers reach: for each value of a graph, whether integers can stand for it, and how it will be rounded.

`reach` goes forward, from what is dequantised, and `goals` backward, from what is quantised. Both look at each op once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import is_complete, shape_of
from xrelay.dialects.relay.ops.qnn_quantize import DequantizeOp, QuantizeOp
from xrelay.passes.qnn.integer_rules import Result, Rule
from xrelay.passes.qnn.quantized import Steps, float_constant

MOST_GOALS = 4
"""In how many ways an op may be rounded, for quantisations behind it that differ; each takes a form of its own."""


@dataclass(frozen=True)
class Refusal:
    """Why no integers stand for a value."""

    message: str
    is_boundary: bool = False
    """Whether floats that nobody quantised come in here, which is no fault of a rule."""


@dataclass
class Reach:
    """What is known of the values that dequantised numbers lead to."""

    found: dict[SSAValue, Refusal | bool] = field(default_factory=dict[SSAValue, Refusal | bool])
    """For each such value a refusal, or whether a quantisation behind it decides its steps."""

    def refusal(self, value: SSAValue) -> Refusal | None:
        """Why no integers stand for `value`; `None` where they do, and where nothing before it is quantised."""
        found = self.found.get(value)
        return found if isinstance(found, Refusal) else None

    def is_reached(self, value: SSAValue) -> bool:
        """Whether integers may stand for `value`."""
        return isinstance(self.found.get(value), bool)

    def is_open(self, value: SSAValue) -> bool:
        """Whether a quantisation behind `value` decides its steps."""
        return self.found.get(value) is True

    def form_of(self, value: SSAValue, goal: Steps | None) -> tuple[SSAValue, Steps | None]:
        """Under which key the form of `value` stands that an op with this goal reads."""
        return value, goal if self.is_open(value) else None


def reach(ops: Sequence[RelayOp], rules: Mapping[str, Rule]) -> Reach:
    """What integers may stand for, forward through `ops`, which are in program order."""
    known = Reach()
    for op in ops:
        if isinstance(op, DequantizeOp):
            if all(map(is_complete, op.operand_types)):
                finite = steps_of(op).is_finite
                known.found[op.result] = False if finite else Refusal(f"{op.name} has a scale that is no finite number")
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
            return Refusal(f"{op.name} reads floats that {maker} gives", is_boundary=True)
    if rule.result in (Result.ROUNDED, Result.SHARED):
        return True
    return rule.result is Result.KEPT and any(map(known.is_open, data))


def goals(ops: Sequence[RelayOp], rules: Mapping[str, Rule], known: Reach) -> dict[SSAValue, dict[Steps | None, None]]:
    """In which steps each value is asked for, backward from the quantisations; `None`: in its own."""
    asked: dict[SSAValue, dict[Steps | None, None]] = {}

    def ask(value: SSAValue, goal: Steps | None) -> None:
        key, wanted = known.form_of(value, goal)
        own = asked.setdefault(key, {})
        if len(own) < MOST_GOALS:
            own.setdefault(wanted)

    for op in reversed(ops):
        if isinstance(op, QuantizeOp) and known.is_reached(op.operands[0]):
            ask(op.operands[0], steps_of(op))
        rule = rules.get(op.relay_name())
        if rule is None or not known.is_reached(op.results[0]):
            continue
        keeps = rule.result in (Result.KEPT, Result.SHARED)
        for goal in asked.get(op.results[0], {}):
            for operand in list(op.operands)[: rule.data_of(op)]:
                if known.is_reached(operand):
                    ask(operand, goal if keeps else None)
    return asked


def steps_of(op: QuantizeOp | DequantizeOp) -> Steps:
    """The steps that an op quantises to, or dequantises from."""
    data, scale, zero_point = op.operands
    rank = len(shape_of(data.type))
    integers = op.result if isinstance(op, QuantizeOp) else data
    element = integers.type.element_type if isinstance(integers.type, TensorType) else integers.type
    return Steps(scale, zero_point, element, op.axis.value.data % rank if rank else 0)
