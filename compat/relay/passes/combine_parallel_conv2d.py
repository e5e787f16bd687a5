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
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.shared.types import element_type_of
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.relay.passes.branch_layouts import Concatenated
from xrelay.relay.passes.branch_levels import BranchLayout
from xrelay.relay.passes.parallel_branches import (
    Combining,
    Products,
    combine,
    extents_along,
    extents_without,
    join_weights,
    properties_without,
)


@dataclass(frozen=True)
class RelayCombineParallelConv2dPass(XRelayPass):
    """Combines convolutions of one image; see the module's docstring."""

    name = "relay-combine-parallel-conv2d"
    numerics = reassociates("a larger product may be summed in another order")
    per_function = True

    min_num_branches: int = field(default=3, metadata={"help": "the least number of convolutions to combine"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        combine(op, Combining(self.name, _key, _product, _layout), self.min_num_branches)


def _key(op: RelayOp) -> Hashable | None:
    """Returns a key that is equal for convolutions that can be combined, or None for an op that cannot be combined."""
    if not isinstance(op, Conv2DOp) or op.groups.value.data != 1:
        return None
    layouts = op.layouts
    if any(layout.factor(letter) is not None for layout in layouts for letter in layout.primal):
        return None
    weight = extents_without(op.weight, layouts[1].index("O"))
    return None if weight is None else (weight, element_type_of(op.weight.type), properties_without(op, "channels"))


def _product(emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
    """Emits the convolution with all filters."""
    first = _first(ops)
    axis = first.layouts[1].index("O")
    properties = {**first.properties, "channels": int_attribute(sum(extents_along(weights, axis)))}
    return emit.insert(Conv2DOp.typed([first.data, join_weights(emit, weights, axis)], properties)).result


def _layout(ops: Products) -> BranchLayout:
    """Returns the concatenation along the channels."""
    _, kernel, result = _first(ops).layouts
    return Concatenated(result.index("C"), extents_along([op.operands[1] for op in ops], kernel.index("O")))


def _first(ops: Products) -> Conv2DOp:
    return next(op for op in ops if isinstance(op, Conv2DOp))
