"""`relay.image.grid_sample`: elements between those of an image, at places that an operand says."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import Constraints, FloatElements, OneOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import shape_text

SAMPLINGS = ("nearest", "bilinear", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
CUBIC = -0.75
"""The coefficient of the spline."""


@register_relay_op
@irdl_op_definition
class GridSampleOp(RelayOp):
    """The elements of images, or of volumes, at places between -1 and 1 along each axis.

    Data (N, C, H, W) and a grid (N, 2, H', W') give (N, C, H', W'); with layout NCDHW there is one axis more of each.
    The second axis of the grid has the places along the last axis first. With n the extent, x lies at
    `(x + 1) / 2 * (n - 1)` with `align_corners`, so that -1 and 1 are the outermost elements, else at
    `((x + 1) * n - 1) / 2`, their outer edges. A place that is no number lies far outside.

    `nearest` takes the element at the place rounded to even, `bilinear` weighs the nearest ones along each axis, and
    `bicubic` four by the spline with coefficient -0.75 (see `dyn.image.resize`). Outside of the data are `zeros`; with
    `border` the outermost elements go on, and places beyond them, or beyond their outer edges, are brought to them,
    but for `bicubic`, which weighs what goes on; `reflection` mirrors places and elements there. Sums are made in f32,
    of integers and f64 in f64; of integers they are rounded and clipped.

    Constraints:
    - C5: data has the axes of the layout, the grid as many, one place for each spatial axis, and an equal batch.
    - C6: the data has at least one element along each spatial axis.
    - C7: `bicubic` is for images.
    - C8: booleans have no weighted sums: of them the nearest is taken.

    Example:
    ```mlir
    %y = relay.image.grid_sample(%x, %grid) {padding_mode = "border"}
        : (tensor<2x3x4x5xf32>, tensor<2x2x6x7xf32>) -> tensor<2x3x6x7xf32>
    ```

    """

    name = "relay.image.grid_sample"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": OneOf("method", SAMPLINGS),
        "C2": OneOf("layout", ("NCHW", "NCDHW")),
        "C3": OneOf("padding_mode", PADDINGS),
        "C4": FloatElements(1),
    }

    data = operand_def()
    grid = operand_def()

    method = string_property("bilinear")
    layout = string_property("NCHW")
    padding_mode = string_property("zeros")
    align_corners = bool_property(True)

    def infer_type(self, facts: Facts) -> Attribute:
        """Batch and channels of the data, the other axes of the grid; C5 to C8."""
        (shape, element), grid = facts.operand(0), facts.shape(1)
        rank = len(self.layout.data)
        texts = f"data of shape {shape_text(shape)} and a grid of shape {shape_text(grid)} for {self.layout.data}"
        facts.require(len(shape) == len(grid) == rank, "C5", texts)
        facts.require_equal(grid[0], shape[0], "C5", "batches of grid and data")
        facts.require_equal(grid[1], rank - 2, "C5", "places of the grid for each element")
        for extent in shape[2:]:
            facts.require_at_least(extent, 1, "C6", "a spatial extent of the data")
        method = self.method.data
        facts.require(method != SAMPLINGS[2] or rank == 4, "C7", f"{method} with layout {self.layout.data}")
        facts.require(method == SAMPLINGS[0] or element != i1, "C8", "booleans have no weighted sums")
        return tensor_type((*shape[:2], *grid[2:]), element)
