"""`relay-convert-layout`: operators get the layouts that the user asks for, and the graph around them follows.

What: `desired-layouts` names operators with the layout of their data and, for a convolution, of their kernel:
`"nn.conv2d:NHWC:HWIO"`, `"nn.max_pool2d:NHWC"`. Such an operator is rewritten to work so, whatever layout the text
gives it (NCHW, NHWC, NCHW16c); what stands behind it follows by `propagate_layouts` where it can, and where it cannot a
`relay.layout_transform` brings the value back, once. The kernel's layout may be left out or called `default`: HWIO for
NHWC, OIHW for NCHW, OIHW16i16o for NCHW16c. Why beside `relay-alter-op-layout`: there the target chooses, here the user
does, for a library that wants one layout or to undo what an exporter did.

Before, with `desired-layouts="nn.conv2d:NHWC"`:

    %a = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x4x4xf32>
    %r = relay.nn.relu(%a)

After:

    %X = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
    %W = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "HWIO"}       folded later
    %A = relay.nn.conv2d(%X, %W) {data_layout = "NHWC", kernel_layout = "HWIO"} : … -> tensor<1x4x4x4xf32>
    %R = relay.nn.relu(%A)
    %r = relay.layout_transform(%R) {src_layout = "NHWC", dst_layout = "NCHW"}

Refuses with a remark, and leaves the op as it is: blocks that do not divide the channels, grouped convolutions in
blocks; ops along an axis that blocks split (run `relay-canonicalize-ops` before, as for `relay-alter-op-layout`).
`PassError` for an operator that has no layout, and for a layout that is ill-formed or has other axes. No value changes;
the order in which a convolution sums may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from xrelay.dialects.relay.layout_behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layouts import Layout, LayoutError
from xrelay.dialects.relay.nn_conv import Conv2DOp
from xrelay.dialects.relay.nn_pool import AvgPool2DOp, GlobalAvgPool2DOp, GlobalMaxPool2DOp, MaxPool2DOp, SpatialOp
from xrelay.dialects.relay.op_base import RelayOp
from xrelay.dialects.relay.relayouts import Relayout
from xrelay.dialects.relay.types import shape_of
from xrelay.errors import PassError
from xrelay.passes.relay.alter_op_layout import alter_layouts
from xrelay.passes.relay.layout_hooks import LayoutHook
from xrelay.passes.relay.remarks import Remark

NAME = "relay-convert-layout"
DEFAULT = "default"
POOLS = (MaxPool2DOp, AvgPool2DOp, GlobalAvgPool2DOp, GlobalMaxPool2DOp)
CONVERTIBLE: dict[str, type[RelayOp]] = {op.relay_name(): op for op in (Conv2DOp, *POOLS)}
"""The operators that have a layout, by Relay's name."""


