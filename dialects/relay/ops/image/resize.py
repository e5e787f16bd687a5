"""Resizing of images: `relay.image.resize1d`, `image.resize2d`, `image.resize3d` and `dyn.image.resize`.

All use the rule of `dyn.image.resize` and resize one axis after the other unless two axes are linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import IntegerType, f32, f64, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.core.resampling import COORDINATES, METHODS, ROUNDINGS, Resampling
from xrelay.dialects.relay.core.sliding_window import ElementType, ImageOp, InLayouts, Layouts, Numbers
from xrelay.dialects.relay.op_definition import (
    AnyDim,
    Array,
    AttributeValue,
    AxisOf,
    Body,
    Constraints,
    Dim,
    Facts,
    Finite,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    Quantization,
    RelayOp,
    Tensors,
    TopiBuilder,
    axis_index,
    bool_property,
    float_property,
    floats,
    floats_property,
    int_property,
    ints,
    not_differentiable,
    register_relay_op,
    required_ints_property,
    string_attribute,
    string_property,
    tensor_type,
)
from xrelay.errors import InterpreterError

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.resize import AxisPlaces


class ResizingOp(RelayOp):
    """Base of all ops that resize images."""

    MIXED_PRECISION = MixedPrecision.FOLLOW
    HALF_PRECISION = HalfPrecision.SINGLE

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

    def lines(self, extent: Dim, like: SSAValue, build: GradientBuilder) -> SSAValue:
        """Returns unit vectors of `extent` elements; their resized values are the weights of each element."""
        if not isinstance(extent, int):
            raise not_differentiable(self, f"the extent {extent} of its data is not known")
        return build.constant(np.eye(extent)[None], like)

    @property
    def weight_attributes(self) -> dict[str, AttributeValue]:
        """The attributes that affect the weights of elements."""
        names = ("method", "coordinate_transformation_mode", "rounding_method", "cubic_alpha", "cubic_exclude")
        return {name: self.properties[name] for name in names}


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

    QUANTIZATION = Quantization.MEAN
    PATTERN = OpPatternKind.INJECTIVE
    ARGUMENTS = (
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

    @property
    def spans(self) -> list[tuple[float, float] | None]:
        """The region (start, end) of each spatial axis, as fractions of its length; None without cropping."""
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

    def evaluate(self, data: Array) -> Array:
        """Resizes the spatial axes in any layout."""
        from xrelay.dialects.relay.meaning.resize import ResizedAxis, resized

        rule, letters = self.resampling, str(self.data_layout.primal)
        rows = zip(map(letters.index, self.AXES), ints(self.size), self.spans, strict=True)
        axes = [ResizedAxis(axis, size, 0.0, region) for axis, size, region in rows]
        # Unchanged axes are skipped, because infinite neighbours with weight 0 would make an element NaN.
        changed = [axis for axis in axes if not rule.keeps(data.shape[axis.axis], axis.size)]
        return resized(data, changed, rule, self.result_dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Resizes the spatial axes in any layout."""
        from xrelay.dialects.relay.computes.resize import AxisPlaces, resized

        shape, letters = build.shape(build.operand(0)), str(self.data_layout.primal)
        axes: dict[int, AxisPlaces] = {}
        for letter, size, region in zip(self.AXES, ints(self.size), self.spans, strict=True):
            axis = letters.index(letter)

            def of_region(b: Body, found: tuple[float, float] = region or (0.0, 1.0)) -> tuple[SSAValue, SSAValue]:
                return b.constant(found[0], f64), b.constant(found[1], f64)

            axes[axis] = AxisPlaces(shape[axis], size, None, of_region)
        return [resized(build, self.resampling, axes)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Multiplies by the weights of the elements along each spatial axis."""
        of, layout, count, roi = build.cast_like(of, self.data), self.data_layout, len(self.AXES), floats(self.roi)
        for number, (letter, size) in enumerate(zip(self.AXES, ints(self.size), strict=True)):
            axis = layout.index(letter)
            extent = build.shape(self.data)[axis]
            if isinstance(extent, int) and self.resampling.keeps(extent, size):
                continue
            lines, rule = self.lines(extent, of, build), self.weight_attributes
            region = [roi[number], roi[number + count]] if self.resampling.crops else ()
            weights = build.op("image.resize1d", lines, size=(size,), roi=region, layout="NWC", **rule)
            of = build.multiply_axis(of, axis, build.op("squeeze", weights, axis=[0]))
        return [of]


@register_relay_op
class Resize1DOp(ResizeOp):
    """Signals resized to another length; `image.resize2d` documents C8 to C10.

    Example:
    ```mlir
    %y = relay.image.resize1d(%x) {size = [12]} : (tensor<1x3x8xf32>) -> tensor<1x3x12xf32>
    ```

    """

    name = "relay.image.resize1d"
    AXES = "W"


@register_relay_op
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
    AXES = "HW"


@register_relay_op
class Resize3DOp(ResizeOp):
    """Volumes resized to another depth, height and width; `image.resize2d` documents C8 to C10.

    Example:
    ```mlir
    %y = relay.image.resize3d(%x) {size = [2, 6, 9], coordinate_transformation_mode = "align_corners"}
        : (tensor<1x3x3x4x4xf32>) -> tensor<1x3x2x6x9xf32>
    ```

    """

    name = "relay.image.resize3d"
    AXES = "DHW"


@register_relay_op
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
    CONSTRAINTS = {"C1": AxisOf("axes"), **WORDS, "C12": Finite(("cubic_alpha",))}
    PATTERN = OpPatternKind.OPAQUE

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

    def evaluate(self, data: Array, size: Array, scale: Array, roi: Array) -> Array:
        """Resizes the axes in the order of `axes`."""
        from xrelay.dialects.relay.meaning.resize import ResizedAxis, resized

        axes: list[ResizedAxis] = []
        for number, axis in enumerate(ints(self.axes)):
            wanted = int(size[number])
            if wanted < 0:
                raise InterpreterError(f"[{self.name} C7] size {number} is {wanted}")
            region = (float(roi[number]), float(roi[number + len(size)]))
            axes.append(ResizedAxis(axis % data.ndim, wanted, float(scale[number]), region))
        return resized(data, axes, self.resampling, self.result_dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Resizes the axes in the order of `axes`; scales and regions are read at run time."""
        from xrelay.dialects.relay.computes.resize import AxisPlaces, resized

        build.require_no_new_extents()
        shape, scales, roi = build.shape(build.operand(0)), build.operand(2), build.operand(3)
        named = [axis_index(axis, len(shape)) for axis in ints(self.axes)]
        axes: dict[int, AxisPlaces] = {}
        for number, axis in enumerate(named):

            def scale(b: Body, at: int = number) -> SSAValue:
                return b.convert(b.read(scales, at), f64)

            def region(b: Body, at: int = number) -> tuple[SSAValue, SSAValue]:
                first, last = (b.convert(b.read(roi, place), f64) for place in (at, at + len(named)))
                return first, last

            axes[axis] = AxisPlaces(shape[axis], build.result_shape[axis], scale, region)
        return [resized(build, self.resampling, axes)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Multiplies by the weights of the elements along each axis; None for sizes, scales and regions."""
        of, rank = build.cast_like(of, self.data), len(build.shape(self.data))
        axes = [axis_index(axis, rank) for axis in ints(self.axes)]
        rule: dict[str, AttributeValue] = {**self.weight_attributes, "antialias": self.antialiases}
        for number, axis in enumerate(axes):
            lines = self.lines(build.shape(self.data)[axis], of, build)
            size, scale = (build.op("take", each, _vector(build, number), axis=0) for each in (self.size, self.scale))
            region = build.op("take", self.roi, _vector(build, number, number + len(axes)), axis=0)
            weights = build.op("dyn.image.resize", lines, size, scale, region, axes=[1], **rule)
            of = build.multiply_axis(of, axis, build.op("squeeze", weights, axis=[0]))
        return [of, None, None, None]


def _vector(build: GradientBuilder, *numbers: int) -> SSAValue:
    """Returns a constant vector of integers."""
    return build.constant(np.array(numbers, np.int64))


RESIZES = (Resize1DOp, Resize2DOp, Resize3DOp)
