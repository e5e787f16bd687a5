"""`relay-convert-layout`: gives operators the layouts that the user asks for, and the graph around them follows.

What: `desired-layouts` names operators with the layout of their data and, for a convolution, of their kernel:
`"nn.conv2d:NHWC:HWIO"`, `"nn.max_pool2d:NHWC"`. Such an operator is rewritten to work so, whatever layout the text
gives it (NCHW, NHWC, NCHW16c); what stands behind it follows by `propagate_layouts` where it can, and where it cannot a
`relay.layout_transform` brings the value back, once. The kernel's layout may be left out or called `default`: HWIO for
NHWC, OIHW for NCHW, OIHW16i16o for NCHW16c, with 1i for a depthwise convolution, which is blocked alike. Pools and
convolutions over one and three axes have such layouts too (`"nn.conv1d:NWC"`), the convolutions of them without blocks,
and so has `qnn.conv2d`, behind which quantised operators follow. So do transposed convolutions, without blocks,
`nn.deformable_conv2d` (NCHW and NHWC), `image.resize2d` and `vision.roi_align`. An operator without a layout of its own
that follows, such as `nn.batch_norm`, may be named, and follows. `skip-layers`, or a `LayoutConfig`
around the pass, keeps single convolutions as they are.
Why beside `relay-alter-op-layout`: there the target chooses, here the user does, for a library that wants one layout or
to undo what an exporter did.

Before, with `desired-layouts="nn.conv2d:NHWC"`:

    %a = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x4x4xf32>
    %r = relay.nn.relu(%a)

After:

    %X = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
    %W = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "HWIO"}       folded later
    %A = relay.nn.conv2d(%X, %W) {data_layout = "NHWC", kernel_layout = "HWIO"} : … -> tensor<1x4x4x4xf32>
    %R = relay.nn.relu(%A)
    %r = relay.layout_transform(%R) {src_layout = "NHWC", dst_layout = "NCHW"}

Refuses with a remark, and leaves the op as it is: blocks that do not divide the channels, or those of a group; ops that
docs/layouts.md names. `PassError` with the place in the option for an operator that does not exist, has no layout and
follows none, or is named twice, for too many layouts, and for a layout that is ill-formed or has other axes. No value
changes; the order in which a convolution or a reduction sums may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.errors import PassError
from xrelay.passes.graph.remarks import Remark, report
from xrelay.passes.layout.alter_op_layout import alter_layouts
from xrelay.passes.layout.desired_entry import NAME, place_of
from xrelay.passes.layout.desired_layouts import hooks_for
from xrelay.passes.layout.layout_config import LayoutConfig


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

    skip_layers: tuple[int, ...] = field(
        default=(), metadata={"help": "numbers of convolutions that stay as they are, from 0 in the order of the text"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Convert in place."""
        wanted: dict[str, list[str]] = {}
        for index, entry in enumerate(self.desired_layouts):
            operator, *layouts = entry.split(":")
            if operator in wanted:
                raise PassError(f"{place_of(index, operator, layouts)}: {operator} has layouts already")
            wanted[operator] = layouts
        report(convert_layouts(op, wanted, skip_layers=self.skip_layers))


def convert_layouts(
    module: ModuleOp, desired: Mapping[str, Sequence[str]], *, skip_layers: Sequence[int] = ()
) -> list[Remark]:
    """Convert the operators named in `desired` (operator → data layout, kernel layout) in every function but kernels.

    Convolutions whose numbers are in `skip_layers` stay; without any, those that an entered `LayoutConfig` names. Says
    which ops changed, and which kept their layout and why. `PassError` for what `desired` names wrongly.
    """
    hooks = hooks_for(desired)
    with LayoutConfig(skip_layers) if skip_layers else nullcontext():
        return [replace(remark, pass_name=NAME) for remark in alter_layouts(module, target="", hooks=hooks)]
