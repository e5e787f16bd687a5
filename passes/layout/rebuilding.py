"""An op again, as a layout decision has it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.behaviour import LayoutDecision


def rebuilt(op: RelayOp, decision: LayoutDecision, operands: Sequence[SSAValue]) -> RelayOp:
    """`op` as `decision` has it, on `operands`; not inserted yet. `ConstraintError` where it is not well-formed."""
    kind = decision.op or type(op)
    given = dict(decision.properties)
    properties = kind.properties_from(given) if decision.op is not None else op.properties | given
    new = kind.typed(operands, properties)
    new.attributes.update(op.attributes)
    new.location = op.location
    new.results[0].name_hint = op.results[0].name_hint
    return new
