"""Pools over windows and over whole images: `relay.nn.max_pool2d` and others, with one to three spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import ints, string_attribute
from xrelay.dialects.relay.core.constraints import Constraints
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, ints_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.sliding_window import ImageOp, WindowedOp
from xrelay.dialects.relay.core.window_constraints import InLayouts, Layouts, Numbers
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import each


class PoolOp(ImageOp):
    """Base of the ops that pool over spatial axes and preserve batch and channels."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    ARGUMENTS: ClassVar[tuple[str, ...]] = ("layout", "out_layout")

    data = operand_def()

    layout = string_property("")
    out_layout = string_property("")

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C1, C2 and the inherited constraints."""
        image = f"NC{axes}"
        fit = {
            "C1": Layouts((("layout", image), ("out_layout", image)), whole=axes),
            "C2": InLayouts((("layout", image),)),
        }
        return {**super().constraints_over(axes), **fit}

    def spatial_extents(self, facts: Facts, extents: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the result's spatial extents for those of the data."""
        raise NotImplementedError(f"{self.name} does not define the extents of its result")

    @property
    def layouts(self) -> tuple[Layout, Layout]:
        """The layouts of data and result."""
        data, out = self.layout_over(self.layout.data, self.image_axes), self.out_layout.data
        return data, self.layout_over(out, self.image_axes) if out else data

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with the data's batch and channels and new spatial extents."""
        shape, element = facts.operand(0)
        layout, out_layout = self.layouts
        extents = self.extents_in(layout, shape)
        return tensor_type(out_layout.shape_from(extents | self.spatial_extents(facts, extents)), element)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if it does not split spatial axes."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        if sorted(layout.primal) != sorted(self.image_axes) or any(layout.factor(axis) for axis in self.AXES):
            return LayoutRefusal(f"pooling does not support layout {layout}")
        own = [str(known) for known in self.layouts]
        if own != [str(layout.text)] * 2:
            return LayoutRefusal(f"it supports {' and '.join(own)}, its data has layout {layout.text}")
        properties: dict[str, Attribute] = {"layout": string_attribute(str(layout)), "out_layout": string_attribute("")}
        return LayoutDecision((layout,), layout, properties)


