"""Parses the option `desired-layouts` of `relay-convert-layout` into hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xrelay.dialects.relay.core.attribute_values import string_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import UnknownOpError, get_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout, LayoutAxis
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.ops.image.resize import Resize1DOp, Resize2DOp, Resize3DOp, ResizeOp
from xrelay.dialects.relay.ops.nn.adaptive_pool import (
    GlobalAvgPool1DOp,
    GlobalAvgPool2DOp,
    GlobalAvgPool3DOp,
    GlobalMaxPool1DOp,
    GlobalMaxPool2DOp,
    GlobalMaxPool3DOp,
)
from xrelay.dialects.relay.ops.nn.conv import Conv1DOp, Conv2DOp, Conv3DOp, ConvOp
from xrelay.dialects.relay.ops.nn.conv_transpose import TRANSPOSED_CONVOLUTIONS, ConvTransposeOp
from xrelay.dialects.relay.ops.nn.deformable_conv import DeformableConv2DOp
from xrelay.dialects.relay.ops.nn.pool import (
    AvgPool1DOp,
    AvgPool2DOp,
    AvgPool3DOp,
    MaxPool1DOp,
    MaxPool2DOp,
    MaxPool3DOp,
    PoolOp,
)
from xrelay.dialects.relay.ops.qnn.conv import QnnConv2DOp, QnnConv2DTransposeOp
from xrelay.dialects.relay.ops.vision.regions import RoiAlignOp, RoiPoolOp
from xrelay.errors import PassError
from xrelay.passes.layout.desired_entry import DesiredEntry, place_of
from xrelay.passes.layout.desired_images import (
    blocks_refusal,
    deformable_hook,
    is_skipped,
    region_hook,
    resize_hook,
    transposed_hook,
)
from xrelay.passes.layout.layout_hooks import LayoutHook

CONVOLUTIONS: tuple[type[ConvOp], ...] = (Conv2DOp, Conv1DOp, Conv3DOp, QnnConv2DOp)


POOLS: tuple[type[PoolOp], ...] = (
    MaxPool2DOp, AvgPool2DOp, GlobalAvgPool2DOp, GlobalMaxPool2DOp,
    MaxPool1DOp, AvgPool1DOp, GlobalAvgPool1DOp, GlobalMaxPool1DOp,
    MaxPool3DOp, AvgPool3DOp, GlobalAvgPool3DOp, GlobalMaxPool3DOp,
)  # fmt: skip


TRANSPOSED: tuple[type[ConvTransposeOp], ...] = (*TRANSPOSED_CONVOLUTIONS, QnnConv2DTransposeOp)


RESIZES: tuple[type[ResizeOp], ...] = (Resize2DOp, Resize1DOp, Resize3DOp)


OTHERS: tuple[type[RelayOp], ...] = (*TRANSPOSED, DeformableConv2DOp, *RESIZES, RoiAlignOp, RoiPoolOp)


CONVERTIBLE: dict[str, type[RelayOp]] = {op.relay_name(): op for op in (*CONVOLUTIONS, *POOLS, *OTHERS)}
"""The operators that have a layout, by Relay's name."""


def hooks_for(desired: Mapping[str, Sequence[str]]) -> dict[type[RelayOp], LayoutHook]:
    """Hooks that convert the operators in `desired` (operator → data layout, kernel layout) to their layouts.

    A convolution that is not listed keeps its layout, whatever the layouts of its operands. An operator that follows
    the layout of its operands, such as `nn.batch_norm`, may be listed, as in Relay, without effect. Raises `PassError`
    for invalid entries.
    """
    hooks: dict[type[RelayOp], LayoutHook] = {Conv2DOp: _keep_conv}
    for index, (operator, given) in enumerate(desired.items()):
        # A single layout may come without a list around it.
        layouts = [given] if isinstance(given, str) else list(given)
        place = place_of(index, operator, layouts)
        op = _operator(place, operator)
        if op is not None:
            hooks[op] = _hook_for(op, DesiredEntry(place, layouts))
    return hooks


