"""Hooks of `relay-convert-layout` for operators on images other than convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from xrelay.dialects.relay.core.attribute_values import string_attribute
from xrelay.dialects.relay.core.constraints import OneOf
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.ops.image.resize import ResizeOp
from xrelay.dialects.relay.ops.nn.conv_transpose import ConvTransposeOp
from xrelay.dialects.relay.ops.nn.deformable_conv import DeformableConv2DOp
from xrelay.dialects.relay.ops.vision.regions import RoiAlignOp, RoiPoolOp
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import PassError
from xrelay.passes.layout.desired_entry import DEFAULT, DesiredEntry
from xrelay.passes.layout.layout_config import LayoutConfig
from xrelay.passes.layout.layout_hooks import LayoutHook

ORDERS = ("NCHW", "NHWC")
"""The layouts of operators that support two."""


def is_skipped() -> LayoutRefusal | None:
    """Returns the refusal if the innermost `LayoutConfig` skips the current convolution; counts the convolution."""
    config = LayoutConfig.innermost()
    return LayoutRefusal("its number is among skip_layers") if config is not None and config.check_skip() else None


def blocks_refusal(data: Layout, shape_layout: Layout, type: Attribute) -> LayoutRefusal | None:
    """Returns the refusal if the channels of a value of `type` cannot be split into the blocks of `data`, or `None`."""
    channels, factor = shape_layout.primal_extents(shape_of(type))["C"], data.factor("C")
    if factor is None or (isinstance(channels, int) and channels % factor == 0):
        return None
    return LayoutRefusal(f"blocks of {factor} do not divide the {channels} channels")


def transposed_hook(kind: type[ConvTransposeOp], entry: DesiredEntry) -> LayoutHook:
    """Returns a hook that converts transposed convolutions of class `kind` to the layouts of `entry`: data, kernel."""
    entry.at_most(2)
    data = entry.layout(0, f"NC{kind.AXES}")
    last = Layout.parse(f"{kind.AXES}IO" if data.primal.endswith("C") else f"IO{kind.AXES}")
    kernel = entry.optional(1, f"IO{kind.AXES}")
    wanted = (data, last if kernel is None else kernel, data)

    def hook(op: ConvTransposeOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        before = op.layouts
        if [str(layout) for layout in before] == [str(layout) for layout in wanted]:
            return LayoutRefusal(f"it works in {wanted[0]} and {wanted[1]} already")
        images, weight, result = (LayoutPermutation.of(new, old) for new, old in zip(wanted, before, strict=True))
        properties = _filter_properties(wanted[0], wanted[1])
        # A quantised convolution has further operands after data and weight.
        others = (None,) * (len(op.operands) - 2)
        return LayoutDecision((images, weight, *others), result, properties)

    return hook


def deformable_hook(entry: DesiredEntry) -> LayoutHook:
    """Returns a hook that converts deformable convolutions to a layout; the data's layout determines the kernel's."""
    entry.at_most(2)
    data = entry.one_of(0, ORDERS)
    kernel = Layout.parse("OIHW" if str(data) == ORDERS[0] else "HWIO")
    given = entry.optional(1, "OIHW")
    if given is not None and str(given) != str(kernel):
        raise PassError(f"{entry.place}: with data in {data} its kernel is in {kernel}")

    def hook(op: DeformableConv2DOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        skipped = is_skipped()
        if skipped is not None:
            return skipped
        before, weight = Layout.parse(op.data_layout.data), Layout.parse(op.kernel_layout.data)
        if str(before) == str(data):
            return LayoutRefusal(f"it works in {data} and {kernel} already")
        images = LayoutPermutation.of(data, before)
        return LayoutDecision(
            (images, images, LayoutPermutation.of(kernel, weight)), images, _filter_properties(data, kernel)
        )

    return hook


def resize_hook(kind: type[ResizeOp], entry: DesiredEntry) -> LayoutHook:
    """Returns a hook that converts resizes of the class `kind` to a layout."""
    entry.at_most(1)
    wanted = entry.layout(0, f"NC{kind.AXES}", "C")

    def hook(op: ResizeOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        before = op.data_layout
        if str(before) == str(wanted):
            return LayoutRefusal(f"it works in {wanted} already")
        refusal = blocks_refusal(wanted, before, op.data.type)
        if refusal is not None:
            return refusal
        layout = LayoutPermutation.of(wanted, before)
        return LayoutDecision((layout,), layout, {"layout": string_attribute(str(wanted))})

    return hook


def region_hook(kind: type[RoiAlignOp | RoiPoolOp], entry: DesiredEntry) -> LayoutHook:
    """Returns a hook that converts the images of ops of class `kind` to a supported layout, but not the regions."""
    entry.at_most(2)
    known = kind.CONSTRAINTS["C5"]
    wanted = entry.one_of(0, known.words if isinstance(known, OneOf) else ORDERS)
    if entry.layouts[1:] not in ([], [DEFAULT]):
        raise PassError(f"{entry.place}: its regions have no layout", help=f"write {DEFAULT}, or nothing")

    def hook(
        op: RoiAlignOp | RoiPoolOp, available: Sequence[Layout | None], lanes: int
    ) -> LayoutDecision | LayoutRefusal:
        before = Layout.parse(op.layout.data)
        if str(before) == str(wanted):
            return LayoutRefusal(f"it works in {wanted} already")
        layout = LayoutPermutation.of(wanted, before)
        return LayoutDecision((layout, None), layout, {"layout": string_attribute(str(wanted))})

    return hook


def _filter_properties(data: Layout, kernel: Layout) -> dict[str, Attribute]:
    """Returns the properties of an op with data and result in one layout and a kernel in another."""
    texts = {"data_layout": str(data), "kernel_layout": str(kernel), "out_layout": ""}
    return {name: string_attribute(text) for name, text in texts.items()}
