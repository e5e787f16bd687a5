"""Resizing of images: `relay.image.resize1d`, `image.resize2d`, `image.resize3d` and `dyn.image.resize`.

All use the rule of `dyn.image.resize` and resize one axis after the other unless two axes are linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, f32, i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.attribute_values import floats, ints, string_attribute
from xrelay.dialects.relay.core.constraints import AxisOf, Constraints, Finite, OneOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    bool_property,
    float_property,
    floats_property,
    int_property,
    required_ints_property,
    string_property,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.sliding_window import ImageOp
from xrelay.dialects.relay.core.window_constraints import ElementType, InLayouts, Layouts, Numbers
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import AnyDim, Dim, maximum

METHODS = ("nearest_neighbor", "linear", "cubic")
COORDINATES = (
    "half_pixel",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
    "half_pixel_symmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
ROUNDINGS = ("", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
CROP = "tf_crop_and_resize"


@dataclass(frozen=True)
class Resampling:
    """The rule by which an element of the result is computed from those of an axis."""

    method: str
    coordinates: str
    rounding: str
    """For `nearest_neighbor`: floor, ceil, round_prefer_floor or round_prefer_ceil."""
    cubic_alpha: float
    excludes: bool
    """Whether weights of indices outside of the axis are 0 and the others are normalised to a sum of 1."""
    extrapolation: float
    antialias: bool

    @property
    def reach(self) -> int:
        """The distance within which elements have a weight, for an axis that does not shrink."""
        return METHODS.index(self.method)

    @property
    def crops(self) -> bool:
        """Whether only a region of the axis is resized."""
        return self.coordinates == CROP

    @property
    def is_plain_linear(self) -> bool:
        """Whether an element is interpolated between two elements without normalising their weights."""
        return self.method == "linear" and not self.is_normalized

    @property
    def is_normalized(self) -> bool:
        """Whether the weights are divided by their sum."""
        return self.excludes or self.antialias

    def half_window(self, extent: Dim, size: Dim, *, by_scale: bool) -> Dim:
        """Returns the number of elements with a weight on each side of a coordinate.

        With a scale the size is a rounded product, so the window may be as large as for a size of half an element less.
        """
        if not self.antialias:
            return self.reach
        grown, shrunk = (2 * extent, 2 * size - 1) if by_scale else (extent, size)
        shrunk = maximum(1, shrunk)
        return maximum(self.reach, (grown * self.reach + shrunk - 1) // shrunk)

    def keeps(self, extent: Dim, size: Dim) -> bool:
        """Returns whether resizing an axis from `extent` to `size` certainly is the identity."""
        return extent == size and not self.crops


class ResizingOp(RelayOp):
    """Base of all ops that resize images."""

    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    data = operand_def()

    method = string_property("linear")
    coordinate_transformation_mode = string_property("half_pixel")
    rounding_method = string_property("")
    cubic_alpha = float_property(-0.5)
    cubic_exclude = int_property(0)
    extrapolation_value = float_property(0.0)
    out_dtype = opt_prop_def(Attribute)

    @property
    def antialiases(self) -> bool:
        """Whether an axis that shrinks is sampled with a wider window."""
        return False

    @property
    def resampling(self) -> Resampling:
        """The rule for each axis, in terms of the values that C3 to C5 allow."""
        coordinates, rounding = self.coordinate_transformation_mode.data, self.rounding_method.data
        if rounding in ("", "round"):
            rounding = "round_prefer_ceil" if rounding or coordinates == "align_corners" else "floor"
        return Resampling(
            self.method.data,
            coordinates,
            rounding,
            self.cubic_alpha.value.data,
            bool(self.cubic_exclude.value.data),
            self.extrapolation_value.value.data,
            self.antialiases,
        )

    def result_element(self, facts: Facts, constraint: str) -> Attribute:
        """Returns the element type of the result; checks that booleans are not weighted (`constraint`)."""
        element = facts.element(0)
        found = self.element_type_property(self.out_dtype, element, "C6")
        weighs = self.method.data != METHODS[0]
        message = "weighted sums of booleans are not supported"
        facts.require(not (weighs and i1 in (element, found)), constraint, message, help="cast them, or use nearest")
        return found


WORDS: Constraints = {
    "C3": OneOf("method", METHODS),
    "C4": OneOf("coordinate_transformation_mode", COORDINATES),
    "C5": OneOf("rounding_method", ROUNDINGS),
    "C6": ElementType("out_dtype"),
}
"""The constraints on the string properties of all these ops."""

FINITE = Finite(("cubic_alpha", "roi"))
"""The numbers from which coordinates and weights are computed. An infinite number would make most of them NaN."""


class ResizeOp(ResizingOp, ImageOp):
    """Base of the ops with known sizes; `image.resize2d` documents the constraints."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    ARGUMENTS: ClassVar[tuple[str, ...]] = (
        "size",
        "roi",
        "layout",
        "method",
        "coordinate_transformation_mode",
        "rounding_method",
        "cubic_alpha",
        "cubic_exclude",
        "extrapolation_value",
        "out_dtype",
    )

    size = required_ints_property()
    roi = floats_property()
    layout = string_property("")

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C1 to C7 and C12."""
        image = f"NC{axes}"
        fit = {"C1": Layouts((("layout", image),), whole=axes), "C2": InLayouts((("layout", image),))}
        return {**fit, **WORDS, "C7": Numbers(("size",), (len(axes),), positive=False), "C12": FINITE}

    @property
    def data_layout(self) -> Layout:
        """The layout of data and result."""
        return self.layout_over(self.layout.data, self.image_axes)

    def spans(self) -> list[tuple[float, float] | None]:
        """Returns the region (start, end) of each spatial axis, as fractions of its length; None without cropping."""
        count = len(self.AXES)
        values = floats(self.roi) if self.resampling.crops else ()
        return [(values[at], values[at + count]) if values else None for at in range(count)]

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's batch and channels with the sizes; checks C8 to C10."""
        layout, shape = self.data_layout, facts.shape(0)
        extents = self.extents_in(layout, shape)
        count, found = len(self.AXES), list(floats(self.roi))
        legal = not self.resampling.crops or len(found) == 2 * count
        facts.require(legal, "C8", f"a region of {count} axes has {2 * count} numbers, roi is {found}")
        for axis, size in zip(self.AXES, ints(self.size), strict=True):
            if size:
                facts.require_at_least(extents[axis], 1, "C9", f"{axis} extent of the data")
        sizes = dict(zip(self.AXES, ints(self.size), strict=True))
        return tensor_type(layout.shape_from(extents | sizes), self.result_element(facts, "C10"))

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if it does not split spatial axes."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        if sorted(layout.primal) != sorted(self.image_axes) or any(layout.factor(axis) for axis in self.AXES):
            return LayoutRefusal(f"resizing does not support layout {layout}")
        own = str(self.data_layout)
        if own != str(layout.text):
            return LayoutRefusal(f"it supports {own}, its data has layout {layout.text}")
        return LayoutDecision((layout,), layout, {"layout": string_attribute(str(layout))})


