"""Declarative constraints that several ops share.

    CONSTRAINTS = {"C1": AxisOf("axis"), "C2": FloatElements()}

A declared constraint is checked before the op's shape rule, adds its sentence to the op's docstring, and constructs a
violating use (`broken`), from which its test is generated. Constraints of a single op are checked in `infer_type`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import TypeAlias

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    f32,
    f64,
    i1,
    i32,
)
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.attribute_values import (
    float_array,
    floats,
    int_array,
    int_attribute,
    ints,
    string_attribute,
)
from xrelay.dialects.relay.core.axes import require_axes
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.shared.types import shape_of, tensor_type

Properties: TypeAlias = Mapping[str, Attribute]
"""An op's properties by name; optional ones may be missing."""


Use: TypeAlias = tuple[list[Attribute], dict[str, Attribute]]
"""Operand types and properties, on which a constraint depends."""


class Constraint(ABC):
    """A condition on the operand types and properties of an op."""

    @abstractmethod
    def sentence(self) -> str:
        """Returns the documentation of the condition, without a full stop."""

    @abstractmethod
    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Raises `ConstraintError` with the id `constraint` if the condition does not hold."""

    @abstractmethod
    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Returns operand types and properties, derived from valid ones, that violate the condition."""


Constraints: TypeAlias = Mapping[str, Constraint]
"""Declared constraints by id."""


@dataclass(frozen=True)
class _Elements(Constraint):
    """Base of constraints on the element type of one operand."""

    operand: int = 0

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Returns the operand, and following ones that may have to match it, with an invalid element type."""
        wrong = [with_element(type, self.wrong_element) for type in types[self.operand :]]
        return [*types[: self.operand], *wrong], dict(properties)

    @property
    @abstractmethod
    def wrong_element(self) -> Attribute:
        """An invalid element type."""


class FloatElements(_Elements):
    """The elements of an operand are floats."""

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return "the element type is a float"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the element type."""
        element = facts.element(self.operand)
        # The message is created only for an error, because it costs more than the check.
        if not isinstance(element, AnyFloat):
            message = f"the element type must be a float, found {element}"
            facts.require(False, constraint, message, help="cast the operand first")

    @property
    def wrong_element(self) -> Attribute:
        """An integer type."""
        return i32


class IntegerElements(_Elements):
    """The elements of an operand are integers, not booleans."""

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"the element type{self._which} is an integer, not a boolean"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the element type."""
        element = facts.element(self.operand)
        if not isinstance(element, IntegerType) or element.width.data == 1:
            facts.require(False, constraint, f"the element type{self._which} must be an integer, found {element}")

    @property
    def _which(self) -> str:
        return f" of operand #{self.operand}" if self.operand else ""

    @property
    def wrong_element(self) -> Attribute:
        """A float type."""
        return f32


class BooleanElements(_Elements):
    """The elements of an operand are booleans."""

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return "the element type is i1"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the element type."""
        element = facts.element(self.operand)
        if element != i1:
            facts.require(False, constraint, f"the element type must be i1, found {element}")

    @property
    def wrong_element(self) -> Attribute:
        """A float type."""
        return f32


@dataclass(frozen=True)
class SameElements(Constraint):
    """All operands, or those listed, have the same element type."""

    operands: tuple[int, ...] = ()

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        which = "all operands" if not self.operands else "operands " + ", ".join(f"#{each}" for each in self.operands)
        return f"{which} have the same element type"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Compares with the first operand."""
        first, *others = self.operands or range(len(facts))
        element = facts.element(first)
        for other in others:
            found = facts.element(other)
            if found != element:
                facts.require(False, constraint, f"element types {element} != {found}", help="cast one operand")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Changes the element type of the last operand."""
        last = self.operands[-1] if self.operands else len(types) - 1
        changed = list(types)
        changed[last] = with_element(types[last], i32 if isinstance(element_of(types[last]), AnyFloat) else f32)
        return changed, dict(properties)


@dataclass(frozen=True)
class Broadcasting(Constraint):
    """The operands' shapes broadcast as in numpy."""

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return "the shapes broadcast: from the last dimension on, equal or one of them 1"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Computes the common shape."""
        facts.broadcast(constraint)

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Returns operands with extents that are neither equal nor 1."""
        wrong = [tensor_type((extent,), element_of(type)) for extent, type in zip((2, 3), types[-2:], strict=True)]
        return [*types[:-2], *wrong], dict(properties)


