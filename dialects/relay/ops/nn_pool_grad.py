"""Gradients of the window pools: `relay.nn.max_pool2d_grad`, `relay.nn.avg_pool2d_grad` and their 3D variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.constraints import Constraints, FloatElements, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, ints_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.sliding_window import WindowedOp
from xrelay.dialects.relay.core.window_constraints import Layouts, Numbers
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.types import IncompleteType, tensor_type
from xrelay.index_algebra.dims import Shape, shape_text
from xrelay.index_algebra.windows import each


class PoolGradOp(WindowedOp):
    """Base of the gradients of pools: from `out_grad`, that of the pool's result, to that of its data.

    Properties are those of the pool. `layout` is the layout of the data and the result; `out_layout`, by default
    `layout`, is the layout of `out_grad`.
    """

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    SIZE: ClassVar[str] = "pool_size"
    ARGUMENTS: ClassVar[tuple[str, ...]] = (
        "pool_size",
        "strides",
        "padding",
        "layout",
        "out_layout",
        "ceil_mode",
        "dilation",
    )

    out_grad = operand_def()
    data = operand_def()

    layout = string_property("")
    out_layout = string_property("")
    pool_size = ints_property(1, 1)
    ceil_mode = bool_property(False)

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C1, C3, C4, C6 and the constraints on all windows."""
        image = f"NC{axes}"
        return {
            **super().constraints_over(axes),
            "C1": Layouts((("layout", image), ("out_layout", image)), whole=axes),
            "C3": SameElements(),
            "C4": FloatElements(),
            "C6": Numbers(("pool_size",), (1, len(axes))),
        }

    @property
    def layouts(self) -> tuple[Layout, Layout]:
        """The layouts of the pool's data and of its result."""
        data, out = self.layout_over(self.layout.data, self.image_axes), self.out_layout.data
        return data, self.layout_over(out, self.image_axes) if out else data

    @property
    def sizes(self) -> tuple[int, ...]:
        """The window's extent along each spatial axis."""
        return each(ints(self.pool_size), len(self.AXES))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C2, C5 and C9."""
        found, pooled = facts.shape(0), self.pooled_shape(facts)
        message = f"the pooled data has shape {shape_text(pooled)}, out_grad has {shape_text(found)}"
        facts.require(len(found) == len(pooled), "C5", message)
        for own, wanted in zip(found, pooled, strict=True):
            facts.require_equal(own, wanted, "C5", "extents of out_grad and of the pool", message=message)
        return facts.tensor(1)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the type of the pool's result for `out_grad`."""
        out_grad, data = facts
        if not isinstance(out_grad, IncompleteType) or isinstance(data, IncompleteType):
            return facts
        return [tensor_type(self.pooled_shape(facts), facts.element(1)), data]

    def pooled_shape(self, facts: Facts) -> Shape:
        """Returns the shape of the pool's result."""
        layout, out_layout = self.layouts
        extents = self.extents_in(layout, facts.shape(1))
        window = self.checked_window(facts, ints(self.pool_size))
        counts = self.window_counts(facts, window, extents, partial=bool(self.ceil_mode.value.data))
        return out_layout.shape_from(extents | counts)


class AvgPoolGradOp(PoolGradOp):
    """Base of the gradients of mean pools."""

    ARGUMENTS: ClassVar[tuple[str, ...]] = (*PoolGradOp.ARGUMENTS[:-1], "count_include_pad", "dilation")

    count_include_pad = bool_property(False)


@register_relay_op
@irdl_op_definition
class MaxPool2DGradOp(PoolGradOp):
    """The gradient of `nn.max_pool2d`: `out_grad` of each window is added to the window's greatest element.

    Of several greatest elements this is the first in row-major order; the first NaN is greater than all others. An
    element that is the greatest of several windows gets their sum; elements that are the greatest of no window get 0.
    Windows within the padding are ignored.

    Constraints:
    - C2: the data has the rank of `layout`.
    - C5: `out_grad` has the shape of the pool's result, in `out_layout`.
    - C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.nn.max_pool2d_grad(%g, %x) {pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]}
        : (tensor<1x4x4x4xf32>, tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
    ```

    """

    name = "relay.nn.max_pool2d_grad"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class AvgPool2DGradOp(AvgPoolGradOp):
    """The gradient of `nn.avg_pool2d`: each element gets a share of every window that contains it.

    The share is `out_grad` of the window divided by the pool's divisor. The data's elements are not read.

    Constraints:
    - C2: the data has the rank of `layout`.
    - C5: `out_grad` has the shape of the pool's result, in `out_layout`.
    - C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.nn.avg_pool2d_grad(%g, %x) {pool_size = [2, 2], strides = [2, 2], count_include_pad = true}
        : (tensor<1x4x3x3xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
    ```

    """

    name = "relay.nn.avg_pool2d_grad"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class MaxPool3DGradOp(PoolGradOp):
    """The gradient of `nn.max_pool3d`: `out_grad` of each window is added to the window's greatest element.

    `nn.max_pool2d_grad` documents the semantics, C2, C5 and C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool3d_grad(%g, %x) {pool_size = [2, 2, 2], strides = [2, 2, 2]}
        : (tensor<1x2x2x3x3xf32>, tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
    ```

    """

    name = "relay.nn.max_pool3d_grad"
    AXES: ClassVar[str] = "DHW"


@register_relay_op
@irdl_op_definition
class AvgPool3DGradOp(AvgPoolGradOp):
    """The gradient of `nn.avg_pool3d`: each element gets a share of every window that contains it.

    `nn.avg_pool2d_grad` documents the semantics, C2, C5 and C9.

    Example:
    ```mlir
    %y = relay.nn.avg_pool3d_grad(%g, %x) {pool_size = [2, 2, 2], strides = [2, 2, 2]}
        : (tensor<1x2x2x3x3xf32>, tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
    ```

    """

    name = "relay.nn.avg_pool3d_grad"
    AXES: ClassVar[str] = "DHW"


MAX_POOL_GRADIENTS = (MaxPool2DGradOp, MaxPool3DGradOp)
AVG_POOL_GRADIENTS = (AvgPool2DGradOp, AvgPool3DGradOp)
