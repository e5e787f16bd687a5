"""Keeps the requirements of an op on named extents when other ops replace it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.ops.annotation import RequireOp
from xrelay.dialects.shared.recorded_requirements import record_requirements, requirements_of
from xrelay.dialects.shared.requirements_attr import RequirementsAttr
from xrelay.index_algebra.requirement import Requirement


def keep_requirements(
    op: Operation, value: SSAValue, type: Attribute, replacements: Sequence[Operation]
) -> RequireOp | None:
    """Returns a `relay.require` on `value` with the requirements of `op`, or None if there is nothing to require.

    `replacements` are the ops that compute `value` and replace `op`; requirements that they have are not repeated. If
    the extents of `value` differ from those of `type`, all requirements of `op` are kept, because they imply that the
    extents are equal. The parts of a composite op may lack a requirement, for example on a scale that they do not use.
    """
    requirements = requirements_of(op)
    if not requirements or not isinstance(value.type, TensorType):
        return None
    made = (
        {_key(requirement) for replacement in replacements for requirement in requirements_of(replacement)}
        if value.type == type
        else set[object]()
    )
    kept = [requirement for requirement in requirements if _key(requirement) not in made]
    attribute = RequirementsAttr.of(kept)
    if attribute is None:
        return None
    require = RequireOp.create(operands=[value], result_types=[type], properties={"demands": attribute})
    record_requirements(require, kept)
    return require


def _key(requirement: Requirement) -> tuple[object, ...]:
    """Returns the relation of a requirement without its label."""
    kept = requirement.canonical()
    return type(kept), kept.lhs, kept.rhs
