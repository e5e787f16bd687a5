"""`relay-combine-parallel-conv2d`: combines convolutions of one image.

Replaces `relay.nn.conv2d` ops with the same image, window and layouts by one convolution with the filters of all, and a
slice of the channels for each. Elementwise ops that follow all convolutions (`bias_add`, scales, `relu`) are combined
too. One large product uses vectors and cores better than several small ones. Re-associating: the order of summation may
change.

Before:

    %c = relay.nn.conv2d(%x, %w)
    %a = relay.nn.relu(%c)
    %d = relay.nn.conv2d(%x, %v)
    %b = relay.nn.relu(%d)

After:

    %t = relay.tuple(%w, %v)
    %f = relay.concatenate(%t) {axis = 0}
    %c = relay.nn.conv2d(%x, %f) {channels = 32}
    %r = relay.nn.relu(%c)
    %a = relay.strided_slice(%r) {begin = [0, 0], end = [-1, 16], strides = [1, 1], slice_mode = "size"}
    %b = relay.strided_slice(%r) {begin = [0, 16], end = [-1, 16], strides = [1, 1], slice_mode = "size"}

The ops after the convolutions are combined as long as they are alike, and their operands have the extents of the
channels or are shared. Left alone: fewer than `min-num-branches` convolutions; groups; blocked layouts; weights that
depend on one of the convolutions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.passes.graph.rewriting import Emitter
from xrelay.relay.passes.parallel_branches import (
    BranchLayout,
    CombineParallelPass,
    Concatenated,
    Products,
    extents_along,
    join_weights,
    key_without,
)


@dataclass(frozen=True)
class RelayCombineParallelConv2dPass(CombineParallelPass):
    """Combines convolutions of one image; see the module's docstring."""

    name = "relay-combine-parallel-conv2d"

    def key(self, op: RelayOp) -> Hashable | None:
        """Returns a key of the weight without its output channels, for plain layouts and one group."""
        if not isinstance(op, Conv2DOp) or op.groups.value.data != 1:
            return None
        if any(layout.factor(letter) is not None for layout in op.layouts for letter in layout.primal):
            return None
        return key_without(op, op.layouts[1].index("O"), "channels")

    def product(self, emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
        """Emits the convolution with all filters."""
        first, (axis, _) = ops[0], _channel_axes(ops[0])
        properties = {**first.properties, "channels": int_attribute(sum(extents_along(weights, axis)))}
        return emit.insert(Conv2DOp.typed([first.operands[0], join_weights(emit, weights, axis)], properties)).result

    def layout(self, ops: Products) -> BranchLayout:
        """Returns the concatenation along the channels."""
        axis, result_axis = _channel_axes(ops[0])
        return Concatenated(result_axis, extents_along([op.operands[1] for op in ops], axis))


def _channel_axes(op: RelayOp) -> tuple[int, int]:
    """Returns the axes of the output channels in the weight and in the result."""
    assert isinstance(op, Conv2DOp), "only these have a key"
    _, kernel, result = op.layouts
    return kernel.index("O"), result.index("C")
