"""Declarative constraints that several ops share.

    CONSTRAINTS = {"C1": AxisOf("axis"), "C2": FloatElements()}

A declared constraint is checked before the op's shape rule, adds its sentence to the op's docstring, and constructs a
violating use (`broken`), from which its test is generated. Constraints of a single op are checked in `infer_type`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import TypeAlias

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    f32,
    f64,
    i1,
    i8,
    i16,
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
from xrelay.index_algebra.dims import Dim, Shape

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
        return f"operand #{self.operand} has {self._requirement_text()}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the rank."""
        rank = len(facts.shape(self.operand))
        if rank < self.least or (self.most is not None and rank > self.most):
            facts.require(
                False, constraint, f"operand #{self.operand} has rank {rank}, it must have {self._requirement_text()}"
            )

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Returns the operand with one axis too few or too many."""
        rank = self.least - 1 if self.most is None else self.most + 1
        changed = list(types)
        changed[self.operand] = tensor_type((1,) * rank, element_of(types[self.operand]))
        return changed, dict(properties)

    def _requirement_text(self) -> str:
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
        names = join_words(f"`{name}`" for name in self.properties)
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
        words = join_words((f'"{word}"' for word in self.words), "or")
        return f"`{self.property}` is {words}"

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


def document_constraints(doc: str, constraints: Constraints) -> str:
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


QUANTIZED: tuple[Attribute, ...] = (
    i8,
    IntegerType(8, Signedness.UNSIGNED),
    i16,
    IntegerType(16, Signedness.UNSIGNED),
    i32,
)
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
        return f"the element type of {_operands(self.operands)} is {join_words(self.types, 'or')}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks each element type."""
        for index in self.operands:
            element = facts.element(index)
            if element not in self.types:
                message = (
                    f"the element type of operand #{index} must be {join_words(self.types, 'or')}, found {element}"
                )
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
        return f"`{self.property}`, if present, is {join_words(self.types, 'or')}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks the property."""
        value = properties.get(self.property)
        if value is not None and value not in self.types:
            facts.require(False, constraint, f"{self.property} must be {join_words(self.types, 'or')}, found {value}")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the property to the boolean type."""
        return list(types), {**properties, self.property: i1}


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
    return f"operand{'s' if len(operands) > 1 else ''} {join_words(f'#{index}' for index in operands)}"


def join_words(words: Iterable[object], conjunction: str = "and") -> str:
    """Returns the words as an enumeration: `a, b and c`."""
    *others, last = map(str, words)
    return f"{', '.join(others)} {conjunction} {last}" if others else last


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
