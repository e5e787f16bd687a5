"""The result of a shape rule: a type, requirements, and the extents that the op introduces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Attribute

from xrelay.dialects.relay.core.facts import Facts, MadeExtent
from xrelay.dialects.shared.requirements_attr import NewExtent
from xrelay.dialects.shared.types import with_dims
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, symbol
from xrelay.index_algebra.requirement import Requirement


@dataclass(frozen=True)
class Inference:
    """The result type of an op, with placeholders for the extents that it introduces, and its requirements."""

    type: Attribute
    requirements: tuple[Requirement, ...] = ()
    extents: tuple[MadeExtent, ...] = ()

    @staticmethod
    def of(type: Attribute, facts: Facts) -> Inference:
        """Returns the inference of a rule that was applied to `facts`."""
        return Inference(type, tuple(facts.requirements.values()), tuple(facts.extents))

    @cached_property
    def anonymous_type(self) -> Attribute:
        """The type with Relay's Any for the extents that the op introduces."""
        if not self.extents:
            return self.type
        made = {extent.placeholder: ANY for extent in self.extents}
        return with_dims(self.type, lambda dim: dim.substitute(made))

    @cached_property
    def known_requirements(self) -> tuple[Requirement, ...]:
        """The requirements that contain no extent that the op introduces."""
        made = {extent.placeholder for extent in self.extents}
        return tuple(each for each in self.requirements if made.isdisjoint(each.names))

    def renamed(self, names: Mapping[str, str]) -> Inference:
        """Returns the inference with names for the placeholders."""
        if not self.extents:
            return self
        values: dict[str, Dim] = {placeholder: symbol(name) for placeholder, name in names.items()}

        def rename(dim: DimExpr) -> Dim:
            return dim.substitute(values)

        requirements = tuple(each.substitute(values) for each in self.requirements)
        extents = tuple(MadeExtent(names[each.placeholder], each.hint, each.at_most) for each in self.extents)
        return Inference(with_dims(self.type, rename), requirements, extents)

    @property
    def bounds(self) -> tuple[NewExtent, ...]:
        """The extents that the op introduces, after they have names."""
        return tuple(NewExtent(each.placeholder, each.at_most) for each in self.extents)
