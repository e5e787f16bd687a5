"""`relay.image.crop_and_resize`: boxes of images resized to one size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import Float64Type, f32, f64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.core.sliding_window import ElementType
from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    AttributeValue,
    Body,
    Facts,
    FloatElements,
    HalfPrecision,
    IntegerElements,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RelayOp,
    Tensors,
    TopiBuilder,
    cast_once,
    float_property,
    image_axes,
    ints,
    register_relay_op,
    required_ints_property,
    shape_text,
    string_property,
    tensor_type,
    without_empty_dtype,
)

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr


@register_relay_op
class CropAndResizeOp(RelayOp):
    """Boxes of images resized to `crop_size`: box n has corners `boxes[n]` (`y, x, y, x`) in image `box_indices[n]`.

    A corner coordinate of 0 is the first element along an axis, 1 the last. The result samples the box at even
    distances from corner to corner, or in the middle for a single sample. Outside of the image, samples are
    `extrapolation_value`. Inside, "bilinear" interpolates the surrounding elements, and "nearest_neighbor" takes the
    nearest, the later of two equally near ones. Sums are computed in f32, or in f64 if an operand is f64. Image indices
    are checked at run time.

    Constraints:
    - C6: the data has four axes, with at least one element along each spatial axis.
    - C7: the boxes are rows of 4 numbers, with one image index for each.
    - C8: `crop_size` has two numbers.

    Example:
    ```mlir
    %y = relay.image.crop_and_resize(%x, %boxes, %i) {crop_size = [3, 4]}
        : (tensor<2x3x5x6xf32>, tensor<4x4xf32>, tensor<4xi32>) -> tensor<4x3x3x4xf32>
    ```

    """

    name = "relay.image.crop_and_resize"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {
        "C1": FloatElements(),
        "C2": IntegerElements(2),
        "C3": OneOf("layout", ("NCHW", "NHWC")),
        "C4": OneOf("method", ("bilinear", "nearest_neighbor")),
        "C5": AtLeast("crop_size"),
        "C9": ElementType("out_dtype"),
    }

    data = operand_def()
    boxes = operand_def()
    box_indices = operand_def()

    crop_size = required_ints_property()
    layout = string_property("NCHW")
    method = string_property("bilinear")
    extrapolation_value = float_property(0.0)
    out_dtype = opt_prop_def()

    @property
    def image_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns."""
        return image_axes(self.layout)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of one image for each box; checks C6 to C8."""
        (shape, element), boxes, numbers = facts.operand(0), facts.shape(1), facts.shape(2)
        FloatElements(1).check("C1", facts, self.properties)
        facts.require(len(shape) == 4, "C6", f"images have four axes, found {shape_text(shape)}")
        rows, columns = self.image_axes[1:]
        for axis in (rows, columns):
            facts.require_at_least(shape[axis], 1, "C6", f"spatial extent of {shape_text(shape)}:")
        message = f"boxes of shape {shape_text(boxes)} with numbers of shape {shape_text(numbers)}"
        facts.require(len(boxes) == 2 and len(numbers) == 1, "C7", message)
        facts.require_equal(boxes[1], 4, "C7", "elements of a box", message=message)
        facts.require_equal(boxes[0], numbers[0], "C7", "boxes, and image indices,", message=message)
        size = ints(self.crop_size)
        facts.require(len(size) == 2, "C8", f"crop_size must have two numbers, found {list(size)}")
        result = [boxes[0], *shape[1:]]
        result[rows], result[columns] = size
        return tensor_type(result, self.element_type_property(self.out_dtype, element, "C9"))

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts an empty string for no type, as in Relay."""
        return without_empty_dtype(attributes)

    def evaluate(self, data: Array, boxes: Array, box_indices: Array) -> Array:
        """Resizes box by box."""
        from xrelay.dialects.relay.meaning.checked_indices import checked

        numbers = checked(box_indices, len(data), from_end=False)
        order, size = (0, *self.image_axes), ints(self.crop_size)
        image, kind = data.transpose(order), np.float64 if np.float64 in (data.dtype, boxes.dtype) else np.float32
        result = np.zeros((len(boxes), image.shape[1], *size), np.float64)
        outside = np.float64(kind(self.extrapolation_value.value.data))
        sample = _nearest if self.method.data == "nearest_neighbor" else _interpolate
        for number, box in enumerate(boxes.astype(kind)):
            own = image[numbers[number]].astype(np.float64)
            places: list[Array] = []
            insides: list[Array] = []
            for axis, extent in enumerate(own.shape[1:]):
                place = _coordinates(box[axis : axis + 1], box[axis + 2 : axis + 3], extent, size[axis])
                insides.append((place >= 0) & (place <= extent - 1))
                places.append(np.where(insides[-1], place, 0))
            result[number] = np.where(insides[0][:, None] & insides[1], sample(own, *places), outside)
        return cast_once(result.transpose(np.argsort(order)), self.result_dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds tables of row and column coordinates, and interpolates elements."""
        from xrelay.dialects.relay.computes.checked_indices import checked_indices
        from xrelay.dialects.relay.computes.interpolation import between_taps, nearest_tap, taps_around
        from xrelay.dialects.relay.computes.layouts import arrange

        data, boxes = build.operand(0), build.operand(1)
        real = f64 if Float64Type() in (build.element(data), build.element(boxes)) else f32
        images = checked_indices(build, build.operand(2), build.shape(data)[0], from_end=False)
        tables = [self._table(build, axis, real) for axis in (0, 1)]
        element, nearest = build.result_type.element_type, self.method.data == "nearest_neighbor"

        def fill(b: Body) -> SSAValue:
            number, (channel, *at) = b.spatial[0], (b.spatial[axis] for axis in self.image_axes)
            places = [b.read(table, number, index) for table, index in zip(tables, at, strict=True)]
            is_inside = b.compare(b.minimum(*places), "ge", 0)

            def read(row: AffineExpr, column: AffineExpr) -> SSAValue:
                at = b.read_index(images, number), channel, row, column
                return b.convert(b.read(data, *arrange((0, *self.image_axes), at)), real)

            def found() -> SSAValue:
                sizes = [build.shape(data)[axis] for axis in self.image_axes[1:]]
                if nearest:
                    row, column = (nearest_tap(b, *pair) for pair in zip(places, sizes, strict=True))
                    return read(row, column)
                rows, columns = (taps_around(b, *pair) for pair in zip(places, sizes, strict=True))
                lines = [between_taps(b, [read(row, column) for column in columns[0]], columns[1]) for row in rows[0]]
                return between_taps(b, lines, rows[1])

            outside = self.extrapolation_value.value.data
            value = b.guard(is_inside, real, found, outside)
            return b.convert(value, element)

        return [build.compute("crop_and_resize", build.result_shape, element, fill)]

    def _table(self, build: TopiBuilder, axis: int, real: Attribute) -> SSAValue:
        """Returns the table of coordinates along one axis, -1 outside of the image: (boxes, elements)."""
        from xdsl.dialects import arith

        boxes, count = build.operand(1), ints(self.crop_size)[axis]
        extent = build.shape(build.operand(0))[self.image_axes[axis + 1]]

        def place(b: Body) -> SSAValue:
            box, index = b.spatial
            first, last = (b.convert(b.read(boxes, box, end), real) for end in (axis, axis + 2))
            width, zero = b.size(extent - 1, real), b.constant(0, real)
            if count == 1:
                found = b.times(b.times(b.plus(first, last), 0.5), width)
            else:
                step = b.divide(b.times(b.minus(last, first), width), count - 1)
                found = b.plus(b.times(first, width), b.times(b.number(index, real), step))
            bounds = (zero, "oge"), (width, "ole")
            is_after, is_before = (b.add(arith.CmpfOp(found, edge, word)) for edge, word in bounds)
            return b.select(b.logical_and(is_after, is_before), found, -1)

        spatial = {"n": build.shape(boxes)[0], "o": count}
        return build.compute("crop_places", spatial, real, place)


def _coordinates(first: Array, last: Array, extent: int, count: int) -> Array:
    """Returns the coordinates of the result's elements along an axis, between corners that are one-element vectors."""
    kind = first.dtype.type
    if count == 1:
        return (first + last) * kind(0.5) * kind(extent - 1)
    step = (last - first) * kind(extent - 1) / kind(count - 1)
    return first * kind(extent - 1) + np.arange(count, dtype=first.dtype) * step


def _nearest(image: Array, rows: Array, columns: Array) -> Array:
    """Returns the nearest elements, the later of two equally near ones."""
    at, other = ((np.floor(each) + (each - np.floor(each) >= 0.5)).astype(np.int64) for each in (rows, columns))
    return image[:, at[:, None], other]


def _interpolate(image: Array, rows: Array, columns: Array) -> Array:
    """Interpolates bilinearly."""
    top, left = (np.floor(each).astype(np.int64) for each in (rows, columns))
    down, right = ((each - np.floor(each)).astype(np.float64) for each in (rows, columns))
    bottom, following = (
        np.minimum(at + 1, extent - 1) for at, extent in zip((top, left), image.shape[1:], strict=True)
    )
    above, below = (
        image[:, at[:, None], left] * (1 - right) + image[:, at[:, None], following] * right for at in (top, bottom)
    )
    return above * (1 - down[:, None]) + below * down[:, None]
