"""Declared constraints on lists of element types, and on parameters along an axis of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f32, f64, i8, i16, i32
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.axes import require_axes
from xrelay.dialects.relay.core.constraints import Constraint, Properties, Use, element_of, numbers, with_element
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Shape

QUANTIZED: tuple[Attribute, ...] = (i8, element_type("uint8"), i16, element_type("uint16"), i32)
"""The element types of quantised numbers."""

NARROW = QUANTIZED[:4]
"""Quantised types of at most 16 bits: sums and differences of two values are far from the limits of 32 bits."""


@dataclass(frozen=True)
class ElementsIn(Constraint):
    """The element types of some operands are in a list."""

    operands: tuple[int, ...]
    types: tuple[Attribute, ...]

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"the element type of {_operands(self.operands)} is {_one_of(self.types)}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks each element type."""
        for index in self.operands:
            element = facts.element(index)
            if element not in self.types:
                message = f"the element type of operand #{index} must be {_one_of(self.types)}, found {element}"
                facts.require(False, constraint, message, help="cast it first")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Returns the operands with a type that is not in the list."""
        wrong, changed = f64 if f64 not in self.types else i32, list(types)
        for index in self.operands:
            changed[index] = with_element(types[index], wrong)
        return changed, dict(properties)


@dataclass(frozen=True)
class TypeIn(Constraint):
    """A property, if given, is one of some element types."""

    property: str
    types: tuple[Attribute, ...]

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"`{self.property}`, if present, is {_one_of(self.types)}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the property."""
        value = properties.get(self.property)
        if value is not None and value not in self.types:
            facts.require(False, constraint, f"{self.property} must be {_one_of(self.types)}, found {value}")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the property to the boolean type."""
        return list(types), {**properties, self.property: element_type("bool")}


@dataclass(frozen=True)
class OneOrAlong(Constraint):
    """Some operands are single numbers or, if an axis is named, vectors along that axis of operand `of`."""

    operands: tuple[int, ...]
    axis: str | None = None
    of: int = 0

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        each = " each" if len(self.operands) > 1 else ""
        along = "" if self.axis is None else f", or one for each place along `{self.axis}` of operand #{self.of}"
        return f"{_operands(self.operands)} {'are' if each else 'is'} one number{each}{along}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks rank and extent."""
        for index in self.operands:
            own = facts.shape(index)
            if is_number(own):
                continue
            if len(own) > 1 or self.axis is None:
                wanted = "one number" if self.axis is None else "one number or a vector"
                facts.require(False, constraint, f"operand #{index} must be {wanted}, found {facts[index]}")
                return
            data = facts.shape(self.of)
            (axis,) = require_axes(facts, numbers(properties[self.axis]), len(data), constraint)
            for extent in own:
                facts.require_equal(extent, data[axis], constraint, f"extents of operand #{index} and of the axis:")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Replaces the first of the operands by a matrix."""
        changed, first = list(types), self.operands[0]
        changed[first] = tensor_type((1, 1), element_of(types[first]))
        return changed, dict(properties)


def is_number(shape: Shape) -> bool:
    """Returns whether a tensor of this shape is a single number, of rank 0 or 1."""
    return all(extent == 1 for extent in shape) and len(shape) <= 1


def scales_and_zero_points(scales: Sequence[int], zero_points: Sequence[int]) -> dict[str, Constraint]:
    """Returns C1 and C2 of the ops on quantised numbers: the element types of their parameters."""
    return {"C1": ElementsIn(tuple(scales), (f32,)), "C2": ElementsIn(tuple(zero_points), (i32,))}


def _operands(operands: Sequence[int]) -> str:
    *others, last = [f"#{index}" for index in operands]
    return f"operands {', '.join(others)} and {last}" if others else f"operand {last}"


def _one_of(types: Sequence[Attribute]) -> str:
    *others, last = map(str, types)
    return f"{', '.join(others)} or {last}" if others else last
