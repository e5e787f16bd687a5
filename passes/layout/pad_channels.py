"""`relay-pad-channels`: pads channels of convolutions to whole vectors.

24 or 200 channels are an odd number of halves of a vector of 16 lanes. Their blocks have 8 channels, and an instruction
on half a vector takes as long as one on a whole vector. With filters of zeros, and zeros in the filters of convolutions
that read the result, blocks have 16 channels: 13 vectors instead of 25 for 200 channels. The pass pads the channels of
all values of a group (`channel_groups.py`) if that takes fewer vector operations. It runs before
`relay-alter-op-layout`, which chooses the blocks.

Before:

    %a = relay.nn.conv2d(%x, %w) : (tensor<1x8x9x9xf32>, tensor<24x8x3x3xf32>) -> tensor<1x24x7x7xf32>
    %b = relay.nn.relu(%a)
    %c = relay.nn.conv2d(%b, %v) : (tensor<1x24x7x7xf32>, tensor<16x24x1x1xf32>) -> tensor<1x16x7x7xf32>

After, with zeros in `%W` and `%V`:

    %a = relay.nn.conv2d(%x, %W) : (tensor<1x8x9x9xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x7x7xf32>
    %b = relay.nn.relu(%a)
    %c = relay.nn.conv2d(%b, %V) : (tensor<1x32x7x7xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x7x7xf32>

An op that is not in the group reads a `relay.strided_slice` of the padded value. If an inf or NaN reaches a padded
convolution, all channels of the convolutions that read its result are NaN at these positions.

The pass refuses layouts other than NC…, other elements than f32, filters that are not constant, and grouped
convolutions that are not depthwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.core.attribute_values import int_array, int_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.behaviour import LayoutDecision
from xrelay.dialects.relay.ops.nn.conv import ConvOp
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp
from xrelay.dialects.shared.op_lists import ops_in
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.graph.scopes import graph_functions
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.layout.channel_groups import (
    ChannelGroups,
    channels_of,
    filters_of,
    has_channels,
    reads_channels,
)
from xrelay.passes.layout.layout_hooks import rebuild_op
from xrelay.passes.layout.layout_versions import insert_after

DEFAULT_LANES = 16


@dataclass(frozen=True)
class RelayPadChannelsPass(XRelayPass):
    """Pads channels of convolutions to whole vectors; see the module's docstring."""

    name = "relay-pad-channels"
    numerics = reassociates("sums over channels have additional zeros")
    per_function = True

    vector_lanes: int = field(default=DEFAULT_LANES, metadata={"help": "the number of f32 in a vector of the target"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(pad_channels(op, vector_lanes=self.vector_lanes))


def pad_channels(module: ModuleOp, *, vector_lanes: int = DEFAULT_LANES) -> list[Remark]:
    """Rewrites the functions of `module` that are not kernels; returns remarks on padded convolutions."""
    remarks = Remarks(RelayPadChannelsPass.name)
    for function in graph_functions(module):
        _Padding(function, vector_lanes, remarks).run()
    return remarks.all


class _Padding:
    """Rewrites one function."""

    def __init__(self, function: FuncOp, lanes: int, remarks: Remarks):
        self._ops = ops_in(function.body)
        self._groups = ChannelGroups(self._ops, lanes)
        self._remarks = remarks
        self._new: dict[SSAValue, SSAValue] = {}
        """The padded version of each value."""
        self._replaced: dict[Operation, None] = {}

    def run(self) -> None:
        """Rebuilds ops in program order, then erases the old ones."""
        for op in self._ops:
            if isinstance(op, RelayOp) and len(op.results) == 1:
                self._visit(op)
        for old, new in self._new.items():
            if any(use.operation not in self._replaced for use in old.uses):
                self._crop(old, new)
        for op in reversed(self._replaced):
            erase_op(op)

    def _visit(self, op: RelayOp) -> None:
        result = op.results[0]
        if self._groups.is_padded(result):
            self._new[result] = self._rebuild(op).results[0]
            if isinstance(op, ConvOp):
                self._remarks.applied(op, "has {} channels", channels_of(self._new[result]))
        elif isinstance(op, ConvOp) and op.data in self._new and reads_channels(op, op.data):
            result.replace_all_uses_with(self._rebuild(op).results[0])

    def _rebuild(self, op: RelayOp) -> RelayOp:
        """Inserts `op` on padded operands, and returns it."""
        emit = Emitter(PatternRewriter(op), op)
        operands = [self._new.get(operand) or self._with_zeros(emit, op, operand) for operand in op.operands]
        properties: dict[str, Attribute] = {}
        if isinstance(op, ConvOp):
            filters = channels_of(op.results[0]) + self._more(op.results[0])
            if op.channels is not None:
                properties["channels"] = int_attribute(filters)
            if op.groups.value.data > 1:
                properties["groups"] = int_attribute(filters)
        self._replaced[op] = None
        return emit.insert(rebuild_op(op, LayoutDecision((), None, properties), operands))

    def _with_zeros(self, emit: Emitter, op: RelayOp, operand: SSAValue) -> SSAValue:
        """Returns an operand that is not computed by a padded op, with zeros for the added channels."""
        result, shape = op.results[0], shape_of(operand.type)
        if isinstance(op, ConvOp):
            if operand is not op.weight:
                return operand
            more = [self._more(result), 0 if op.groups.value.data > 1 else self._more(op.data)]
            widths = [(0, count) for count in (*more, *[0] * (len(shape) - 2))]
            return emit.constant(np.pad(filters_of(op), widths), "weight")
        if not has_channels(operand, result):
            return operand
        axis = 1 - (len(shape_of(result.type)) - len(shape))
        flat = [0] * (2 * len(shape))
        flat[2 * axis + 1] = self._more(result)
        return emit.call(PadOp, operand, emit.scalar(0.0, operand.type), pad_width=flat)

    def _more(self, value: SSAValue) -> int:
        """Returns the number of channels that are added to `value`."""
        channels = channels_of(value)
        return self._groups.padded(channels) - channels if self._groups.is_padded(value) else 0

    def _crop(self, old: SSAValue, new: SSAValue) -> None:
        """Replaces `old` in ops that are not rebuilt by the first channels of `new`."""
        bounds = {name: int_array([number]) for name, number in (("begin", 0), ("end", channels_of(old)), ("axes", 1))}
        part = insert_after(StridedSliceOp.typed([new], bounds), new)
        old.replace_uses_with_if(part, lambda use: use.operation not in self._replaced)
