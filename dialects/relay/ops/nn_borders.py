"""`relay.nn.mirror_pad`, and `relay.nn.fifo_buffer`, which holds the last elements of a stream."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.core.constraints import AxisOf, Constraints, OneOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    int_property,
    required_ints_property,
    string_property,
    with_flat,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor_movement import MovementOp
from xrelay.index_algebra.dims import Shape, shape_text


@register_relay_op
@irdl_op_definition
class MirrorPadOp(MovementOp):
    """The data padded by mirroring: `pad_width` lists (before, after) for every axis in one flat array.

    `mode` "SYMMETRIC" mirrors at the outer edges of the outermost elements and repeats these; "REFLECT" mirrors at
    their centres.

    Constraints:
    - C2: `pad_width` has two numbers for each axis, and none is negative.
    - C3: no axis is padded by more than its extent, or by more than one less with "REFLECT".

    Example:
    ```mlir
    %y = relay.nn.mirror_pad(%x) {pad_width = [0, 0, 2, 1]} : (tensor<2x3xf32>) -> tensor<2x6xf32>
    ```

    """

    name = "relay.nn.mirror_pad"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": OneOf("mode", ("SYMMETRIC", "REFLECT"))}

    pad_width = required_ints_property()
    mode = string_property("SYMMETRIC")

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts pairs: `((0, 0), (1, 1))`."""
        return with_flat(attributes, "pad_width")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(before, after) of each axis."""
        widths = ints(self.pad_width)
        return list(zip(widths[::2], widths[1::2], strict=True))

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the padded extents; checks C2 and C3."""
        widths = ints(self.pad_width)
        legal = len(widths) == 2 * len(shape) and all(width >= 0 for width in widths)
        message = f"pad_width must have {2 * len(shape)} non-negative numbers, found {list(widths)}"
        facts.require(legal, "C2", message)
        for extent, pair in zip(shape, self.pairs, strict=True):
            if any(pair):
                seen = extent - (self.mode.data == "REFLECT")
                facts.require_at_least(seen, max(pair), "C3", f"pad width and mirrored elements of {extent}:")
        return tuple(extent + before + after for extent, (before, after) in zip(shape, self.pairs, strict=True))


@register_relay_op
@irdl_op_definition
class FifoBufferOp(RelayOp):
    """The buffer with its first elements along `axis` removed and the data, as many elements, appended.

    Constraints:
    - C3: data and buffer have the same rank, and equal extents along the other axes.
    - C4: the data has no more elements along the axis than the buffer.

    Example:
    ```mlir
    %y = relay.nn.fifo_buffer(%x, %b) {axis = 1} : (tensor<2x1x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    ```

    """

    name = "relay.nn.fifo_buffer"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {"C1": SameElements(), "C2": AxisOf()}

    data = operand_def()
    buffer = operand_def()

    axis = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the buffer's type; checks C3 and C4."""
        shape, room = facts.shape(0), facts.shape(1)
        message = f"data of shape {shape_text(shape)} for a buffer of shape {shape_text(room)}"
        facts.require(len(shape) == len(room), "C3", message)
        along = axis_index(self.axis.value.data, len(shape))
        for axis, (extent, place) in enumerate(zip(shape, room, strict=True)):
            if axis != along:
                facts.require_equal(extent, place, "C3", "extents of data and buffer", message=message)
        facts.require_at_least(room[along], shape[along], "C4", "elements of the buffer, and of the data,")
        return facts.tensor(1)
