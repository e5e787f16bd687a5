"""`relay.nn.correlation`: the similarity of two images at shifted positions."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.constraints import AtLeast, Constraints, FloatElements, OneOf, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    bool_property,
    int_property,
    ints_property,
    string_property,
    with_both_sides,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.window_constraints import Numbers
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim, shape_text


@register_relay_op
@irdl_op_definition
class CorrelationOp(RelayOp):
    """The mean product, or distance, of windows of an image (N, C, H, W) and shifted windows of another.

    With d = `max_displacement / stride2`, channel `(r + d) * (2 * d + 1) + c + d` of the result is for the shift by `r
    * stride2` rows and `c * stride2` columns, for r and c from -d to d. Element (i, j) is the mean over the channels
    and a window of `kernel_size` rows and columns of `data1 * data2`, or of `|data1 - data2|` if `is_multiply` is
    false. The window begins at row `i * stride1 + max_displacement` and column `j * stride1 + max_displacement` of
    images padded with zeros: `padding` lists the rows and columns above, left, below and right. All windows are within
    the padded images.

    Constraints:
    - C6: both images have the same shape.
    - C7: `kernel_size` is odd.
    - C8: the padded images are at least as large as a window and the shifts to both sides.

    Example:
    ```mlir
    %z = relay.nn.correlation(%x, %y) {padding = [1, 1, 1, 1]}
        : (tensor<1x3x6x7xf32>, tensor<1x3x6x7xf32>) -> tensor<1x9x6x7xf32>
    ```

    """

    name = "relay.nn.correlation"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": FloatElements(),
        "C2": SameElements(),
        "C3": RankOf(0, 4, 4),
        "C4": Numbers(("padding",), (4,), positive=False),
        "C5": OneOf("layout", ("NCHW",)),
        "C9": AtLeast("max_displacement", 0),
        "C10": AtLeast("stride1"),
        "C11": AtLeast("stride2"),
    }

    data1 = operand_def()
    data2 = operand_def()

    kernel_size = int_property(1)
    max_displacement = int_property(1)
    stride1 = int_property(1)
    stride2 = int_property(1)
    padding = ints_property(0, 0, 0, 0)
    is_multiply = bool_property(True)
    layout = string_property("NCHW")

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts two numbers of padding, one for both sides of each axis."""
        return with_both_sides(attributes)

    @property
    def radius(self) -> int:
        """The number of shifts to each side."""
        return self.max_displacement.value.data // self.stride2.value.data

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with one channel for each shift; checks C6 to C8."""
        (shape, element), other = facts.operand(0), facts.shape(1)
        message = f"images of shapes {shape_text(shape)} and {shape_text(other)}"
        facts.require(len(other) == 4, "C6", message)
        for lhs, rhs in zip(shape, other, strict=True):
            facts.require_equal(lhs, rhs, "C6", "extents of both images", message=message)
        size, step, padding = self.kernel_size.value.data, self.stride1.value.data, ints(self.padding)
        facts.require(size > 0 and size % 2 == 1, "C7", f"kernel_size must be odd, found {size}")
        border = 2 * self.max_displacement.value.data + size - 1
        result: list[Dim] = [shape[0], (2 * self.radius + 1) ** 2]
        for axis in (0, 1):
            padded = shape[axis + 2] + padding[axis] + padding[axis + 2]
            facts.require_at_least(padded, border + 1, "C8", "elements with zeros, and of windows and shifts,")
            result.append((padded - border + step - 1) // step)
        return tensor_type(result, element)
