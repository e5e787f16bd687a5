"""The base of ops that pool regions of images."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.constraints import AtLeast, Constraints, FloatElements, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import float_property, required_ints_property
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import tensor_type
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import shape_text

FAR = 1 << 40
"""Coordinates farther outside are clamped to this when arrays are evaluated."""


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

    def image_numbers(self, rois: Array, count: int) -> list[int]:
        """Returns the index of the image of each region. Raises `InterpreterError` for an index that is no image's."""
        numbers = [int(number) if -1 < number < FAR else -1 for number in rois[:, 0].astype(np.float64)]
        wrong = next((number for number in numbers if not 0 <= number < count), None)
        if wrong is not None:
            raise InterpreterError(f"a region of image {wrong}, there are {count}")
        return numbers

    def wide_regions(self, data: Array, rois: Array) -> Array:
        """Returns the regions in the type in which coordinates are computed."""
        return rois.astype(np.float64 if np.float64 in (data.dtype, rois.dtype) else np.float32)
