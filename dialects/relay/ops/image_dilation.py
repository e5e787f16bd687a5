"""`relay.image.dilation2d`: greyscale dilation, a convolution with sums for products and maxima for sums."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.constraints import Constraints, OneOf, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    image_axes,
    ints_property,
    string_property,
    with_both_sides,
    without_empty_dtype,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.window_constraints import ElementType, Numbers
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class Dilation2DOp(RelayOp):
    """The maximum of `data + weight` in a window that slides over each channel; the data is padded with zeros.

    `result[n, c, i, j]` is the maximum over (k, l) of `data[n, c, i * strides[0] + k * dilations[0] - top, j *
    strides[1] + l * dilations[1] - left] + weight[c, k, l]`. `padding` lists the rows and columns of zeros above, left,
    below and right. Sums are computed in `out_dtype`, by default the data's type.

    Constraints:
    - C7: `kernel_layout` is "IHW" for the layout "NCHW", "HWI" for "NHWC".
    - C8: data and weight have the same number of channels.
    - C9: the window has an element and is no larger than the padded data.
    - C10: booleans are not added.

    Example:
    ```mlir
    %y = relay.image.dilation2d(%x, %w) {padding = [1, 1, 1, 1]}
        : (tensor<1x3x6x6xf32>, tensor<3x3x3xf32>) -> tensor<1x3x6x6xf32>
    ```

    """

    name = "relay.image.dilation2d"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": SameElements(),
        "C2": RankOf(0, 4, 4),
        "C3": RankOf(1, 3, 3),
        "C4": Numbers(("strides", "dilations"), (2,)),
        "C5": Numbers(("padding",), (4,), positive=False),
        "C6": OneOf("data_layout", ("NCHW", "NHWC")),
        "C11": ElementType("out_dtype"),
    }

    data = operand_def()
    weight = operand_def()

    strides = ints_property(1, 1)
    padding = ints_property(0, 0, 0, 0)
    dilations = ints_property(1, 1)
    data_layout = string_property("NCHW")
    kernel_layout = string_property("IHW")
    out_dtype = opt_prop_def()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts two numbers of padding, one for both sides of each axis, and an empty string for no type."""
        return without_empty_dtype(with_both_sides(attributes))

    @property
    def image_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns of the data."""
        return image_axes(self.data_layout)

    @property
    def weight_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns of the weight."""
        return (0, 1, 2) if self.data_layout.data == "NCHW" else (2, 0, 1)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with one element for each position of the window; checks C7 to C10."""
        (shape, element), window = facts.operand(0), facts.shape(1)
        layout, wanted = self.data_layout.data, "IHW" if self.data_layout.data == "NCHW" else "HWI"
        found = self.kernel_layout.data
        facts.require(found == wanted, "C7", f"the kernel layout of {layout} is {wanted}, found {found!r}")
        axes, own = self.image_axes, self.weight_axes
        facts.require_equal(shape[axes[0]], window[own[0]], "C8", "channels of data and weight")
        result, padding = list(shape), ints(self.padding)
        for k, (stride, dilation) in enumerate(zip(ints(self.strides), ints(self.dilations), strict=True)):
            count = window[own[k + 1]]
            facts.require_at_least(count, 1, "C9", "elements of the window")
            padded, reach = shape[axes[k + 1]] + padding[k] + padding[k + 2], (count - 1) * dilation + 1
            facts.require_at_least(padded, reach, "C9", "elements with zeros, and of the window,")
            result[axes[k + 1]] = (padded - reach) // stride + 1
        facts.require(element != i1, "C10", "booleans are not added", help="cast the operands first")
        return tensor_type(result, self.element_type_property(self.out_dtype, element, "C11"))
