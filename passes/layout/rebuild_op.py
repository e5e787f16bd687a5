"""Rebuilds an op in the layouts of a layout decision."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.behaviour import LayoutDecision
from xrelay.errors import PassError


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
