"""Transposed convolutions: `relay.nn.conv1d_transpose`, `relay.nn.conv2d_transpose` and `relay.nn.conv3d_transpose`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.constraints import Constraints
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.properties import ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.window_constraints import Numbers
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.conv import FilterOp
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import each


class ConvTransposeOp(FilterOp):
    """Base of the transposed convolutions; constraints as `nn.conv2d_transpose` states them."""

    FILTERS: ClassVar[str] = "IO"
    ARGUMENTS: ClassVar[tuple[str, ...]] = (
        "strides",
        "padding",
        "dilation",
        "groups",
        "channels",
        "kernel_size",
        "data_layout",
        "kernel_layout",
        "out_layout",
        "output_padding",
        "out_dtype",
    )

    output_padding = ints_property(0)

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Those of every filter, and C12."""
        return {**super().constraints_over(axes), "C12": Numbers(("output_padding",), (1, len(axes)), positive=False)}

    @property
    def extra(self) -> tuple[int, ...]:
        """How many elements are added behind each spatial axis."""
        return each(ints(self.output_padding), len(self.AXES))

    def result_channels(self, weight: dict[str, Dim]) -> Dim:
        """One for each filter of each group."""
        return weight["O"] * self.groups.value.data

    def weight_channels(self, in_channels: Dim, channels: Dim) -> dict[str, Dim]:
        """A channel of the data spreads to the filters of its group."""
        return {"I": in_channels, "O": channels // self.groups.value.data}

    def check_channels(self, facts: Facts, in_channels: Dim, weight: dict[str, Dim]) -> None:
        """C3 and C4."""
        groups = self.groups.value.data
        message = f"the weight has {weight['I']} input channels, the data has {in_channels}"
        facts.require_equal(weight["I"], in_channels, "C3", "kernel in-channels", message=message)
        facts.require_equal(weight["I"] % groups, 0, "C4", f"in-channels {weight['I']} modulo groups {groups}:")

    def spatial_extents(self, facts: Facts, data: dict[str, Dim], weight: dict[str, Dim]) -> dict[str, Dim]:
        """How far the windows spread, without the padding; C6 and C9."""
        window = self.checked_window(facts, [weight[axis] for axis in self.AXES])
        extents: dict[str, Dim] = {}
        for letter, axis, more in zip(self.AXES, window, self.extra, strict=True):
            covered = axis.covered(data[letter])
            extents[letter] = covered - (axis.before + axis.after) + more
            for what, extent in (("data", data[letter]), ("result", extents[letter])):
                message = (
                    f"the {what} has the {letter} extent {extent}: its windows cover {covered}, of which padding is "
                    f"{axis.before + axis.after}"
                )
                facts.require_at_least(extent, 1, "C9", f"{letter} extent of the {what}", message=message)
        return extents

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Its sums are those of a convolution on plain images."""
        return LayoutRefusal("a transposed convolution supports only its original layouts")


@register_relay_op
@irdl_op_definition
class Conv1DTransposeOp(ConvTransposeOp):
    """One-dimensional transposed convolution: data (N, C, W), weight (C, O / groups, KW).

    `nn.conv2d_transpose` states C3 to C6 and C9.

    Example:
    ```mlir
    %y = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1, 1], output_padding = [1]}
        : (tensor<1x8x9xf32>, tensor<8x4x3xf32>) -> tensor<1x4x18xf32>
    ```

    """

    name = "relay.nn.conv1d_transpose"
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
class Conv2DTransposeOp(ConvTransposeOp):
    """Two-dimensional transposed convolution: the gradient of `nn.conv2d` in its data, also called deconvolution.

    With data (N, C, H, W) and weight (C, O / groups, KH, KW) every element of the data spreads a filter:

        whole[n, o, y * strides[0] + r * dilation[0], x * strides[1] + s * dilation[1]] +=
            data[n, c, y, x] * weight[c, o % (O / groups), r, s]     for the channels c of the group of o

    and the result is `whole` without `padding` around it (top, left, bottom, right), with `output_padding` more
    elements behind the height and the width. An element that nothing spreads to is zero.

    Constraints:
    - C3: the weight's in-channels are the data's channels.
    - C4: `groups` is positive and divides the in-channels.
    - C5: `channels`, where given, is the weight's out-channels times `groups`.
    - C6: `kernel_size`, where given, is the weight's height and width, which are positive.
    - C9: data and result have at least one row and one column.

    Example:
    ```mlir
    %y = relay.nn.conv2d_transpose(%x, %w) {strides = [2, 2], padding = [1, 1, 1, 1], kernel_size = [4, 4]}
        : (tensor<1x16x7x7xf32>, tensor<16x8x4x4xf32>) -> tensor<1x8x14x14xf32>
    ```

    """

    name = "relay.nn.conv2d_transpose"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class Conv3DTransposeOp(ConvTransposeOp):
    """Three-dimensional transposed convolution: data (N, C, D, H, W), weight (C, O / groups, KD, KH, KW).

    `nn.conv2d_transpose` states C3 to C6 and C9.

    Example:
    ```mlir
    %y = relay.nn.conv3d_transpose(%x, %w) {strides = [2, 2, 2]}
        : (tensor<1x4x3x4x4xf32>, tensor<4x2x2x2x2xf32>) -> tensor<1x2x6x8x8xf32>
    ```

    """

    name = "relay.nn.conv3d_transpose"
    AXES: ClassVar[str] = "DHW"


TRANSPOSED_CONVOLUTIONS = (Conv1DTransposeOp, Conv2DTransposeOp, Conv3DTransposeOp)