@dataclass(frozen=True)
class RankOf(Constraint):
    """An operand has at least `least` axes, and at most `most` if given."""

    operand: int
    least: int
    most: int | None = None

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"operand #{self.operand} has {self._wanted()}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the rank."""
        rank = len(facts.shape(self.operand))
        if rank < self.least or (self.most is not None and rank > self.most):
            facts.require(False, constraint, f"operand #{self.operand} has rank {rank}, it must have {self._wanted()}")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Returns the operand with one axis too few or too many."""
        rank = self.least - 1 if self.most is None else self.most + 1
        changed = list(types)
        changed[self.operand] = tensor_type((1,) * rank, element_of(types[self.operand]))
        return changed, dict(properties)

    def _wanted(self) -> str:
        if self.most is None:
            return f"at least {self.least} axes"
        return f"rank {self.least}" if self.most == self.least else f"between {self.least} and {self.most} axes"


@dataclass(frozen=True)
class AxisOf(Constraint):
    """A property is an axis of an operand, or an array of distinct axes; negative ones count from the end."""

    property: str = "axis"
    operand: int = 0

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"`{self.property}` names an axis of operand #{self.operand}, without duplicates"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks against the rank. A missing property is valid."""
        value = properties.get(self.property)
        if value is None:
            return
        require_axes(facts, numbers(value), len(facts.shape(self.operand)), constraint)

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the property to the rank."""
        rank = len(shape_of(types[self.operand]))
        several = isinstance(properties.get(self.property), DenseArrayBase)
        return list(types), {**properties, self.property: int_array([rank]) if several else int_attribute(rank)}


@dataclass(frozen=True)
class AtLeast(Constraint):
    """A property is a number that is at least `least`, or an array of such numbers."""

    property: str
    least: int = 1

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"`{self.property}` is at least {self.least}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks each number."""
        value = properties.get(self.property)
        for number in () if value is None else numbers(value):
            if number < self.least:
                facts.require(False, constraint, f"{self.property} is {number}, it must be at least {self.least}")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the property to one less than the least."""
        wrong = self.least - 1
        several = isinstance(properties.get(self.property), DenseArrayBase)
        return list(types), {**properties, self.property: int_array([wrong]) if several else int_attribute(wrong)}


@dataclass(frozen=True)
class Finite(Constraint):
    """Properties are floats, or arrays of floats, that are neither infinite nor NaN."""

    properties: tuple[str, ...]

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        names = " and ".join(f"`{name}`" for name in self.properties)
        return f"{names} {'are' if len(self.properties) > 1 else 'is'} finite"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks each number."""
        for name in self.properties:
            for number in _floats(properties[name]):
                facts.require(isfinite(number), constraint, f"{name} is {number}, it must be finite")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the first property to infinity."""
        name = self.properties[0]
        several = isinstance(properties[name], DenseArrayBase)
        return list(types), {**properties, name: float_array([inf]) if several else FloatAttr(inf, f64)}


@dataclass(frozen=True)
class OneOf(Constraint):
    """A string property has one of some values."""

    property: str
    words: tuple[str, ...]

    def sentence(self) -> str:
        """Returns the sentence for the documentation."""
        return f"`{self.property}` is one of {', '.join(self.words)}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the value."""
        value = properties.get(self.property)
        word = value.data if isinstance(value, StringAttr) else None
        if word not in self.words:
            message = f"{self.property} must be one of {', '.join(self.words)}, found {word!r}"
            facts.require(False, constraint, message)

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the property to another string."""
        return list(types), {**properties, self.property: string_attribute("".join(self.words) + "_not")}


def numbers(value: Attribute) -> tuple[int, ...]:
    """Returns the integers of a property that is an integer or an array."""
    return (value.value.data,) if isinstance(value, IntegerAttr) else ints(value)


def _floats(value: Attribute) -> tuple[float, ...]:
    """Returns the floats of a property that is a float or an array."""
    return (value.value.data,) if isinstance(value, FloatAttr) else floats(value)


def with_element(type: Attribute, element: Attribute) -> Attribute:
    """Returns the tensor type with another element type; other types unchanged."""
    return tensor_type(shape_of(type), element) if isinstance(type, TensorType) else type


def element_of(type: Attribute) -> Attribute:
    """Returns the element type of a tensor type; f32 for other types."""
    return type.element_type if isinstance(type, TensorType) else f32


def documented(doc: str, constraints: Constraints) -> str:
    """Adds the sentences of declared constraints to an op's docstring, in order of ids."""
    if not constraints:
        return doc
    lines = doc.split("\n")
    stripped = [line.strip() for line in lines]
    # Since 3.13 Python removes the indentation of docstrings.
    margin = " " * min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    if "Constraints:" not in stripped:
        at = stripped.index("Example:") if "Example:" in stripped else len(lines)
        lines[at:at], stripped[at:at] = [f"{margin}Constraints:", ""], ["Constraints:", ""]
    first = stripped.index("Constraints:") + 1
    last = stripped.index("", first) if "" in stripped[first:] else len(lines)
    stated: list[list[str]] = []
    for line in lines[first:last]:
        if line.strip().startswith("- C") or not stated:
            stated.append([line])
        else:
            stated[-1].append(line)
    declared = [[f"{margin}- {name}: {constraint.sentence()}."] for name, constraint in constraints.items()]
    ordered = sorted([*declared, *stated], key=lambda block: _number_of(block[0]))
    return "\n".join([*lines[:first], *(line for block in ordered for line in block), *lines[last:]])


def _number_of(line: str) -> int:
    """Returns the number of the constraint in a line, or a large number."""
    digits = line.strip().removeprefix("- C").partition(":")[0]
    return int(digits) if digits.isdigit() else 1 << 30
