"""Parses the option `desired-layouts` of `relay-convert-layout` into hooks, and exempts single convolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias

from xdsl.ir import Attribute

from xrelay.dialects.relay.core.attribute_values import string_attribute
from xrelay.dialects.relay.core.constraints import OneOf
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import UnknownOpError, get_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout, LayoutAxis, LayoutError
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.ops.image.resize import ResizeOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp, ConvOp
from xrelay.dialects.relay.ops.nn.conv_transpose import ConvTransposeOp
from xrelay.dialects.relay.ops.nn.deformable_conv import DeformableConv2DOp
from xrelay.dialects.relay.ops.nn.pool import (
    PoolOp,
)
from xrelay.dialects.relay.ops.vision.regions import RoiAlignOp, RoiPoolOp
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import PassError
from xrelay.passes.layout.layout_hooks import LayoutHook

ConvertibleOp: TypeAlias = ConvOp | ConvTransposeOp | DeformableConv2DOp | PoolOp | ResizeOp | RoiAlignOp | RoiPoolOp

CONVERTIBLE = (
    "nn.conv2d", "nn.conv1d", "nn.conv3d", "qnn.conv2d",
    *(f"nn.{kind}_pool{rank}d" for rank in (2, 1, 3) for kind in ("max", "avg", "global_avg", "global_max")),
    "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose", "qnn.conv2d_transpose",
    "nn.deformable_conv2d", "image.resize2d", "image.resize1d", "image.resize3d", "vision.roi_align", "vision.roi_pool",
)  # fmt: skip
"""Relay's names of the operators that have a layout."""

ORDERS = ("NCHW", "NHWC")
"""The layouts of operators that support two."""


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


def _operator(place: str, name: str) -> type[RelayOp] | None:
    """Returns the class of an operator that has a layout; `None` for an operator that follows its operands."""
    try:
        op = get_relay_op(name)
    except UnknownOpError as error:
        raise PassError(f"{place}: {error.message}", help=error.help) from error
    if op.relay_name() in CONVERTIBLE:
        return op
    if op.propagate_layouts is RelayOp.propagate_layouts:
        raise PassError(
            f"{place}: {op.relay_name()!r} has no layout to choose", help=f"one of {', '.join(CONVERTIBLE)}"
        )
    return None


