"""Declared constraints on images and sliding windows: layouts, and numbers for each spatial axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, TypeAttribute

from xrelay.dialects.relay.core.attribute_values import int_array, int_attribute, string_attribute
from xrelay.dialects.relay.core.constraints import Constraint, Properties, SameElements, Use, element_of, numbers
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.layouts import extents_in, parse_layout, require_blocks
from xrelay.dialects.shared.dtypes import holds_products, may_multiply
from xrelay.dialects.shared.types import shape_of, tensor_type

LARGEST_NUMBER: Final = 2**40
"""The limit of strides, paddings and windows, greater than any memory; products with extents fit 64 bits."""


@dataclass(frozen=True)
class Numbers(Constraint):
    """Properties are arrays with one of some lengths, whose numbers are all positive, or all non-negative.

    No number exceeds `LARGEST_NUMBER`.
    """

    properties: tuple[str, ...]
    counts: tuple[int, ...]
    positive: bool = True

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        names = " and ".join(f"`{name}`" for name in self.properties)
        return f"{names} {'are' if len(self.properties) > 1 else 'is'} {self._wanted()}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks lengths and numbers."""
        for name in self.properties:
            found = list(numbers(properties[name]))
            legal = len(found) in self.counts and min(found) >= self.positive
            facts.require(legal, constraint, f"{name} must be {self._wanted()}, found {found}")
            fits = max(found) <= LARGEST_NUMBER
            facts.require(fits, constraint, f"{name} must not exceed {LARGEST_NUMBER}, found {found}")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the first property to one number below the least."""
        return list(types), {**properties, self.properties[0]: int_array([int(self.positive) - 1])}

    def _wanted(self) -> str:
        *some, last = sorted(set(self.counts))
        many = f"{', '.join(map(str, some))} or {last}" if some else ""
        if self.positive:
            words = " or ".join(_WORDS[count] for count in (*some, last))
            return f"{words} positive number{'s' if some else ''}"
        return f"{many} non-negative numbers" if some else "one non-negative number"


_WORDS = {1: "one", 2: "two", 3: "three"}


@dataclass(frozen=True)
class Layouts(Constraint):
    """Properties are layouts of some axes, without splits of the axes in `whole`. Empty layouts are not checked."""

    layouts: tuple[tuple[str, str], ...]
    whole: str = ""

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        by_axes: dict[str, list[str]] = {}
        for name, axes in self.layouts:
            by_axes.setdefault(", ".join(axes), []).append(f"`{name}`")
        stated = [f"{' and '.join(names)} of the axes {axes}" for axes, names in by_axes.items()]
        return ", ".join([*stated, *([f"{' and '.join(self.whole)} without blocks"] if self.whole else [])])

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Parses each layout."""
        for name, axes in self.layouts:
            text = _text(properties, name)
            if text:
                layout = parse_layout(facts, text, axes, constraint)
                split = [axis for axis in self.whole if layout.factor(axis)]
                facts.require(not split, constraint, f"layout {layout} splits {', '.join(split)}")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the first property to a layout with an axis repeated."""
        name, axes = self.layouts[0]
        return list(types), {**properties, name: string_attribute(axes[0] * len(axes))}


@dataclass(frozen=True)
class InLayouts(Constraint):
    """The operands have the ranks and inner extents of their layouts."""

    layouts: tuple[tuple[str, str], ...]

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return " and ".join(f"operand #{index} is in `{name}`" for index, (name, _) in enumerate(self.layouts))

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks each shape against its layout."""
        for index, (name, axes) in enumerate(self.layouts):
            layout = parse_layout(facts, _text(properties, name), axes, constraint)
            extents_in(facts, layout, facts.shape(index), constraint)
            require_blocks(facts, layout, facts.shape(index), constraint)

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Returns the first operand with an additional axis."""
        wrong = tensor_type((1, *shape_of(types[0])), element_of(types[0]))
        return [wrong, *types[1:]], dict(properties)


@dataclass(frozen=True)
class ElementType(Constraint):
    """A property, if given, is an element type."""

    property: str

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"`{self.property}`, if present, is an element type"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the kind of the attribute."""
        value = properties.get(self.property)
        legal = value is None or isinstance(value, TypeAttribute)
        facts.require(legal, constraint, lambda: f"the dtype must be an element type, found {value}")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the property to a number."""
        return list(types), {**properties, self.property: int_attribute(3)}


@dataclass(frozen=True)
class HoldsProducts(ElementType):
    """A property, if given, is an element type for sums of products of the first operand's elements."""

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"{super().sentence()} of the kind of the data (float or integer) and not narrower, or a half for f32"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the types."""
        super().check(constraint, facts, properties)
        require_holds_products(facts, properties.get(self.property), constraint)


@dataclass(frozen=True)
class Factors(SameElements):
    """Data and weight have one element type, or are u8 and i8, whose products CPUs accumulate in 32 bits."""

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return "data and weight have the same element type, or ui8 and i8 with `out_dtype` i32"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the types."""
        require_factors(facts, properties.get("out_dtype"), constraint)


def require_factors(facts: Facts, result: Attribute | None, constraint: str) -> None:
    """Requires that the element types of the first two operands can be multiplied and accumulated as `result`."""
    data, weight = facts.element(0), facts.element(1)
    facts.require(
        may_multiply(data, weight, result),
        constraint,
        lambda: f"element types {data} != {weight}",
        help="cast one operand; ui8 by i8 with out_dtype i32 needs no cast",
    )


def require_holds_products(facts: Facts, result: Attribute | None, constraint: str) -> None:
    """Requires that `result`, if given, can hold sums of products of the first operand's elements."""
    element = facts.element(0)
    legal = result is None or holds_products(result, element)
    facts.require(
        legal,
        constraint,
        lambda: f"out_dtype {result} cannot hold sums of products of {element}",
        help="cast the operands before, or the result after",
    )


def _text(properties: Properties, name: str) -> str:
    value = properties.get(name)
    return value.data if isinstance(value, StringAttr) else ""