@dataclass(frozen=True)
class RelayConvertLayoutPass(ModulePass):
    """Bring operators to the layouts that the user names; see the module's docstring. Sums may be reordered."""

    name = NAME

    desired_layouts: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": 'operators with their layouts, e.g. "nn.conv2d:NHWC:HWIO","nn.max_pool2d:NHWC"; none: do nothing'
        },
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Convert in place."""
        wanted: dict[str, list[str]] = {}
        for entry in self.desired_layouts:
            operator, *layouts = entry.split(":")
            wanted[operator] = layouts
        convert_layouts(op, wanted)


def convert_layouts(module: ModuleOp, desired: Mapping[str, Sequence[str]]) -> list[Remark]:
    """Convert the operators named in `desired` (operator → data layout, kernel layout) in every function but kernels.

    Says which ops changed, and which kept their layout and why. `PassError` for what `desired` names wrongly.
    """
    hooks: dict[type[RelayOp], LayoutHook] = dict.fromkeys(POOLS, _follow_pool)
    hooks[Conv2DOp] = _keep_conv
    for operator, layouts in desired.items():
        op = CONVERTIBLE.get(operator)
        if op is None:
            raise PassError(f"{NAME}: {operator!r} has no layout to choose", help=f"one of {', '.join(CONVERTIBLE)}")
        hooks[op] = _conv_hook(operator, layouts) if op is Conv2DOp else _pool_hook(operator, layouts)
    return [replace(remark, pass_name=NAME) for remark in alter_layouts(module, target="", hooks=hooks)]


# --- what the user asked for ------------------------------------------------------------------------------------------


def _layout(operator: str, text: str, axes: str) -> Layout:
    """The layout called `text`; `PassError` where it is none, or of other axes."""
    try:
        layout = Layout.parse(text)
    except LayoutError as error:
        raise PassError(f"{NAME}: {operator}: {error.message}", help=error.help) from error
    if sorted(layout.primal) != sorted(axes):
        raise PassError(f"{NAME}: {operator}: layout {text} does not have the axes {axes}")
    return layout


def _only(operator: str, layouts: Sequence[str], most: int) -> None:
    if not 1 <= len(layouts) <= most:
        raise PassError(f"{NAME}: {operator} takes 1 to {most} layouts, found {len(layouts)}: {':'.join(layouts)}")


def _conv_hook(operator: str, layouts: Sequence[str]) -> LayoutHook:
    """A hook that makes convolutions work in `layouts`: data, kernel."""
    _only(operator, layouts, 2)
    data = _layout(operator, layouts[0], "NCHW")
    if any(data.factor(letter) is not None for letter in "NHW"):
        raise PassError(f"{NAME}: {operator}: only the channels of {data} may be split")
    kernel = layouts[1] if len(layouts) > 1 else DEFAULT
    weight = _default_kernel(data) if kernel == DEFAULT else _layout(operator, kernel, "OIHW")

    def hook(op: Conv2DOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        before = op.layouts
        if [str(layout) for layout in before] == [str(data), str(weight), str(data)]:
            return LayoutRefusal(f"it works in {data} and {weight} already")
        if data.factor("C") is not None and op.groups.value.data != 1:
            return LayoutRefusal("a grouped convolution keeps its channels whole")
        return op.with_layouts(
            Relayout.of(data, before[0]), Relayout.of(weight, before[1]), Relayout.of(data, before[2])
        )

    return hook


def _default_kernel(data: Layout) -> Layout:
    """The kernel's layout that goes with the data's: channels last with channels last, blocks with blocks."""
    block = data.factor("C")
    if block is not None:
        return Layout.parse(f"OIHW{block}i{block}o")
    return Layout.parse("HWIO" if data.primal.endswith("C") else "OIHW")


def _pool_hook(operator: str, layouts: Sequence[str]) -> LayoutHook:
    """A hook that makes pools work in a layout."""
    _only(operator, layouts, 1)
    wanted = _layout(operator, layouts[0], "NCHW")

    def hook(op: SpatialOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
        return _in_layout(op, wanted)

    return hook


# --- what nobody asked for --------------------------------------------------------------------------------------------


def _keep_conv(op: Conv2DOp, available: Sequence[Layout | None], lanes: int) -> LayoutRefusal:
    """A convolution that is not to be converted stays, whatever comes in."""
    return LayoutRefusal("no layout is asked for")


def _follow_pool(op: SpatialOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
    """A pool works in the layout in which its data comes."""
    come_in = available[0]
    return LayoutRefusal("its data comes as the text says") if come_in is None else _in_layout(op, come_in)


def _in_layout(op: SpatialOp, wanted: Layout) -> LayoutDecision | LayoutRefusal:
    """The pool in layout `wanted`, if its windows stay whole and blocks divide the channels."""
    before, out = op.layouts
    new = Layout(wanted.axes)
    if str(new) == str(before) == str(out):
        return LayoutRefusal(f"it works in {new} already")
    if any(new.factor(letter) is not None for letter in "NHW"):
        return LayoutRefusal(f"pooling does not work in layout {new}")
    channels, factor = before.primal_extents(shape_of(op.operands[0].type))["C"], new.factor("C")
    if factor is not None and not (isinstance(channels, int) and channels % factor == 0):
        return LayoutRefusal(f"blocks of {factor} do not divide the {channels} channels")
    properties = {"layout": StringAttr(str(new)), "out_layout": StringAttr("")}
    return LayoutDecision((Relayout.of(new, before),), Relayout.of(new, out), properties)
