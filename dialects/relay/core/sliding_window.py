"""The bases of convolutions and pools: images of any number of spatial axes, and the window that slides over them.

A family of ops is defined once, in terms of the axes that a class specifies in `AXES`: `W`, `HW` or `DHW`. Constraints
have the same ids in all ops with a sliding window. Constraints on layouts (C1), operand ranks (C2), strides and
dilation (C7), padding (C8), the element types of a filter (C10) and of the result (C11) are declared by
`constraints_over`. The others depend on extents:

- C6: the window has one positive size for each axis.
- C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

A layout in a property that does not fit violates a constraint of the op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.relay.core.attribute_values import AttributeValue, int_array, int_attribute, ints, string_attribute
from xrelay.dialects.relay.core.constraints import (
    Constraint,
    Constraints,
    Properties,
    SameElements,
    Use,
    element_of,
    join_words,
    numbers,
)
from xrelay.dialects.relay.core.facts import ConstraintSource, Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.properties import flatten, ints_property, string_property
from xrelay.dialects.relay.layout.layout import Layout, LayoutError
from xrelay.dialects.shared.dtypes import holds_products, may_multiply
from xrelay.dialects.shared.types import shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, Shape
from xrelay.index_algebra.windows import SizeT, WindowAxis, all_sides, window_of

FoundT = TypeVar("FoundT")


def parse_layout(op: ConstraintSource, text: str, axes: str, constraint: str) -> Layout:
    """Returns the layout for `text`; requires that it consists of `axes` in any order."""
    layout = _fitting(op, lambda: Layout.parse(text), constraint)
    op.require(sorted(layout.primal) == sorted(axes), constraint, f"layout {text} must have the axes {', '.join(axes)}")
    return layout


def extents_in(op: ConstraintSource, layout: Layout, shape: Shape, constraint: str) -> dict[str, Dim]:
    """Returns the extents of the primal axes of `shape` in `layout`."""
    return _fitting(op, lambda: layout.primal_extents(shape), constraint)


def require_blocks(facts: Facts, layout: Layout, shape: Shape, constraint: str) -> None:
    """Requires that symbolic inner extents of `shape` equal the factors of the layout, on which kernels rely."""
    for axis, extent in zip(layout.axes, shape, strict=True):
        if axis.factor is not None:
            facts.require_equal(extent, axis.factor, constraint, f"extent of axis {axis} of layout {layout}:")


def _fitting(op: ConstraintSource, find: Callable[[], FoundT], constraint: str) -> FoundT:
    try:
        return find()
    except LayoutError as error:
        op.require(False, constraint, error.message, help=error.help)
        raise


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
        names = join_words(f"`{name}`" for name in self.properties)
        return f"{names} {'are' if len(self.properties) > 1 else 'is'} {self._requirement_text()}"

    def check(self, constraint: str, facts: Facts, properties: Properties) -> None:
        """Checks lengths and numbers."""
        for name in self.properties:
            found = list(numbers(properties[name]))
            legal = len(found) in self.counts and min(found) >= self.positive
            facts.require(legal, constraint, f"{name} must be {self._requirement_text()}, found {found}")
            fits = max(found) <= LARGEST_NUMBER
            facts.require(fits, constraint, f"{name} must not exceed {LARGEST_NUMBER}, found {found}")

    def broken(self, types: Sequence[Attribute], properties: Properties) -> Use:
        """Sets the first property to one number below the least."""
        return list(types), {**properties, self.properties[0]: int_array([int(self.positive) - 1])}

    def _requirement_text(self) -> str:
        counts = sorted(set(self.counts))
        in_words = self.positive or len(counts) == 1
        sign = "positive" if self.positive else "non-negative"
        count = join_words((_WORDS[count] if in_words else count for count in counts), "or")
        return f"{count} {sign} number{'' if counts == [1] else 's'}"


_WORDS = {1: "one", 2: "two", 3: "three", 4: "four"}


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
        stated = [
            f"{join_words(names)} {'have' if len(names) > 1 else 'has'} the axes {axes}"
            for axes, names in by_axes.items()
        ]
        if self.whole:
            stated.append(f"{join_words(self.whole)} {'have' if len(self.whole) > 1 else 'has'} no blocks")
        return "; ".join(stated)

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


_OVER: dict[str, Callable[[type[ImageOp]], object]] = {
    "strides": lambda op: ints_property(*[1] * len(op.AXES)),
    "dilation": lambda op: ints_property(*[1] * len(op.AXES)),
    "padding": lambda op: ints_property(*[0] * 2 * len(op.AXES)),
    "output_padding": lambda op: ints_property(*[0] * len(op.AXES)),
    "layout": lambda op: string_property(f"NC{op.AXES}"),
    "grad_layout": lambda op: string_property(f"NC{op.AXES}"),
    "data_layout": lambda op: string_property(f"NC{op.AXES}"),
    "kernel_layout": lambda op: string_property(f"{op.FILTERS}{op.AXES}"),
}
"""The properties whose defaults depend on the spatial axes."""


class ImageOp(RelayOp):
    """Base of the ops over images: batch, channels and spatial axes in any layout.

    A family declares its properties once. A class with `AXES` has them in the order of `ARGUMENTS`, that of Relay's
    arguments, with defaults for these axes.
    """

    AXES: ClassVar[str]
    """The spatial axes, outermost first."""

    FILTERS: ClassVar[str] = "OI"
    """The channel axes of a filter, in the order of its plain layout, where they precede the spatial axes."""

    ARGUMENTS: ClassVar[tuple[str, ...]] = ("layout",)
    """The properties in order."""

    result = result_def()

    traits = traits_def(Pure())

    def __init_subclass__(cls) -> None:
        """Declares properties and constraints for the class's `AXES`. IRDL creates each class twice."""
        if "AXES" in vars(cls):
            cls.CONSTRAINTS = cls.constraints_over(cls.AXES)
        super().__init_subclass__()
        for name in cls.ARGUMENTS if "AXES" in vars(cls) else ():
            if name not in vars(cls):
                setattr(cls, name, _OVER[name](cls) if name in _OVER else getattr(cls, name))

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns the declared constraints of an op with these spatial axes."""
        return {}

    @property
    def image_axes(self) -> str:
        """The axes of an image in the plain order, e.g. `NCHW`."""
        return f"NC{self.AXES}"

    def layout_over(self, text: str, axes: str) -> Layout:
        """Returns the layout `text`; checks that it consists of `axes` in any order (C1)."""
        return parse_layout(self, text, axes, "C1")

    def extents_in(self, layout: Layout, shape: Shape) -> dict[str, Dim]:
        """Returns the extents of the primal axes of `shape` in `layout`; checks C2."""
        return extents_in(self, layout, shape, "C2")


class WindowedOp(ImageOp):
    """Base of the ops with a window that slides over an image, by strides, padding and dilation."""

    SIZE: ClassVar[str]
    """The name of the property for the window's size."""

    strides = ints_property(1)
    padding = ints_property(0)
    dilation = ints_property(1)

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts Python's shorthands: one number as the window's size, any short form of padding."""
        rank, size, padding = len(cls.AXES), attributes.get(cls.SIZE), attributes.get("padding")
        if isinstance(size, int):
            attributes[cls.SIZE] = (size,) * rank
        if isinstance(padding, int | tuple | list):
            attributes["padding"] = all_sides(flatten(padding), rank)
        return attributes

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C7, C8 and the inherited constraints."""
        rank = len(axes)
        window = {
            "C7": Numbers(("strides", "dilation"), (1, rank)),
            "C8": Numbers(("padding",), (1, rank, 2 * rank), positive=False),
        }
        return {**super().constraints_over(axes), **window}

    def window(self, sizes: Sequence[SizeT]) -> tuple[WindowAxis[SizeT], ...]:
        """Returns the window of the sizes `sizes`, one axis for each of `AXES`."""
        return window_of(sizes, ints(self.strides), ints(self.dilation), ints(self.padding))

    def checked_window(self, facts: Facts, sizes: Sequence[Dim]) -> tuple[WindowAxis[Dim], ...]:
        """Returns the window; checks its sizes (C6)."""
        rank = len(self.AXES)
        legal = len(sizes) in (1, rank) and all(size > 0 for size in sizes if isinstance(size, int))
        found = ", ".join(map(str, sizes))
        self.require(legal, "C6", f"{self.SIZE} must be {_POSITIVE[rank]}, found [{found}]")
        for size in sizes:
            facts.require_at_least(size, 1, "C6", self.SIZE)
        return self.window(tuple(sizes) * (rank if len(sizes) == 1 else 1))

    def window_counts(
        self, facts: Facts, window: Sequence[WindowAxis[Dim]], extents: dict[str, Dim], *, partial: bool = False
    ) -> dict[str, Dim]:
        """Returns the number of windows along each spatial axis (`WindowAxis.count`); checks C9."""
        counts: dict[str, Dim] = {}
        for letter, axis in zip(self.AXES, window, strict=True):
            extent = extents[letter]
            padded = extent + (axis.before + axis.after)
            size = f"{axis.size} (dilation {axis.dilation})"
            message = f"a window of {size} is larger than the padded {letter} extent {padded}"
            least = axis.reach - (axis.stride - 1 if partial else 0)
            facts.require_at_least(padded, least, "C9", f"padded {letter} extent, and window", message=message)
            counts[letter] = axis.count(extent, partial=partial)
        return counts


_POSITIVE = {
    1: "one positive number",
    2: "one or two positive numbers",
    3: "one or three positive numbers",
}
"""The description of valid sizes, by the number of spatial axes."""
