"""Declared constraints on the extents of an axis: vectors along it, divisors of it, batch axes before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.core.constraints import Constraint, Properties, Use, element_of, numbers
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.shared.types import shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, Shape


@dataclass(frozen=True)
class VectorsAlong(Constraint):
    """The operands after the first are vectors along the axis of the first operand that a property names."""

    property: str = "axis"

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"the operands after the first have one axis, as long as its `{self.property}`"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the extents."""
        extent = facts.shape(0)[self._axis(properties)]
        for index in range(1, len(facts)):
            shape = facts.shape(index)
            if len(shape) != 1:
                facts.require(False, constraint, f"operand #{index} must have rank 1, found {len(shape)}")
            facts.require_equal(shape[0], extent, constraint, f"extents of operand #{index} and of the axis:")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Replaces the last operand by a matrix."""
        return [*types[:-1], tensor_type((1, 1), element_of(types[-1]))], dict(properties)

    def _axis(self, properties: Properties) -> int:
        (axis,) = numbers(properties[self.property])
        return axis


@dataclass(frozen=True)
class Divides(Constraint):
    """A property that is one number is positive and divides the extent of the first operand's axis."""

    property: str
    axis: str = "axis"

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"`{self.property}`, a number of parts, is positive and divides the extent of `{self.axis}`"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the remainder."""
        parts = properties[self.property]
        if not isinstance(parts, IntegerAttr):
            return
        number, extent = parts.value.data, self._extent(facts.shape(0), properties)
        facts.require(number > 0, constraint, f"{self.property} must be positive, found {number}")
        facts.require_equal(extent % number, 0, constraint, f"extent {extent} modulo {self.property} {number}:")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the property to more parts than there are elements."""
        extent = self._extent(shape_of(types[0]), properties)
        parts = extent + 1 if isinstance(extent, int) else 0
        return list(types), {**properties, self.property: int_attribute(parts)}

    def _extent(self, shape: Shape, properties: Properties) -> Dim:
        (axis,) = numbers(properties[self.axis])
        return shape[axis]


@dataclass(frozen=True)
class BatchAxes(Constraint):
    """The first `batch_dims` axes of data and indices, after the first `skipped` axes of the indices, are equal.

    They are before the axis that the property `before` names. If the property is not set, there are no batch axes.
    """

    skipped: int = 0
    before: str | None = None

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        axis = f", before `{self.before}`" if self.before else ""
        return f"operands #0 and #1 both have `batch_dims` axes of a batch{axis}, with equal extents"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the extents."""
        data, indices = facts.shape(0), facts.shape(1)[self.skipped :]
        (value,) = numbers(properties["batch_dims"])
        batch, most = value + len(indices) if value < 0 else value, min(self._last(data, properties), len(indices))
        facts.require(0 <= batch <= most, constraint, f"batch_dims is {value}, the operands allow at most {most}")
        for axis, (left, right) in enumerate(zip(data[:batch], indices[:batch], strict=True)):
            facts.require_equal(left, right, constraint, f"batch axes: extents of axis {axis}")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets `batch_dims` to more axes than there are."""
        return list(types), {**properties, "batch_dims": int_attribute(len(shape_of(types[0])) + 1)}

    def _last(self, data: Shape, properties: Properties) -> int:
        """Returns the maximum number of batch axes of the data."""
        if self.before is None:
            return len(data)
        named = properties.get(self.before)
        return 0 if named is None else numbers(named)[0] % len(data)
