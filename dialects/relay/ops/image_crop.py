"""`relay.image.crop_and_resize`: boxes of images resized to one size; and `relay.image.affine_grid`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.constraints import AtLeast, Constraints, FloatElements, IntegerElements, OneOf, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    float_property,
    image_axes,
    required_ints_property,
    string_property,
    without_empty_dtype,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.window_constraints import ElementType
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import shape_text


@register_relay_op
@irdl_op_definition
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
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {
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


@register_relay_op
@irdl_op_definition
class AffineGridOp(RelayOp):
    """The coordinates of an image of `target_shape`, transformed by matrices (N, 2, 3): a grid (N, 2, H, W).

    The grid is the operand of `image.grid_sample`. Coordinates range from -1 to 1, the outermost elements; the
    coordinate of a single element is 0. For x along columns and y along rows, `result[n, d] = data[n, d, 0] * x +
    data[n, d, 1] * y + data[n, d, 2]`.

    Constraints:
    - C4: the matrices are 2 times 3.
    - C5: `target_shape` has two numbers.

    Example:
    ```mlir
    %y = relay.image.affine_grid(%x) {target_shape = [3, 4]} : (tensor<2x2x3xf32>) -> tensor<2x2x3x4xf32>
    ```

    """

    name = "relay.image.affine_grid"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": FloatElements(),
        "C2": RankOf(0, 3, 3),
        "C3": AtLeast("target_shape", 0),
    }

    data = operand_def()

    target_shape = required_ints_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of the grid; checks C4 and C5."""
        (batch, rows, columns), element = facts.operand(0)
        facts.require_equal(rows, 2, "C4", "rows of a matrix")
        facts.require_equal(columns, 3, "C4", "columns of a matrix")
        size = ints(self.target_shape)
        facts.require(len(size) == 2, "C5", f"target_shape must have two numbers, found {list(size)}")
        return tensor_type((batch, 2, *size), element)