@register_relay_op
@irdl_op_definition
class Resize1DOp(ResizeOp):
    """Signals resized to another length; `image.resize2d` documents C8 to C10.

    Example:
    ```mlir
    %y = relay.image.resize1d(%x) {size = [12]} : (tensor<1x3x8xf32>) -> tensor<1x3x12xf32>
    ```

    """

    name = "relay.image.resize1d"
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
class Resize2DOp(ResizeOp):
    """Images resized to height and width `size`, by the rule of `dyn.image.resize` without a scale.

    `round` rounds halves up. An empty rounding method is `round` for `align_corners` coordinates and `floor` for
    others.

    Constraints:
    - C8: if a region is resized, `roi` has two numbers for each spatial axis, all starts before all ends.
    - C9: height and width of the data are at least 1.
    - C10: booleans require `nearest_neighbor`, because they have no weighted sums.

    Example:
    ```mlir
    %y = relay.image.resize2d(%x) {size = [6, 9], method = "cubic"} : (tensor<1x3x4x4xf32>) -> tensor<1x3x6x9xf32>
    ```

    """

    name = "relay.image.resize2d"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class Resize3DOp(ResizeOp):
    """Volumes resized to another depth, height and width; `image.resize2d` documents C8 to C10.

    Example:
    ```mlir
    %y = relay.image.resize3d(%x) {size = [2, 6, 9], coordinate_transformation_mode = "align_corners"}
        : (tensor<1x3x3x4x4xf32>) -> tensor<1x3x2x6x9xf32>
    ```

    """

    name = "relay.image.resize3d"
    AXES: ClassVar[str] = "DHW"


