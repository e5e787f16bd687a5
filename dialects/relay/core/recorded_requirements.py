"""Requirements and bounds where they are recorded: as attributes of the op that demands or makes them."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Attribute, Operation

from xrelay.dialects.attribute_names import BINDS, REQUIRES
from xrelay.dialects.relay.core.requirements_attr import BoundsAttr, NewExtent, RequirementsAttr
from xrelay.index_algebra.requirement import Requirement


def requirements_of(op: Operation) -> tuple[Requirement, ...]:
    """What must hold of named dimensions where `op` runs."""
    recorded = op.attributes.get(REQUIRES)
    return recorded.data if isinstance(recorded, RequirementsAttr) else ()


def record_requirements(op: Operation, requirements: Iterable[Requirement]) -> None:
    """Let `op` demand `requirements` and nothing else."""
    _set(op, REQUIRES, RequirementsAttr.of(requirements))


def made_extents(op: Operation) -> tuple[NewExtent, ...]:
    """The named extents that `op` makes."""
    recorded = op.attributes.get(BINDS)
    return recorded.data if isinstance(recorded, BoundsAttr) else ()


def record_extents(op: Operation, extents: Iterable[NewExtent]) -> None:
    """Note which named extents `op` makes."""
    _set(op, BINDS, BoundsAttr.of(extents))


def _set(op: Operation, name: str, attribute: Attribute | None) -> None:
    if attribute is not None:
        op.attributes[name] = attribute
    else:
        op.attributes.pop(name, None)
