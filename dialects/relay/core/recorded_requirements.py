"""Requirements and bounds where they are recorded: as attributes of the op that demands or makes them."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.traits import EffectInstance, MemoryEffectKind, Pure

from xrelay.dialects.attribute_names import BINDS, DEMANDS, REQUIRES
from xrelay.dialects.is_attribute import is_attribute
from xrelay.dialects.relay.core.requirements_attr import BoundsAttr, NewExtent, RequirementsAttr
from xrelay.index_algebra.requirement import Requirement


def requirements_of(op: Operation) -> tuple[Requirement, ...]:
    """What must hold of named dimensions where `op` runs."""
    recorded = op.attributes.get(REQUIRES)
    return recorded.data if isinstance(recorded, RequirementsAttr) else ()


def record_requirements(op: Operation, requirements: Iterable[Requirement]) -> None:
    """Let `op` demand `requirements` and nothing else."""
    _set(op, REQUIRES, RequirementsAttr.of(requirements))


class Demand(NamedTuple):
    """What an op of a kernel requires, as the call of the kernel says it."""

    op: str
    requirements: tuple[Requirement, ...]
    sources: Attribute | None
    """The nodes of the model that the op comes from."""


def demands_of(call: Operation) -> list[Demand]:
    """What the ops of the kernel require that `call` runs."""
    rows = call.attributes.get(DEMANDS)
    found: list[Demand] = []
    for row in rows if is_attribute(rows, ArrayAttr[DictionaryAttr]) else ():
        name, requires = row.data.get("op"), row.data.get("requires")
        if isinstance(name, StringAttr) and isinstance(requires, RequirementsAttr):
            found.append(Demand(name.data, requires.data, row.data.get("sources")))
    return found


def made_extents(op: Operation) -> tuple[NewExtent, ...]:
    """The named extents that `op` makes."""
    recorded = op.attributes.get(BINDS)
    return recorded.data if isinstance(recorded, BoundsAttr) else ()


def record_extents(op: Operation, extents: Iterable[NewExtent]) -> None:
    """Note which named extents `op` makes."""
    _set(op, BINDS, BoundsAttr.of(extents))


class PureOnItsValue(Pure):
    """An op without side effects that others may need for an extent it makes, whether they use its value or not.

    To passes that know nothing of names it has an effect where it makes extents: they neither erase nor join such ops.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        """None, or one that stands for the names."""
        return _NAMES if BINDS in op.attributes else frozenset[EffectInstance]()


_NAMES = frozenset((EffectInstance(MemoryEffectKind.WRITE),))


def _set(op: Operation, name: str, attribute: Attribute | None) -> None:
    if attribute is not None:
        op.attributes[name] = attribute
    else:
        op.attributes.pop(name, None)
