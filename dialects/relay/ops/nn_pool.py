"""`relay.nn.max_pool2d`, `relay.nn.avg_pool2d`, `relay.nn.global_avg_pool2d` and `relay.nn.global_max_pool2d`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.relay.core.attribute_values import ints, string_attribute
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, ints_property, required_ints_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.types import tensor_type
from xrelay.dialects.relay.core.windows import (
    extents_in,
    pair,
    parse_layout,
    require_padding,
    require_window,
    shape_in,
    window_count,
)
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.sliding_window import SlidingWindowOp
from xrelay.index_algebra.dims import Dim


class SpatialOp(RelayOp):
    """Base of the ops that summarise height and width, and let batch and channels through."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE

    data = operand_def()
    result = result_def()

    layout = string_property("NCHW")
    out_layout = string_property("")

    traits = traits_def(Pure())

    def spatial_extents(self, height: Dim, width: Dim) -> tuple[Dim, Dim]:
        """Height and width of the result."""
        raise NotImplementedError(f"{self.name} does not say its result's height and width")

    @property
    def layouts(self) -> tuple[Layout, Layout]:
        """The layouts of data and result."""
        data = parse_layout(self, self.layout.data, "NCHW", "C1")
        self.require(not any(data.factor(axis) for axis in "HW"), "C1", f"layout {data} splits height or width")
        out = self.out_layout.data
        return data, parse_layout(self, out, "NCHW", "C1") if out else data

    def infer_type(self, facts: Facts) -> Attribute:
        """The data's batch and channels with new height and width."""
        shape, element = facts.operand(0)
        layout, out_layout = self.layouts
        extents = extents_in(self, layout, shape, "C2")
        height, width = self.spatial_extents(extents["H"], extents["W"])
        return tensor_type(shape_in(self, out_layout, extents | {"H": height, "W": width}, "C1"), element)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follow the data where height and width stay whole."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        if sorted(layout.primal) != sorted("NCHW") or layout.factor("H") or layout.factor("W"):
            return LayoutRefusal(f"pooling does not work in layout {layout}")
        own = [str(known) for known in self.layouts]
        if own != [str(layout.text)] * 2:
            return LayoutRefusal(f"it works in {' and '.join(own)}, its data comes as {layout.text}")
        properties: dict[str, Attribute] = {"layout": string_attribute(str(layout)), "out_layout": string_attribute("")}
        return LayoutDecision((layout,), layout, properties)


class Pool2DOp(SlidingWindowOp, SpatialOp):
    """Base of the pools with a sliding window."""

    SIZE: ClassVar[str] = "pool_size"

    pool_size = required_ints_property()
    strides = ints_property(1, 1)
    dilation = ints_property(1, 1)
    padding = ints_property(0, 0, 0, 0)
    layout = string_property("NCHW")  # named again, here and in average pooling: Relay's order of arguments
    out_layout = string_property("")
    ceil_mode = bool_property(False)

    @property
    def size_pair(self) -> tuple[int, int]:
        """The window's height and width."""
        return pair(ints(self.pool_size))

    def spatial_extents(self, height: Dim, width: Dim) -> tuple[Dim, Dim]:
        """How many windows fit; C3 to C5."""
        sizes = ints(self.pool_size)
        self.require(
            len(sizes) in (1, 2) and min(sizes) > 0,
            "C3",
            f"pool_size must be one or two positive numbers, found {list(sizes)}",
        )
        require_window(self, ints(self.strides), ints(self.dilation), "C3")
        require_padding(self, ints(self.padding), "C4")
        top, left, bottom, right = self.pads
        return self._count(height, 0, top + bottom, "H"), self._count(width, 1, left + right, "W")

    def _count(self, extent: Dim, index: int, pads: int, axis: str) -> Dim:
        size, dilation = self.size_pair[index], self.dilation_pair[index]
        room = extent + pads - (dilation * (size - 1) + 1)
        self.require(
            not isinstance(room, int) or room >= 0,
            "C5",
            f"a window of {size} (dilation {dilation}) is larger than the padded {axis} extent {extent + pads}",
        )
        ceil_mode = bool(self.ceil_mode.value.data)
        return window_count(extent, size, self.stride_pair[index], dilation, pads, ceil_mode=ceil_mode)


@register_relay_op
@irdl_op_definition
class MaxPool2DOp(Pool2DOp):
    """The greatest element of each window over height and width; padding never wins.

    `ceil_mode` rounds the number of windows up, so that the last one may stick out of the padded data.

    Constraints:
    - C1: the layouts consist of N, C, H and W; height and width are whole.
    - C2: the data has the rank and inner extents of its layout.
    - C3: pool_size, strides and dilation are one or two positive numbers.
    - C4: padding is 1, 2 or 4 numbers that are not negative.
    - C5: the window is not larger than the padded data.

    Example:
    ```mlir
    %y = relay.nn.max_pool2d(%x) {pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]}
        : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32>
    ```

    """

    name = "relay.nn.max_pool2d"


@register_relay_op
@irdl_op_definition
class AvgPool2DOp(Pool2DOp):
    """The mean of each window over height and width.

    The divisor counts the window's elements inside the data; with `count_include_pad` those in the explicit padding
    too, yet never those that `ceil_mode` lets stick out further. It is at least 1.

    Constraints:
    - C1: the layouts consist of N, C, H and W; height and width are whole.
    - C2: the data has the rank and inner extents of its layout.
    - C3: pool_size, strides and dilation are one or two positive numbers.
    - C4: padding is 1, 2 or 4 numbers that are not negative.
    - C5: the window is not larger than the padded data.

    Example:
    ```mlir
    %y = relay.nn.avg_pool2d(%x) {pool_size = [2, 2], strides = [2, 2]}
        : (tensor<1x64x56x56xf32>) -> tensor<1x64x28x28xf32>
    ```

    """

    name = "relay.nn.avg_pool2d"

    pool_size = required_ints_property()
    strides = ints_property(1, 1)
    dilation = ints_property(1, 1)
    padding = ints_property(0, 0, 0, 0)
    layout = string_property("NCHW")
    out_layout = string_property("")
    ceil_mode = bool_property(False)
    count_include_pad = bool_property(False)


class GlobalPool2DOp(SpatialOp):
    """Base of the pools over all of height and width."""

    def spatial_extents(self, height: Dim, width: Dim) -> tuple[Dim, Dim]:
        """One element each."""
        return 1, 1


@register_relay_op
@irdl_op_definition
class GlobalAvgPool2DOp(GlobalPool2DOp):
    """The mean over all of height and width, both kept with extent 1.

    Constraints:
    - C1: the layouts consist of N, C, H and W; height and width are whole.
    - C2: the data has the rank and inner extents of its layout.

    Example:
    ```mlir
    %y = relay.nn.global_avg_pool2d(%x) : (tensor<1x2048x7x7xf32>) -> tensor<1x2048x1x1xf32>
    ```

    """

    name = "relay.nn.global_avg_pool2d"


@register_relay_op
@irdl_op_definition
class GlobalMaxPool2DOp(GlobalPool2DOp):
    """The greatest element over all of height and width, both kept with extent 1.

    Constraints:
    - C1: the layouts consist of N, C, H and W; height and width are whole.
    - C2: the data has the rank and inner extents of its layout.

    Example:
    ```mlir
    %y = relay.nn.global_max_pool2d(%x) : (tensor<1x512x7x7xf32>) -> tensor<1x512x1x1xf32>
    ```

    """

    name = "relay.nn.global_max_pool2d"