class WindowPoolOp(WindowedOp, PoolOp):
    """Base of the pools with a sliding window; `sliding_window.py` documents the constraints.

    `ceil_mode` rounds the number of windows up, so that the last one may extend beyond the padded data.
    """

    SIZE: ClassVar[str] = "pool_size"
    ARGUMENTS: ClassVar[tuple[str, ...]] = (
        "pool_size",
        "strides",
        "dilation",
        "padding",
        "layout",
        "out_layout",
        "ceil_mode",
    )

    pool_size = ints_property(1)
    ceil_mode = bool_property(False)

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C6 and the constraints on all windows."""
        return {**super().constraints_over(axes), "C6": Numbers(("pool_size",), (1, len(axes)))}

    @property
    def sizes(self) -> tuple[int, ...]:
        """The window's extent along each spatial axis."""
        return each(ints(self.pool_size), len(self.AXES))

    def spatial_extents(self, facts: Facts, extents: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the number of windows along each spatial axis."""
        window = self.checked_window(facts, ints(self.pool_size))
        return self.window_counts(facts, window, extents, partial=bool(self.ceil_mode.value.data))


class AvgPoolOp(WindowPoolOp):
    """Base of the mean pools."""

    ARGUMENTS: ClassVar[tuple[str, ...]] = (*WindowPoolOp.ARGUMENTS, "count_include_pad")

    count_include_pad = bool_property(False)


class GlobalPoolOp(PoolOp):
    """Base of the pools over whole spatial axes."""

    def spatial_extents(self, facts: Facts, extents: dict[str, Dim]) -> dict[str, Dim]:
        """Returns an extent of 1 for each spatial axis."""
        return dict.fromkeys(self.AXES, 1)


@register_relay_op
@irdl_op_definition
class MaxPool1DOp(WindowPoolOp):
    """The greatest element of each window over the width.

    `nn.max_pool2d` documents C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool1d(%x) {pool_size = [3], strides = [2], padding = [1, 1]}
        : (tensor<1x8x16xf32>) -> tensor<1x8x8xf32>
    ```

    """

    name = "relay.nn.max_pool1d"
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
class MaxPool2DOp(WindowPoolOp):
    """The greatest element of each window over height and width; padding is ignored.

    `ceil_mode` rounds the number of windows up, so that the last one may extend beyond the padded data.

    Constraints:
    - C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.nn.max_pool2d(%x) {pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]}
        : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32>
    ```

    """

    name = "relay.nn.max_pool2d"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class MaxPool3DOp(WindowPoolOp):
    """The greatest element of each window over depth, height and width.

    `nn.max_pool2d` documents C9.

    Example:
    ```mlir
    %y = relay.nn.max_pool3d(%x) {pool_size = [2, 2, 2], strides = [2, 2, 2]}
        : (tensor<1x8x4x6x6xf32>) -> tensor<1x8x2x3x3xf32>
    ```

    """

    name = "relay.nn.max_pool3d"
    AXES: ClassVar[str] = "DHW"


@register_relay_op
@irdl_op_definition
class AvgPool1DOp(AvgPoolOp):
    """The mean of each window over the width.

    `nn.avg_pool2d` documents C9.

    Example:
    ```mlir
    %y = relay.nn.avg_pool1d(%x) {pool_size = [2], strides = [2]} : (tensor<1x8x16xf32>) -> tensor<1x8x8xf32>
    ```

    """

    name = "relay.nn.avg_pool1d"
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
class AvgPool2DOp(AvgPoolOp):
    """The mean of each window over height and width.

    The divisor is the number of elements of the window inside the data. With `count_include_pad` it includes the
    explicit padding, but not elements beyond it, which `ceil_mode` allows. It is at least 1.

    Constraints:
    - C9: the window is not larger than the padded data; with `ceil_mode` it may be, by less than a stride.

    Example:
    ```mlir
    %y = relay.nn.avg_pool2d(%x) {pool_size = [2, 2], strides = [2, 2]}
        : (tensor<1x64x56x56xf32>) -> tensor<1x64x28x28xf32>
    ```

    """

    name = "relay.nn.avg_pool2d"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class AvgPool3DOp(AvgPoolOp):
    """The mean of each window over depth, height and width.

    `nn.avg_pool2d` documents C9.

    Example:
    ```mlir
    %y = relay.nn.avg_pool3d(%x) {pool_size = [2, 2, 2], count_include_pad = true}
        : (tensor<1x8x4x6x6xf32>) -> tensor<1x8x3x5x5xf32>
    ```

    """

    name = "relay.nn.avg_pool3d"
    AXES: ClassVar[str] = "DHW"


@register_relay_op
@irdl_op_definition
class GlobalAvgPool1DOp(GlobalPoolOp):
    """The mean over the whole width.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool1d(%x) : (tensor<1x8x16xf32>) -> tensor<1x8x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool1d"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
class GlobalAvgPool2DOp(GlobalPoolOp):
    """The mean over the whole height and width, which are kept with extent 1.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool2d(%x) : (tensor<1x2048x7x7xf32>) -> tensor<1x2048x1x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool2d"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class GlobalAvgPool3DOp(GlobalPoolOp):
    """The mean over the whole depth, height and width.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool3d(%x) : (tensor<1x8x3x4x4xf32>) -> tensor<1x8x1x1x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool3d"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    AXES: ClassVar[str] = "DHW"


@register_relay_op
@irdl_op_definition
class GlobalMaxPool1DOp(GlobalPoolOp):
    """The greatest element over the whole width.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool1d(%x) : (tensor<1x8x16xf32>) -> tensor<1x8x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool1d"
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
class GlobalMaxPool2DOp(GlobalPoolOp):
    """The greatest element over the whole height and width, which are kept with extent 1.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool2d(%x) : (tensor<1x512x7x7xf32>) -> tensor<1x512x1x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool2d"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class GlobalMaxPool3DOp(GlobalPoolOp):
    """The greatest element over the whole depth, height and width.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool3d(%x) : (tensor<1x8x3x4x4xf32>) -> tensor<1x8x1x1x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool3d"
    AXES: ClassVar[str] = "DHW"


MAX_POOLS = (MaxPool1DOp, MaxPool2DOp, MaxPool3DOp)
AVG_POOLS = (AvgPool1DOp, AvgPool2DOp, AvgPool3DOp)
GLOBAL_MAX_POOLS = (GlobalMaxPool1DOp, GlobalMaxPool2DOp, GlobalMaxPool3DOp)
GLOBAL_AVG_POOLS = (GlobalAvgPool1DOp, GlobalAvgPool2DOp, GlobalAvgPool3DOp)
