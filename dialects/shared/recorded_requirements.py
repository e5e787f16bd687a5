"""Requirements and introduced extents, recorded as attributes of ops."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.traits import EffectInstance, MemoryEffectKind, Pure

from xrelay.dialects.shared.attribute_names import BINDS, DEMANDS, REQUIRES
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import sources_of
from xrelay.dialects.shared.requirements_attr import BoundsAttr, NewExtent, RequirementsAttr
from xrelay.index_algebra.requirement import Requirement


def requirements_of(op: Operation) -> tuple[Requirement, ...]:
    """Returns the requirements on named dimensions where `op` runs."""
    recorded = op.attributes.get(REQUIRES)
    return recorded.data if isinstance(recorded, RequirementsAttr) else ()


def record_requirements(op: Operation, requirements: Iterable[Requirement]) -> None:
    """Replaces the requirements of `op`."""
    _set(op, REQUIRES, RequirementsAttr.of(requirements))


class OpRequirements(NamedTuple):
    """The requirements of an op in a kernel, as recorded on the call of the kernel."""

    op: str
    requirements: tuple[Requirement, ...]
    sources: Attribute | None
    """The model nodes from which the op originates."""


def kernel_requirements_of(call: Operation) -> list[OpRequirements]:
    """Returns the requirements of the ops in the kernel that `call` runs."""
    rows = call.attributes.get(DEMANDS)
    found: list[OpRequirements] = []
    for row in rows if is_attribute(rows, ArrayAttr[DictionaryAttr]) else ():
        name, requires = row.data.get("op"), row.data.get("requires")
        if isinstance(name, StringAttr) and isinstance(requires, RequirementsAttr):
            found.append(OpRequirements(name.data, requires.data, row.data.get("sources")))
    return found


def all_requirements(op: Operation) -> list[OpRequirements]:
    """Returns the requirements of `op` and those of the ops in the kernel that it calls."""
    return [OpRequirements(op.name, requirements_of(op), sources_of(op)), *kernel_requirements_of(op)]


def made_extents(op: Operation) -> tuple[NewExtent, ...]:
    """Returns the named extents that `op` introduces."""
    recorded = op.attributes.get(BINDS)
    return recorded.data if isinstance(recorded, BoundsAttr) else ()


def record_extents(op: Operation, extents: Iterable[NewExtent]) -> None:
    """Replaces the named extents that `op` introduces."""
    _set(op, BINDS, BoundsAttr.of(extents))


class PureOnItsValue(Pure):
    """An op without side effects, except that it may introduce names of extents that other ops use.

    Ops that introduce names have a memory effect, so that passes without support for names neither erase nor merge
    them.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        """Returns a write effect, for the names, if the op introduces extents."""
        return _NAMES if BINDS in op.attributes else frozenset[EffectInstance]()


_NAMES = frozenset((EffectInstance(MemoryEffectKind.WRITE),))


def _set(op: Operation, name: str, attribute: Attribute | None) -> None:
    if attribute is not None:
        op.attributes[name] = attribute
    else:
        op.attributes.pop(name, None)
