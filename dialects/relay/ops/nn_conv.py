"""`relay.nn.conv2d`: two-dimensional convolution, grouped, dilated, in any layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.relay.core.attribute_values import ints, string_attribute
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import known_shape
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    int_property,
    ints_property,
    optional_int,
    optional_int_property,
    optional_ints_property,
    string_property,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.types import IncompleteType, shape_of, tensor_type
from xrelay.dialects.relay.core.windows import (
    extents_in,
    parse_layout,
    require_padding,
    require_window,
    shape_in,
    window_count,
)
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.ops.sliding_window import SlidingWindowOp
from xrelay.index_algebra.dims import Dim, Shape, certainly_differ


@register_relay_op
@irdl_op_definition
class Conv2DOp(SlidingWindowOp):
    """Two-dimensional convolution (cross-correlation, as in every deep-learning framework).

    With data (N, C, H, W) and weight (O, C / groups, KH, KW):

        result[n, o, y, x] = sum over (i, r, s) of
            padded[n, g * C/groups + i, y * strides[0] + r * dilation[0], x * strides[1] + s * dilation[1]]
            * weight[o, i, r, s]     where g = o // (O / groups)

    `padding` is one number for all sides, two (height, width) or four (top, left, bottom, right). `channels` and
    `kernel_size` may be left out where the weight's type says them. Layouts permute and block the axes (`NHWC`,
    `NCHW16c`, `HWIO`, `OIHW16i16o`); `out_layout` is the data's unless given, `out_dtype` likewise.

    Constraints:
    - C1: the layouts are well-formed, of the axes N, C, H, W and O, I, H, W.
    - C2: data and weight have the ranks and inner extents of their layouts.
    - C3: the weight's in-channels times `groups` are the data's channels.
    - C4: `groups` is positive and divides the out-channels.
    - C5: `channels`, where given, is the weight's number of out-channels.
    - C6: `kernel_size`, where given, is the weight's height and width.
    - C7: strides and dilation are one or two positive numbers.
    - C8: padding is 1, 2 or 4 numbers that are not negative.
    - C9: the dilated kernel is not larger than the padded data.
    - C10: data and weight have the same element type.
    - C11: `out_dtype`, where given, is an element type.

    Example:
    ```mlir
    %y = relay.nn.conv2d(%x, %w) {strides = [2, 2], padding = [1, 1, 1, 1], channels = 32, kernel_size = [3, 3]}
        : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x112x112xf32>
    ```

    """

    name = "relay.nn.conv2d"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    CHOOSES_LAYOUT: ClassVar[bool] = True
    SIZE: ClassVar[str] = "kernel_size"
    INFERENCE_HINT: ClassVar[str | None] = "give channels and kernel_size, or the weight's type"

    data = operand_def()
    weight = operand_def()
    result = result_def()

    strides = ints_property(1, 1)
    padding = ints_property(0, 0, 0, 0)
    dilation = ints_property(1, 1)
    groups = int_property(1)
    channels = optional_int_property()
    kernel_size = optional_ints_property()
    data_layout = string_property("NCHW")
    kernel_layout = string_property("OIHW")
    out_layout = string_property("")
    out_dtype = opt_prop_def()

    traits = traits_def(Pure())

    @property
    def layouts(self) -> tuple[Layout, Layout, Layout]:
        """The layouts of data, weight and result."""
        data = parse_layout(self, self.data_layout.data, "NCHW", "C1")
        weight = parse_layout(self, self.kernel_layout.data, "OIHW", "C1")
        out = self.out_layout.data
        return data, weight, parse_layout(self, out, "NCHW", "C1") if out else data

    def infer_type(self, facts: Facts) -> Attribute:
        """Count the windows along height and width; C1 to C10."""
        data_shape, element = facts.operand(0)
        weight_shape, weight_element = facts.operand(1)
        facts.require(element == weight_element, "C10", lambda: f"element types {element} != {weight_element}")
        self._check_attributes()
        data_layout, weight_layout, out_layout = self.layouts
        data = extents_in(self, data_layout, data_shape, "C2")
        weight = extents_in(self, weight_layout, weight_shape, "C2")
        self._check_channels(facts, data["C"], weight)
        result = {"N": data["N"], "C": weight["O"]} | self._windows(data, weight)
        dtype = self.element_type_property(self.out_dtype, element, "C11")
        return tensor_type(shape_in(self, out_layout, result, "C1"), dtype)

    def _check_attributes(self) -> None:
        require_window(self, ints(self.strides), ints(self.dilation), "C7")
        require_padding(self, ints(self.padding), "C8")

    def _check_channels(self, facts: Facts, in_channels: Dim, weight: dict[str, Dim]) -> None:
        groups = self.groups.value.data
        self.require(groups > 0, "C4", f"groups must be positive, found {groups}")
        what = "kernel in-channels" if groups == 1 else f"kernel in-channels {weight['I']} times groups {groups}:"
        facts.require_equal(weight["I"] * groups, in_channels, "C3", what)
        facts.require_equal(weight["O"] % groups, 0, "C4", f"out-channels {weight['O']} modulo groups {groups}:")
        channels = optional_int(self.channels)
        if channels is not None:
            facts.require_equal(weight["O"], channels, "C5", "kernel out-channels and channels differ:")
        if self.kernel_size is not None:
            sizes = ints(self.kernel_size)
            self.require(len(sizes) == 2, "C6", f"kernel_size must be two numbers, found {list(sizes)}")
            facts.require_equal(weight["H"], sizes[0], "C6", "kernel height and kernel_size differ:")
            facts.require_equal(weight["W"], sizes[1], "C6", "kernel width and kernel_size differ:")

    def _windows(self, data: dict[str, Dim], weight: dict[str, Dim]) -> dict[str, Dim]:
        top, left, bottom, right = self.pads
        counts: dict[str, Dim] = {}
        for axis, stride, dilation, pads in (
            ("H", self.stride_pair[0], self.dilation_pair[0], top + bottom),
            ("W", self.stride_pair[1], self.dilation_pair[1], left + right),
        ):
            count = window_count(data[axis], weight[axis], stride, dilation, pads)
            self.require(
                not isinstance(count, int) or count > 0,
                "C9",
                f"kernel of extent {weight[axis]} (dilation {dilation}) is larger than the padded {axis} extent "
                f"{data[axis] + pads}",
            )
            counts[axis] = count
        return counts

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """The weight's type from `channels`, `kernel_size` and the data's channels."""
        data, weight = facts
        if isinstance(data, IncompleteType) or not isinstance(weight, IncompleteType):
            return facts
        data_shape, element = facts.operand(0)
        shape = self._weight_shape(data_shape, known_shape(result_type))
        return facts if shape is None else [data, tensor_type(shape, element)]

    def _weight_shape(self, data_shape: Shape, result_shape: Shape | None) -> Shape | None:
        self.require(self.groups.value.data > 0, "C4", f"groups must be positive, found {self.groups.value.data}")
        data_layout, weight_layout, out_layout = self.layouts
        channels: Dim | None = optional_int(self.channels)
        if channels is None and result_shape is not None:
            channels = extents_in(self, out_layout, result_shape, "C2")["C"]
        sizes = ints(self.kernel_size)
        if channels is None or len(sizes) != 2:
            return None
        in_channels = extents_in(self, data_layout, data_shape, "C2")["C"] // self.groups.value.data
        extents: dict[str, Dim] = {"O": channels, "I": in_channels, "H": sizes[0], "W": sizes[1]}
        return shape_in(self, weight_layout, extents, "C1")

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follow the data's layout: any order of axes, and channels in blocks that divide the channels of a group."""
        data, weight, out = self.layouts
        wanted = layouts[0] if layouts[0] is not None else data
        block = wanted.factor("C")
        if sorted(wanted.primal) != sorted("NCHW") or any(wanted.factor(letter) for letter in "NHW"):
            return LayoutRefusal(f"a convolution does not work in layout {wanted}")
        if str(wanted.text) != str(data) or str(out) != str(data):
            return LayoutRefusal(f"it works in {data} and {out}, its data comes as {wanted.text}")
        kernel = layouts[1]
        if kernel is None:
            kernel = weight if block is None else LayoutPermutation.of(self.blocked_kernel(block), weight)
        return self.with_layouts(wanted, kernel, wanted)

    @property
    def is_depthwise(self) -> bool:
        """Whether every channel is a group of its own, with one result."""
        weight = self.layouts[1].primal_extents(shape_of(self.weight.type))
        return self.groups.value.data > 1 and weight["I"] == 1 and weight["O"] == self.groups.value.data

    def blocked_kernel(self, block: int) -> Layout:
        """The kernel's layout that goes with data and result in blocks of `block` channels."""
        return Layout.parse(f"OIHW{1 if self.is_depthwise else block}i{block}o")

    def with_layouts(self, data: Layout, weight: Layout, out: Layout) -> LayoutDecision | LayoutRefusal:
        """The decision to work in these layouts, or why blocks do not fit the channels of a group."""
        extents = self.layouts[1].primal_extents(shape_of(self.weight.type))
        depth, filters, groups = extents["I"], extents["O"], self.groups.value.data
        whole = self.is_depthwise
        blocks = (
            ("in-channels", depth * groups if whole else depth, data.factor("C")),
            ("in-channels", depth, weight.factor("I")),
            ("out-channels", filters if whole else filters // groups, weight.factor("O")),
            ("out-channels", filters if whole else filters // groups, out.factor("C")),
        )
        of_group = " of a group" if groups > 1 and not whole else ""
        for what, channels, factor in blocks:
            if factor is not None and certainly_differ(channels % factor, 0):
                return LayoutRefusal(f"blocks of {factor} do not divide the {channels} {what}{of_group}")
        properties: dict[str, Attribute] = {
            "data_layout": string_attribute(str(data)),
            "kernel_layout": string_attribute(str(weight)),
            "out_layout": string_attribute("" if out == data else str(out)),
        }
        return LayoutDecision((data, weight), out, properties)
