"""What an op demands of named extents stays demanded where others take its place."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.ops.require import RequireOp
from xrelay.dialects.shared.recorded_requirements import record_requirements, requirements_of
from xrelay.dialects.shared.requirements_attr import RequirementsAttr
from xrelay.index_algebra.requirement import Requirement


def keep_demands(op: Operation, value: SSAValue, type: Attribute, parts: Sequence[Operation]) -> RequireOp | None:
    """The op that gives `value`, which `parts` compute, where all holds that `op` demands; `None` where they see to it.

    A demand that one of `parts` has is not repeated, unless `value` has other words for its extents than `type`: it is
    of `type` where all holds that `op` demands. So of a composite op, whose parts do not look at a scale that only
    other programs look at, say.
    """
    demands = requirements_of(op)
    if not demands or not isinstance(value.type, TensorType):
        return None
    made = {_key(demand) for part in parts for demand in requirements_of(part)} if value.type == type else set[object]()
    kept = [demand for demand in demands if _key(demand) not in made]
    attribute = RequirementsAttr.of(kept)
    if attribute is None:
        return None
    require = RequireOp.create(operands=[value], result_types=[type], properties={"demands": attribute})
    record_requirements(require, kept)
    return require


def _key(demand: Requirement) -> tuple[object, ...]:
    """What is demanded, whatever for."""
    kept = demand.canonical()
    return type(kept), kept.lhs, kept.rhs
