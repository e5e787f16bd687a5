"""`relay.vision.yolo_reorg`: the passthrough layer of YOLO."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.constraints import AtLeast, Constraints, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.properties import int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor.movement import MovementOp
from xrelay.index_algebra.dims import Shape


@register_relay_op
@irdl_op_definition
class YoloReorgOp(MovementOp):
    """Pixels of blocks as channels, as in Darknet: data (N, C, H, W) becomes (N, C·s², H/s, W/s) for `stride` s.

    The data is reshaped to (N, C/s², H·s, W·s), the pixels of its s by s blocks become leading channels, and the result
    (N, C, H, W) is reshaped to the shape above.

    Constraints:
    - C1: `stride` is 1 or more.
    - C2: the data has four axes.
    - C3: the number of channels is a multiple of the number of pixels of a block; rows and columns are multiples of the
      stride.

    Example:
    ```mlir
    %y = relay.vision.yolo_reorg(%x) {stride = 2} : (tensor<1x8x4x6xf32>) -> tensor<1x32x2x3xf32>
    ```

    """

    name = "relay.vision.yolo_reorg"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AtLeast("stride"), "C2": RankOf(0, 4, 4)}

    stride = int_property()

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns more channels and fewer rows and columns; checks C3."""
        batch, channels, rows, columns = shape
        stride = self.stride.value.data
        for extent, by, what in (
            (channels, stride**2, "channels"),
            (rows, stride, "rows"),
            (columns, stride, "columns"),
        ):
            facts.require_equal(extent % by, 0, "C3", f"{what} {extent} modulo {by}:")
        return batch, channels * stride**2, rows // stride, columns // stride
