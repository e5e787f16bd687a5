"""Parses the option `desired-layouts` of `relay-convert-layout` into hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xrelay.dialects.relay.core.attribute_values import string_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import UnknownOpError, get_relay_op
from xrelay.dialects.relay.core.types import shape_of
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout, LayoutAxis, LayoutError
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.ops.nn_conv import Conv1DOp, Conv2DOp, Conv3DOp, ConvOp
from xrelay.dialects.relay.ops.nn_pool import (
    AvgPool1DOp,
    AvgPool2DOp,
    AvgPool3DOp,
    GlobalAvgPool1DOp,
    GlobalAvgPool2DOp,
    GlobalAvgPool3DOp,
    GlobalMaxPool1DOp,
    GlobalMaxPool2DOp,
    GlobalMaxPool3DOp,
    MaxPool1DOp,
    MaxPool2DOp,
    MaxPool3DOp,
    PoolOp,
)
from xrelay.dialects.relay.ops.qnn_conv import QnnConv2DOp
from xrelay.errors import PassError
from xrelay.passes.layout.layout_hooks import LayoutHook

NAME = "relay-convert-layout"
DEFAULT = "default"
CONVOLUTIONS: tuple[type[ConvOp], ...] = (Conv2DOp, Conv1DOp, Conv3DOp, QnnConv2DOp)
POOLS: tuple[type[PoolOp], ...] = (
    MaxPool2DOp, AvgPool2DOp, GlobalAvgPool2DOp, GlobalMaxPool2DOp,
    MaxPool1DOp, AvgPool1DOp, GlobalAvgPool1DOp, GlobalMaxPool1DOp,
    MaxPool3DOp, AvgPool3DOp, GlobalAvgPool3DOp, GlobalMaxPool3DOp,
)  # fmt: skip
CONVERTIBLE: dict[str, type[ConvOp | PoolOp]] = {op.relay_name(): op for op in (*CONVOLUTIONS, *POOLS)}
"""The operators that have a layout, by Relay's name."""


def hooks_for(desired: Mapping[str, Sequence[str]]) -> dict[type[RelayOp], LayoutHook]:
    """Hooks that bring the operators named in `desired` (operator → data layout, kernel layout) to their layouts.

    A convolution that is not named keeps its layout, whatever comes in. `PassError` for what is named wrongly.
    """
    hooks: dict[type[RelayOp], LayoutHook] = {Conv2DOp: _keep_conv}
    for index, (operator, given) in enumerate(desired.items()):
        # A single layout may come without a list around it.
        layouts = [given] if isinstance(given, str) else list(given)
        place = place_of(index, operator, layouts)
        op = _operator(place, operator)
        hooks[op] = _conv_hook(op, place, layouts) if issubclass(op, ConvOp) else _pool_hook(op, place, layouts)
    return hooks


def place_of(index: int, operator: str, layouts: Sequence[str]) -> str:
    """The place of an entry, for messages."""
    return f"{NAME}: desired-layouts[{index}] {':'.join([operator, *layouts])!r}"


def _operator(place: str, name: str) -> type[ConvOp | PoolOp]:
    try:
        op = get_relay_op(name)
    except UnknownOpError as error:
        raise PassError(f"{place}: {error.message}", help=error.help) from error
    found = CONVERTIBLE.get(op.relay_name())
    if found is None:
        raise PassError(
            f"{place}: {op.relay_name()!r} has no layout to choose", help=f"one of {', '.join(CONVERTIBLE)}"
        )
    return found


def _layout(place: str, text: str, axes: str, split: str) -> Layout:
    """The layout called `text`; `PassError` where it is none, of other axes, or splits others than `split`."""
    try:
        layout = Layout.parse(text)
    except LayoutError as error:
        raise PassError(f"{place}: {error.message}", help=error.help) from error
    if sorted(layout.primal) != sorted(axes):
        raise PassError(f"{place}: layout {text} does not have the axes {axes}")
    strange = [axis for axis in layout.axes if axis.factor is not None and axis.letter not in split]
    if strange:
        which = f"only {' and '.join(split)} may be split" if split else "no axis may be split"
        raise PassError(f"{place}: layout {text} splits {strange[0].letter}; {which}")
    return layout


def _only(place: str, layouts: Sequence[str], most: int) -> None:
    if not 1 <= len(layouts) <= most:
        what = "1 layout" if most == 1 else f"1 to {most} layouts"
        raise PassError(f"{place}: it takes {what}, found {len(layouts)}")


def _conv_hook(kind: type[ConvOp], place: str, layouts: Sequence[str]) -> LayoutHook:
    """A hook that makes convolutions of the class `kind` work in `layouts`: data, kernel."""
    _only(place, layouts, 2)
    # Only kernels of images have blocks.
    split = ("C", "OI") if len(kind.AXES) == 2 else ("", "")
    data = _layout(place, layouts[0], f"NC{kind.AXES}", split[0])
    text = layouts[1] if len(layouts) > 1 else DEFAULT
    kernel = None if text == DEFAULT else _layout(place, text, f"OI{kind.AXES}", split[1])

    def hook(op: ConvOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
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
    """The kernel's layout that goes with the data's: channels last with channels last, blocks with blocks."""
    block = data.factor("C")
    if block is not None:
        return op.blocked_kernel(block)
    return Layout.parse(f"{op.AXES}IO" if data.primal.endswith("C") else f"OI{op.AXES}")


def _for_groups(op: ConvOp, kernel: Layout) -> Layout:
    """`kernel`, whose one in-channel is a block of 1 in a depthwise convolution."""
    if not op.is_depthwise or kernel.factor("I") is None:
        return kernel
    one = LayoutAxis("I", 1)
    return Layout(tuple(one if axis.letter == "I" and axis.factor is not None else axis for axis in kernel.axes))


def _keep_conv(op: Conv2DOp, available: Sequence[Layout | None], lanes: int) -> LayoutRefusal:
    """A convolution that is not to be converted stays, whatever comes in."""
    return LayoutRefusal("no layout is asked for")


def _pool_hook(kind: type[PoolOp], place: str, layouts: Sequence[str]) -> LayoutHook:
    """A hook that makes pools of the class `kind` work in a layout."""
    _only(place, layouts, 1)
    wanted = _layout(place, layouts[0], f"NC{kind.AXES}", "C")

    def hook(op: PoolOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        before, out = op.layouts
        if str(wanted) == str(before) == str(out):
            return LayoutRefusal(f"it works in {wanted} already")
        channels, factor = before.primal_extents(shape_of(op.data.type))["C"], wanted.factor("C")
        if factor is not None and not (isinstance(channels, int) and channels % factor == 0):
            return LayoutRefusal(f"blocks of {factor} do not divide the {channels} channels")
        properties = {"layout": string_attribute(str(wanted)), "out_layout": string_attribute("")}
        return LayoutDecision((LayoutPermutation.of(wanted, before),), LayoutPermutation.of(wanted, out), properties)

    return hook
