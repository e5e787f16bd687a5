"""`relay.nn.upsampling` and `relay.nn.upsampling3d`: images resized by factors."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite
from typing import ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.resampling import COORDINATES, METHODS
from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    Facts,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    Quantization,
    Shape,
    bool_property,
    float_property,
    register_relay_op,
    shape_of,
    shape_text,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.ops.image.resize import Resize2DOp, Resize3DOp, ResizeOp
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder


def image_resizing(layout: str, method: str, *, align_corners: bool) -> dict[str, AttributeValue]:
    """Returns the attributes, except for the size, of the `image.resize2d` that is equivalent to an upsampling."""
    coordinates = "align_corners" if align_corners else "asymmetric"
    return {"method": method.removeprefix("bi"), "coordinate_transformation_mode": coordinates, "layout": layout}


def volume_resizing(layout: str, method: str, coordinates: str) -> dict[str, AttributeValue]:
    """Returns the attributes, except for the size, of the `image.resize3d` that is equivalent to an upsampling."""
    return {"method": method.removeprefix("tri"), "coordinate_transformation_mode": coordinates, "layout": layout}


class UpsamplingOp(CompositeOp):
    """Base of the ops that resize images by factors; sizes are rounded to the nearest integer, halves up.

    Constraints shared by both:
    - C3: the data has the axes of the layout, and known extents of at least 1 along the spatial ones.
    - C4: the factors are positive numbers.
    - C6: booleans require `nearest_neighbor`, because they have no weighted sums.
    """

    MIXED_PRECISION = MixedPrecision.FOLLOW
    PATTERN = OpPatternKind.INJECTIVE
    AXES: ClassVar[str]
    RESIZE: ClassVar[type[ResizeOp]]

    data = operand_def()

    layout = string_property()

    @property
    def factors(self) -> Sequence[float]:
        """The factor of each spatial axis."""
        raise NotImplementedError(f"{self.name} has no factors")

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the extents times their factors; checks C3, C4 and C6."""
        shape, element = facts.operand(0)
        takes_nearest = self.resizing["method"] == METHODS[0]
        facts.require(
            takes_nearest or element != i1,
            "C6",
            "weighted sums of booleans are not supported",
            help="cast them, or use nearest",
        )
        layout, factors = self.layout.data, self.factors
        facts.require(all(isfinite(each) and each > 0 for each in factors), "C4", f"factors of {list(factors)}")
        facts.require(len(shape) == len(layout), "C3", f"data of shape {shape_text(shape)} for layout {layout}")
        spatial = [shape[layout.index(axis)] for axis in self.AXES]
        known = all(isinstance(extent, int) and extent > 0 for extent in spatial)
        facts.require(known, "C3", f"spatial extents {shape_text(spatial)} are unknown or 0")
        result = list(shape)
        for axis, size in zip(self.AXES, self.sizes(shape), strict=True):
            result[layout.index(axis)] = size
        return tensor_type(result, element)

    def sizes(self, shape: Shape) -> list[int]:
        """Returns the new extents of the spatial axes."""
        extents = [shape[self.layout.data.index(axis)] for axis in self.AXES]
        numbers = [extent for extent in extents if isinstance(extent, int)]
        return [floor(extent * factor + 0.5) for extent, factor in zip(numbers, self.factors, strict=True)]

    @property
    def resizing(self) -> dict[str, AttributeValue]:
        """The attributes of the resizing op: method, coordinates and layout, but not the size."""
        raise NotImplementedError(f"{self.name} has no method")

    def evaluate(self, data: Array) -> Array:
        """Repeats elements for whole factors with nearest elements, otherwise evaluates the resizing op."""
        resizing = self.resizing
        is_plain = resizing["method"] == METHODS[0] and resizing["coordinate_transformation_mode"] == "asymmetric"
        if is_plain and all(factor == int(factor) for factor in self.factors):
            for axis, factor in zip(self.AXES, self.factors, strict=True):
                data = np.repeat(data, int(factor), self.layout.data.index(axis))
            return data
        block, shape = Block(arg_types=[self.data.type]), shape_of(self.result.type)
        size = [shape[self.layout.data.index(axis)] for axis in self.AXES]
        return self.RESIZE.call(*block.args, size=cast("list[int]", size), **resizing).evaluate(data)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The resizing op."""
        (data,) = build.operands
        return build.op(self.RESIZE.relay_name(), data, size=self.sizes(shape_of(data.type)), **self.resizing)


@register_relay_op
class Upsampling2DOp(UpsamplingOp):
    """Images resized to `scale_h` times the height and `scale_w` times the width, as by `image.resize2d`.

    The coordinates are "align_corners" if `align_corners` is set, else "asymmetric". `method` "nearest_neighbor" takes
    the nearest element with `align_corners`, else the element at the floor of the coordinate.

    Constraints:
    - C3: the data has the axes of the layout, and known extents of at least 1 along the spatial ones.
    - C4: the factors are positive numbers.
    - C6: booleans require `nearest_neighbor`, because they have no weighted sums.

    Example:
    ```mlir
    %y = relay.nn.upsampling(%x) {scale_h = 2.0, scale_w = 1.5, method = "bilinear"}
        : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x6xf32>
    ```

    """

    name = "relay.nn.upsampling"
    QUANTIZATION = Quantization.MEAN
    CONSTRAINTS = {
        "C1": OneOf("layout", ("NCHW", "NHWC")),
        "C2": OneOf("method", ("nearest_neighbor", "bilinear", "bicubic")),
    }
    AXES = "HW"
    RESIZE = Resize2DOp

    scale_h = float_property(1.0)
    scale_w = float_property(1.0)
    layout = string_property("NCHW")
    method = string_property("nearest_neighbor")
    align_corners = bool_property(False)

    @property
    def factors(self) -> Sequence[float]:
        """The factors of height and width."""
        return self.scale_h.value.data, self.scale_w.value.data

    @property
    def resizing(self) -> dict[str, AttributeValue]:
        """Method, coordinates and layout."""
        return image_resizing(self.layout.data, self.method.data, align_corners=bool(self.align_corners.value.data))


@register_relay_op
class Upsampling3DOp(UpsamplingOp):
    """Volumes with depth, height and width times `scale_d`, `scale_h` and `scale_w`, as by `image.resize3d`.

    Constraints:
    - C3: the data has the axes of the layout, and known extents of at least 1 along the spatial ones.
    - C4: the factors are positive numbers.
    - C6: booleans require `nearest_neighbor`, because they have no weighted sums.

    Example:
    ```mlir
    %y = relay.nn.upsampling3d(%x) {scale_d = 2.0, scale_h = 2.0, scale_w = 2.0, method = "trilinear"}
        : (tensor<1x1x2x3x2xf32>) -> tensor<1x1x4x6x4xf32>
    ```

    """

    name = "relay.nn.upsampling3d"
    CONSTRAINTS = {
        "C1": OneOf("layout", ("NCDHW", "NDHWC")),
        "C2": OneOf("method", ("nearest_neighbor", "trilinear")),
        "C5": OneOf("coordinate_transformation_mode", COORDINATES[:3]),
    }
    AXES = "DHW"
    RESIZE = Resize3DOp

    scale_d = float_property(1.0)
    scale_h = float_property(1.0)
    scale_w = float_property(1.0)
    layout = string_property("NCDHW")
    method = string_property("nearest_neighbor")
    coordinate_transformation_mode = string_property("half_pixel")

    @property
    def factors(self) -> Sequence[float]:
        """The factors of depth, height and width."""
        return self.scale_d.value.data, self.scale_h.value.data, self.scale_w.value.data

    @property
    def resizing(self) -> dict[str, AttributeValue]:
        """Method, coordinates and layout."""
        return volume_resizing(self.layout.data, self.method.data, self.coordinate_transformation_mode.data)
