"""The bases of convolutions and pools: images of any number of spatial axes, and the window that slides over them.

A family of ops is defined once, in terms of the axes that a class specifies in `AXES`: `W`, `HW` or `DHW`. Constraints
have the same ids in all ops with a sliding window. Constraints on layouts (C1), operand ranks (C2), strides and
dilation (C7), padding (C8), the element types of a filter (C10) and of the result (C11) are declared by
`constraints_over`. The others depend on extents:

- C6: the window has one positive size for each axis.
- C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.irdl import result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.constraints import Constraints
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.layouts import extents_in, parse_layout
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.properties import flatten, ints_property, string_property
from xrelay.dialects.relay.core.window_constraints import Numbers
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.index_algebra.dims import Dim, Shape
from xrelay.index_algebra.windows import SizeT, WindowAxis, all_sides, window_of

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
        super().__init_subclass__()
        if "AXES" in vars(cls):
            cls.CONSTRAINTS = cls.constraints_over(cls.AXES)
            # IRDL recognises a constant by its annotation.
            cls.__annotations__["CONSTRAINTS"] = "ClassVar[Constraints]"
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
