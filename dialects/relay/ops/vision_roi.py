"""Regions of images pooled to one size: `relay.vision.roi_align` and `relay.vision.roi_pool`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.constraints import AtLeast, Constraints, FloatElements, OneOf, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    bool_property,
    float_property,
    image_axes,
    int_property,
    required_ints_property,
    string_property,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import shape_text

ROI_MODES = ("avg", "max", "max_of_terms")


class RegionOp(RelayOp):
    """Base of the ops that pool regions of a batch of images. A region is a row `image, x, y, x, y` of corners.

    Image indices are checked at run time.

    Constraints shared by both:
    - C1: the elements of images and regions are floats.
    - C2: `pooled_size` has two numbers, each 1 or more.
    - C3: the images have four axes, with at least one element along each spatial axis.
    - C4: the regions are rows of 5 numbers.
    """

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": FloatElements(),
        "C2": AtLeast("pooled_size"),
        "C3": RankOf(0, 4, 4),
        "C4": RankOf(1, 2, 2),
    }

    data = operand_def()
    rois = operand_def()

    pooled_size = required_ints_property()
    spatial_scale = float_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts one number for both extents."""
        size = attributes.get("pooled_size")
        if isinstance(size, int):
            attributes["pooled_size"] = (size, size)
        return attributes

    @property
    def image_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns."""
        return (1, 2, 3)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of one pooled image for each region; checks C2 to C4."""
        (shape, element), (count, numbers) = facts.operand(0), facts.shape(1)
        FloatElements(1).check("C1", facts, self.properties)
        size = ints(self.pooled_size)
        facts.require(len(size) == 2, "C2", f"pooled_size must have two numbers, found {list(size)}")
        for axis in self.image_axes[1:]:
            facts.require_at_least(shape[axis], 1, "C3", f"spatial extent of {shape_text(shape)}:")
        facts.require_equal(numbers, 5, "C4", "numbers of a region")
        result = [count, *shape[1:]]
        result[self.image_axes[1]], result[self.image_axes[2]] = size
        return tensor_type(result, element)


@register_relay_op
@irdl_op_definition
class RoiAlignOp(RegionOp):
    """Regions of images pooled to `pooled_size`: each element is the mean of interpolated samples of a bin.

    Corners are multiplied by `spatial_scale`. Unless `aligned`, a region has at least extent 1. Along each axis it is
    divided into one bin for each element of the result. A bin of size s has m samples at `(i + 0.5) * s / m` from its
    start, where m is `sample_ratio`, or s rounded up if `sample_ratio` is not positive. A sample more than 1 before the
    first element, or beyond the extent, is 0; other samples are clamped to the outermost elements and interpolated
    bilinearly. `mode` "max" takes the greatest sample, and "max_of_terms" the greatest of all weighted elements (as
    ONNX does). A bin without samples yields 0. Sums are computed in f32, or in f64 if an operand is f64.

    Constraints:
    - C5: `layout` is "NCHW" or "NHWC".
    - C6: `mode` is "avg", "max" or "max_of_terms".

    Example:
    ```mlir
    %y = relay.vision.roi_align(%x, %rois) {pooled_size = [3, 2], spatial_scale = 1.0, sample_ratio = 2}
        : (tensor<2x3x6x7xf32>, tensor<4x5xf32>) -> tensor<4x3x3x2xf32>
    ```

    """

    name = "relay.vision.roi_align"
    CONSTRAINTS: ClassVar[Constraints] = {
        **RegionOp.CONSTRAINTS,
        "C5": OneOf("layout", ("NCHW", "NHWC")),
        "C6": OneOf("mode", ROI_MODES),
    }

    data = operand_def()
    rois = operand_def()

    pooled_size = required_ints_property()
    spatial_scale = float_property()
    sample_ratio = int_property(-1)
    layout = string_property("NCHW")
    mode = string_property("avg")
    aligned = bool_property(False)

    @property
    def image_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns."""
        return image_axes(self.layout)


@register_relay_op
@irdl_op_definition
class RoiPoolOp(RegionOp):
    """Regions of images pooled to `pooled_size`: each element is the maximum over a bin of the region.

    Corners are multiplied by `spatial_scale` and rounded, halves away from zero. Both are inclusive; a region has at
    least one element. Along each axis it is divided into one bin for each element of the result. The bins have equal
    size and include elements that they contain partially. A bin without elements of the image yields 0.

    Constraints:
    - C5: `layout` is "NCHW".

    Example:
    ```mlir
    %y = relay.vision.roi_pool(%x, %rois) {pooled_size = [3, 2], spatial_scale = 1.0}
        : (tensor<2x3x6x7xf32>, tensor<4x5xf32>) -> tensor<4x3x3x2xf32>
    ```

    """

    name = "relay.vision.roi_pool"
    CONSTRAINTS: ClassVar[Constraints] = {**RegionOp.CONSTRAINTS, "C5": OneOf("layout", ("NCHW",))}

    data = operand_def()
    rois = operand_def()

    pooled_size = required_ints_property()
    spatial_scale = float_property()
    layout = string_property("NCHW")