def _hook_for(op: type[RelayOp], entry: DesiredEntry) -> LayoutHook:
    """Returns the hook that converts ops of the class `op` to the layouts of `entry`."""
    if issubclass(op, ConvOp):
        return _conv_hook(op, entry)
    if issubclass(op, ConvTransposeOp):
        return transposed_hook(op, entry)
    if issubclass(op, PoolOp):
        return _pool_hook(op, entry)
    if issubclass(op, ResizeOp):
        return resize_hook(op, entry)
    return region_hook(op, entry) if issubclass(op, RoiAlignOp | RoiPoolOp) else deformable_hook(entry)


def _operator(place: str, name: str) -> type[RelayOp] | None:
    """Returns the class of an operator that has a layout; `None` for an operator that follows its operands."""
    try:
        op = get_relay_op(name)
    except UnknownOpError as error:
        raise PassError(f"{place}: {error.message}", help=error.help) from error
    found = CONVERTIBLE.get(op.relay_name())
    if found is None and op.propagate_layouts is RelayOp.propagate_layouts:
        raise PassError(
            f"{place}: {op.relay_name()!r} has no layout to choose", help=f"one of {', '.join(CONVERTIBLE)}"
        )
    return found


def _conv_hook(kind: type[ConvOp], entry: DesiredEntry) -> LayoutHook:
    """Returns a hook that converts convolutions of the class `kind` to the layouts of `entry`: data, kernel."""
    entry.at_most(2)
    # Only kernels of images have blocks.
    split = ("C", "OI") if len(kind.AXES) == 2 else ("", "")
    data = entry.layout(0, f"NC{kind.AXES}", split[0])
    kernel = entry.optional(1, f"OI{kind.AXES}", split[1])

    def hook(op: ConvOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        skipped = is_skipped()
        if skipped is not None:
            return skipped
        before = op.layouts
        weight = _default_kernel(op, data) if kernel is None else _for_groups(op, kernel)
        if [str(layout) for layout in before] == [str(data), str(weight), str(data)]:
            return LayoutRefusal(f"it works in {data} and {weight} already")
        return op.with_layouts(
            LayoutPermutation.of(data, before[0]),
            LayoutPermutation.of(weight, before[1]),
            LayoutPermutation.of(data, before[2]),
        )

    return hook


def _default_kernel(op: ConvOp, data: Layout) -> Layout:
    """Returns the kernel's default layout for the data's, as in Relay: for example channels last for channels last."""
    block = data.factor("C")
    if block is not None:
        return op.blocked_kernel(block)
    if data.primal == "HWNC":
        return Layout.parse("HWOI")
    return Layout.parse(f"{op.AXES}IO" if data.primal.endswith("C") else f"OI{op.AXES}")


def _for_groups(op: ConvOp, kernel: Layout) -> Layout:
    """Returns `kernel`, with the one in-channel of a depthwise convolution as a block of 1."""
    if not op.is_depthwise or kernel.factor("I") is None:
        return kernel
    one = LayoutAxis("I", 1)
    return Layout(tuple(one if axis.letter == "I" and axis.factor is not None else axis for axis in kernel.axes))


def _keep_conv(op: Conv2DOp, available: Sequence[Layout | None], lanes: int) -> LayoutRefusal:
    """Keeps the layout of convolutions that are not listed."""
    return LayoutRefusal("no layout is requested")


def _pool_hook(kind: type[PoolOp], entry: DesiredEntry) -> LayoutHook:
    """Returns a hook that converts pools of the class `kind` to a layout."""
    entry.at_most(1)
    wanted = entry.layout(0, f"NC{kind.AXES}", "C")

    def hook(op: PoolOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        before, out = op.layouts
        if str(wanted) == str(before) == str(out):
            return LayoutRefusal(f"it works in {wanted} already")
        refusal = blocks_refusal(wanted, before, op.data.type)
        if refusal is not None:
            return refusal
        properties = {"layout": string_attribute(str(wanted)), "out_layout": string_attribute("")}
        return LayoutDecision((LayoutPermutation.of(wanted, before),), LayoutPermutation.of(wanted, out), properties)

    return hook