def _hook_for(kind: type[RelayOp], entry: DesiredEntry) -> LayoutHook:
    """Returns the hook that converts ops of the class `kind` to the layouts of `entry`."""
    data, kernel = _requested(kind, entry)

    def hook(op: ConvertibleOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        config = LayoutConfig.innermost() if isinstance(op, ConvOp | DeformableConv2DOp) else None
        if config is not None and config.check_skip():
            return LayoutRefusal("its number is among skip_layers")
        before, weight = _layouts_of(op), kernel
        if isinstance(op, ConvOp):
            weight = _default_kernel(op, data) if kernel is None else _for_groups(op, kernel)
        wanted = (data,) * len(before) if weight is None else (data, weight, data)
        if list(map(str, wanted)) == list(map(str, before)):
            return LayoutRefusal(f"it works in {' and '.join(dict.fromkeys(map(str, wanted)))} already")
        return _decision(op, [LayoutPermutation.of(new, old) for new, old in zip(wanted, before, strict=True)])

    return hook


def _requested(kind: type[RelayOp], entry: DesiredEntry) -> tuple[Layout, Layout | None]:
    """Returns the layouts of data and kernel.

    The kernel has no layout, None, if the op has no kernel or the default applies.
    """
    if issubclass(kind, PoolOp | ResizeOp):
        entry.at_most(1)
        return entry.layout(0, f"NC{kind.AXES}", "C"), None
    entry.at_most(2)
    if issubclass(kind, ConvOp):
        # Only kernels of images have blocks.
        split = ("C", "OI") if len(kind.AXES) == 2 else ("", "")
        return entry.layout(0, f"NC{kind.AXES}", split[0]), entry.optional(1, f"OI{kind.AXES}", split[1])
    if issubclass(kind, ConvTransposeOp):
        data, kernel = entry.layout(0, f"NC{kind.AXES}"), entry.optional(1, f"IO{kind.AXES}")
        usual = Layout.parse(f"{kind.AXES}IO" if data.primal.endswith("C") else f"IO{kind.AXES}")
        return data, usual if kernel is None else kernel
    if issubclass(kind, RoiAlignOp | RoiPoolOp):
        known = kind.CONSTRAINTS["C5"]
        data = entry.one_of(0, known.words if isinstance(known, OneOf) else ORDERS)
        if entry.layouts[1:] not in ([], [DEFAULT]):
            raise PassError(f"{entry.place}: its regions have no layout", help=f"write {DEFAULT}, or nothing")
        return data, None
    data, given = entry.one_of(0, ORDERS), entry.optional(1, "OIHW")
    kernel = Layout.parse("OIHW" if str(data) == ORDERS[0] else "HWIO")
    if given is not None and str(given) != str(kernel):
        raise PassError(f"{entry.place}: with data in {data} its kernel must be in {kernel}")
    return data, kernel


def _layouts_of(op: ConvertibleOp) -> Sequence[Layout]:
    """Returns the current layouts: of data, kernel and result, of data and result, or one of both."""
    if isinstance(op, ConvOp | ConvTransposeOp | PoolOp):
        return op.layouts
    if isinstance(op, DeformableConv2DOp):
        data = Layout.parse(op.data_layout.data)
        return data, Layout.parse(op.kernel_layout.data), data
    return (op.data_layout if isinstance(op, ResizeOp) else Layout.parse(op.layout.data),)


def _decision(op: ConvertibleOp, layouts: Sequence[Layout]) -> LayoutDecision | LayoutRefusal:
    """Returns the decision for the layouts of `_layouts_of`, or a refusal if blocks do not divide the channels."""
    data, result = layouts[0], layouts[-1]
    if isinstance(op, ConvOp):
        return op.with_layouts(data, layouts[1], result)
    if isinstance(op, DeformableConv2DOp):
        return LayoutDecision((data, data, layouts[1]), result, _properties(data_layout=data, kernel_layout=layouts[1]))
    if isinstance(op, ConvTransposeOp):
        # A quantised convolution has further operands after data and weight.
        operands = (data, layouts[1], *(None,) * (len(op.operands) - 2))
        return LayoutDecision(operands, result, _properties(data_layout=data, kernel_layout=layouts[1]))
    channels, factor = data.text.primal_extents(shape_of(op.operands[0].type))["C"], data.factor("C")
    if factor is not None and not (isinstance(channels, int) and channels % factor == 0):
        return LayoutRefusal(f"blocks of {factor} do not divide the {channels} channels")
    properties = _properties(layout=data)
    if not isinstance(op, PoolOp):
        del properties["out_layout"]
    return LayoutDecision((data, *(None,) * (len(op.operands) - 1)), result, properties)


def _properties(**layouts: Layout) -> dict[str, Attribute]:
    """Returns these properties, and `out_layout` for a result in the layout of the data."""
    texts = {name: str(layout) for name, layout in layouts.items()} | {"out_layout": ""}
    return {name: string_attribute(text) for name, text in texts.items()}


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


NAME = "relay-convert-layout"
DEFAULT = "default"


def place_of(index: int, operator: str, layouts: Sequence[str]) -> str:
    """Returns the position of an entry, for messages."""
    return f"{NAME}: desired-layouts[{index}] {':'.join([operator, *layouts])!r}"


@dataclass(frozen=True)
class DesiredEntry:
    """The requested layouts, in the order of the operator's operands."""

    place: str
    """The position of the entry, for messages."""
    layouts: list[str]

    def at_most(self, most: int) -> None:
        """Raises `PassError` unless there are 1 to `most` layouts."""
        if not 1 <= len(self.layouts) <= most:
            what = "1 layout" if most == 1 else f"1 to {most} layouts"
            raise PassError(f"{self.place}: expected {what}, found {len(self.layouts)}")

    def layout(self, index: int, axes: str, split: str = "") -> Layout:
        """Returns layout `index`; raises `PassError` if it is invalid, or has or splits other axes than these."""
        text = self.layouts[index]
        try:
            layout = Layout.parse(text)
        except LayoutError as error:
            raise PassError(f"{self.place}: {error.message}", help=error.help) from error
        if sorted(layout.primal) != sorted(axes):
            raise PassError(f"{self.place}: layout {text} does not have the axes {axes}")
        strange = [axis for axis in layout.axes if axis.factor is not None and axis.letter not in split]
        if strange:
            which = f"only {' and '.join(split)} may be split" if split else "no axis may be split"
            raise PassError(f"{self.place}: layout {text} splits {strange[0].letter}; {which}")
        return layout

    def optional(self, index: int, axes: str, split: str = "") -> Layout | None:
        """Like `layout`, but returns None if the layout is omitted or `default`."""
        given = self.layouts[index] if index < len(self.layouts) else DEFAULT
        return None if given == DEFAULT else self.layout(index, axes, split)

    def one_of(self, index: int, layouts: Sequence[str]) -> Layout:
        """Returns layout `index`; raises `PassError` unless it is one of `layouts`."""
        text = self.layouts[index]
        if text not in layouts:
            raise PassError(f"{self.place}: the layout {text} is not {' or '.join(layouts)}")
        return Layout.parse(text)


_ENTERED: ContextVar[tuple[LayoutConfig, ...]] = ContextVar("layout configs", default=())


class LayoutConfig:
    """The convolutions that keep their layout inside a `with` block, in this thread only.

        with transform.LayoutConfig(skip_layers=[0]):
            module = transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]})(module)

    The first and the last layers of a network are often faster in the layout that they have. The convolutions that the
    pass would convert are numbered from 0 in program order, including deformable convolutions.

    `skip_layers` are their numbers, `skip_counter` is the number of convolutions so far. Blocks nest: the innermost is
    used.
    """

    def __init__(self, skip_layers: Sequence[int] | None = None):
        self.skip_layers = list(skip_layers) if skip_layers is not None else []
        self.skip_counter = 0

    @staticmethod
    def innermost() -> LayoutConfig | None:
        """Returns the innermost entered config, or `None`."""
        return next(reversed(_ENTERED.get()), None)

    def check_skip(self) -> bool:
        """Returns whether to skip the next convolution, and counts it."""
        skip = self.skip_counter in self.skip_layers
        self.skip_counter += 1
        return skip

    def reset(self) -> None:
        """Resets the counter and skips no convolutions."""
        self.skip_counter, self.skip_layers = 0, []

    def __enter__(self) -> Self:
        """Enters the config."""
        _ENTERED.set((*_ENTERED.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leaves the config."""
        _ENTERED.set(_ENTERED.get()[:-1])
