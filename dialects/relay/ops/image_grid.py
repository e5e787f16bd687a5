"""`relay.image.grid_sample`: samples of images at coordinates from an operand."""

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
    """Samples of images, or of volumes, at coordinates between -1 and 1 along each axis.

    Data (N, C, H, W) and a grid (N, 2, H', W') give (N, C, H', W'); layout NCDHW adds one axis to each. The second axis
    of the grid has the coordinate along the last axis first. With `align_corners`, coordinate x of an axis of extent n
    is index `(x + 1) / 2 * (n - 1)`, so that -1 and 1 are the outermost elements. Otherwise it is `((x + 1) * n - 1) /
    2`, so that -1 and 1 are their outer edges. NaN is far outside.

    `nearest` takes the element at the index rounded half to even, `bilinear` interpolates the two nearest elements
    along each axis, and `bicubic` four by the spline with coefficient -0.75 (see `dyn.image.resize`). With `zeros`,
    elements outside of the data are 0. `border` extends the outermost elements: it clamps indices to them, except for
    `bicubic`, which interpolates the extended data. `reflection` mirrors indices and elements at the outermost
    elements, or at their outer edges without `align_corners`. Sums are computed in f32, for integers and f64 in f64.
    Sums of integers are rounded and clipped.

    Constraints:
    - C5: the data has the axes of the layout; the grid has as many axes, one coordinate for each spatial axis, and the
      same batch.
    - C6: the data has at least one element along each spatial axis.
    - C7: `bicubic` is for images.
    - C8: booleans require `nearest`, because they have no weighted sums.

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
        """Returns the type with the data's batch and channels and the grid's other axes; checks C5 to C8."""
        (shape, element), grid = facts.operand(0), facts.shape(1)
        rank = len(self.layout.data)
        texts = f"data of shape {shape_text(shape)} and a grid of shape {shape_text(grid)} for {self.layout.data}"
        facts.require(len(shape) == len(grid) == rank, "C5", texts)
        facts.require_equal(grid[0], shape[0], "C5", "batches of grid and data")
        facts.require_equal(grid[1], rank - 2, "C5", "coordinates of a point of the grid")
        for extent in shape[2:]:
            facts.require_at_least(extent, 1, "C6", "a spatial extent of the data")
        method = self.method.data
        facts.require(method != SAMPLINGS[2] or rank == 4, "C7", f"{method} with layout {self.layout.data}")
        facts.require(method == SAMPLINGS[0] or element != i1, "C8", "weighted sums of booleans are not supported")
        return tensor_type((*shape[:2], *grid[2:]), element)