@register_relay_op
@irdl_op_definition
class DynResizeOp(ResizingOp):
    """The data with `axes` resized: each element is a weighted sum of those around its coordinate in the data.

    `size` and `scale` have a number for each of `axes`. A scale of 0 means exactly the size divided by the extent; any
    other scale divides in f32. With o an index of the result, n the extent of the data, and width the size, or the
    scale times n if a scale is given, the coordinate of o is

        half_pixel            (o + 0.5) / scale - 0.5
        pytorch_half_pixel    the same, but 0 where the size is 1
        half_pixel_symmetric  n / 2 * (1 - size / width) + (o + 0.5) / scale - 0.5, or the multiple of 0.5
                              nearest to it if the difference is within the rounding error of the f32 scale
        tf_half_pixel_for_nn  (o + 0.5) / scale, and o where the scale is 1
        asymmetric            o / scale
        align_corners         o * (n - 1) / (width - 1), and 0 where the width is 1
        tf_crop_and_resize    start * (n - 1) + o * (end - start) * (n - 1) / (width - 1), and
                              (start + end) / 2 * (n - 1) where the width is 1

    `roi` has the starts of all axes and then the ends, as fractions of their lengths. In the mode `tf_crop_and_resize`,
    coordinates outside of the axis get `extrapolation_value`; the other modes extend the outermost elements.

    `nearest_neighbor` takes the element selected by `rounding_method`. `linear` weights the two elements around the
    coordinate, which is clamped to the axis, by 1 - d for the distance d. If it resizes two axes, it sums the four
    elements in row-major order, each times the product of its weights. `cubic` weights four elements by the spline with
    coefficient a = `cubic_alpha`: (a + 2) d³ - (a + 3) d² + 1 up to a distance of 1, and a d³ - 5 a d² + 8 a d - 4 a up
    to 2. With `cubic_exclude` the weights of indices outside of the axis are 0. With `antialias` distances in an axis
    that shrinks are multiplied by the scale, so that more elements have a weight, at most 2 * ceil(2 * reach * n / (2 *
    size - 1)). Both divide the weights by their sum. Half-precision elements are weighted in f32, integers in f64. The
    sums of integers are rounded half to even and clipped to the type.

    Constraints:
    - C7: the sizes are a vector of integers, one for each of `axes`, and none is negative.
    - C8: `scale` is f32 and has a number for each of `axes`; `roi` has two.
    - C9: the axes have at least one element.
    - C10: booleans require `nearest_neighbor`, because they have no weighted sums.
    - C11: `antialias` is for methods with weights.

    Example:
    ```mlir
    %size = relay.constant dense<[6, 9]> : tensor<2xi64>
    %scale = relay.constant dense<[1.5, 0.0]> : tensor<2xf32>
    %y = relay.dyn.image.resize(%x, %size, %scale, %roi) {axes = [2, 3]}
        : (tensor<1x3x4x4xf32>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> tensor<1x3x6x9xf32>
    ```

    """

    name = "relay.dyn.image.resize"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf("axes"), **WORDS, "C12": Finite(("cubic_alpha",))}
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE

    data = operand_def()
    size = operand_def()
    scale = operand_def()
    roi = operand_def()

    axes = required_ints_property()
    antialias = bool_property(False)

    @property
    def shape_depends_on_data(self) -> bool:
        """The shape depends on the sizes."""
        return True

    @property
    def antialiases(self) -> bool:
        """Whether an axis that shrinks is sampled with a wider window."""
        return bool(self.antialias.value.data)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the sizes as extents, new extents if they are not known; checks C7 to C11."""
        shape, count = list(facts.shape(0)), len(ints(self.axes))
        self._check_numbers(facts, count)
        elements = facts.elements(1)
        for number, axis in enumerate(ints(self.axes)):
            facts.require_at_least(shape[axis], 1, "C9", f"extent of axis {axis}")
            shape[axis] = self._size(facts, axis, None if elements is None else elements[number])
        plain = self.antialiases and self.method.data == METHODS[0]
        facts.require(not plain, "C11", f"antialias with method {self.method.data}, which has no weights")
        return tensor_type(shape, self.result_element(facts, "C10"))

    def _check_numbers(self, facts: Facts, count: int) -> None:
        """Checks C7 and C8 except for the values of the sizes."""
        sizes, kind = facts.operand(1)
        is_list = sizes == (count,) and isinstance(kind, IntegerType) and kind.width.data > 1
        facts.require(is_list, "C7", lambda: f"the sizes of {count} axes are {facts[1]}")
        for index, wanted, what in ((2, count, "scales"), (3, 2 * count, "regions")):
            legal = facts.operand(index) == ((wanted,), f32)
            message = f"the {what} of {count} axes are {wanted} numbers of f32, found {facts[index]}"
            facts.require(legal, "C8", message)

    def _size(self, facts: Facts, axis: int, element: Dim | None) -> Dim:
        """Returns an element of the sizes as an extent; checks C7."""
        if element is None or isinstance(element, AnyDim):
            return facts.new_extent("e", axis)
        facts.require_at_least(element, 0, "C7", "size")
        return element


RESIZES = (Resize1DOp, Resize2DOp, Resize3DOp)
