"""`relay-convert-layout`: converts operators to the layouts that the user requests, and propagates them.

`desired-layouts` lists operators with the layout of their data and, for a convolution, of their kernel:
`"nn.conv2d:NHWC:HWIO"`, `"nn.max_pool2d:NHWC"`. Such an operator is converted from any layout (NCHW, NHWC, NCHW16c).
Ops after it follow by `propagate_layouts` if they can; otherwise a `relay.layout_transform` converts the value back,
once. The kernel's layout may be omitted or `default`: HWIO for NHWC, OIHW for NCHW, OIHW16i16o for NCHW16c, with 1i for
a depthwise convolution.

Pools and convolutions over one and three axes have such layouts too (`"nn.conv1d:NWC"`), but no blocks for the
convolutions. So do `qnn.conv2d`, whose layout quantised operators follow, transposed convolutions (without blocks),
`nn.deformable_conv2d` (NCHW and NHWC), `image.resize2d` and `vision.roi_align`. An operator that only follows, such as
`nn.batch_norm`, may be listed without effect. `skip-layers`, or a `LayoutConfig` around the pass, exempts single
convolutions.

In `relay-alter-op-layout` the target chooses the layouts. In this pass the user does, for a library that supports one
layout only, or to change the layouts that an exporter has chosen.

Before, with `desired-layouts="nn.conv2d:NHWC"`:

    %a = relay.nn.conv2d(%x, %w) : (tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x4x4xf32>
    %r = relay.nn.relu(%a)

After:

    %X = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NHWC"}
    %W = relay.layout_transform(%w) {src_layout = "OIHW", dst_layout = "HWIO"}       folded later
    %A = relay.nn.conv2d(%X, %W) {data_layout = "NHWC", kernel_layout = "HWIO"} : … -> tensor<1x4x4x4xf32>
    %R = relay.nn.relu(%A)
    %r = relay.layout_transform(%R) {src_layout = "NHWC", dst_layout = "NCHW"}

Blocks that do not divide the channels, or those of a group, and ops listed in docs/layouts.md are refused with a remark
and stay unchanged. Raises `PassError` with the position in the option for an operator that is unknown, has no layout
and does not follow one, or is listed twice, for too many layouts, and for a layout that is ill-formed or has other
axes. Values do not change, but a convolution or a reduction may sum in another order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError
from xrelay.passes.graph.remarks import Remark, report
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.layout.alter_op_layout import alter_layouts
from xrelay.passes.layout.desired_layouts import NAME, LayoutConfig, hooks_for, place_of


@dataclass(frozen=True)
class RelayConvertLayoutPass(XRelayPass):
    """Converts operators to the layouts that the user lists; see the module's docstring. Sums may be reordered."""

    name = NAME
    numerics = reassociates("sums over channels are taken in the order of the new layout")
    per_function = True

    desired_layouts: tuple[str, ...] = field(
        default=(),
        metadata={"help": 'operators with their layouts, e.g. "nn.conv2d:NHWC:HWIO","nn.max_pool2d:NHWC"'},
    )

    skip_layers: tuple[int, ...] = field(
        default=(), metadata={"help": "numbers of convolutions that keep their layout, from 0 in program order"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts the module in place."""
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
    """Converts the operators in `desired` (operator → data layout, kernel layout) in every function but kernels.

    Convolutions whose numbers are in `skip_layers` stay unchanged; without `skip_layers`, those of an entered
    `LayoutConfig`. Returns remarks on the ops that changed, and on those that kept their layout, with the reason.
    Raises `PassError` for invalid entries of `desired`.
    """
    hooks = hooks_for(desired)
    with LayoutConfig(skip_layers) if skip_layers else nullcontext():
        return [replace(remark, pass_name=NAME) for remark in alter_layouts(module, target="", hooks=hooks)]
