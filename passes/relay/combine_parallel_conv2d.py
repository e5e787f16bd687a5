"""`relay-combine-parallel-conv2d`: convolutions of one image by several filters become one convolution.

What: `relay.nn.conv2d` ops with the same image, window and layouts are one, of all filters; each takes its part of the
channels. Why: one large product keeps vectors and cores busier than several small ones. Re-associating: it may be
summed in another order.

Before:

    %a = relay.nn.conv2d(%x, %w)
    %b = relay.nn.conv2d(%x, %v)

After:

    %t = relay.tuple(%w, %v)
    %f = relay.concatenate(%t) {axis = 0}
    %c = relay.nn.conv2d(%x, %f)
    %a = relay.strided_slice(%c) {begin = [0], end = [16], axes = [1]}
    %b = relay.strided_slice(%c) {begin = [16], end = [32], axes = [1]}

Ops behind the convolutions stay as they are. Left alone: fewer than `min-num-branches`; groups; blocked layouts;
weights that are computed behind the first convolution.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import element_type_of
from xrelay.dialects.relay.ops.nn_conv import Conv2DOp
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.relay.parallel_branches import combine, cut_results, extents_but, join_weights, properties_but


@dataclass(frozen=True)
class RelayCombineParallelConv2dPass(ModulePass):
    """Make one convolution of several of one image; see the module's docstring."""

    name = "relay-combine-parallel-conv2d"

    min_num_branches: int = field(default=3, metadata={"help": "how many convolutions it takes at least"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Combine the module's convolutions in place."""
        combine(op, self.name, _key, _join, self.min_num_branches)


def _key(op: RelayOp) -> Hashable | None:
    """What convolutions that may be one have in common."""
    if not isinstance(op, Conv2DOp) or op.groups.value.data != 1:
        return None
    layouts = op.layouts
    if any(layout.factor(letter) is not None for layout in layouts for letter in layout.primal):
        return None
    weight = extents_but(op.weight, layouts[1].index("O"))
    return None if weight is None else (weight, element_type_of(op.weight.type), properties_but(op, "channels"))


def _join(emit: Emitter, ops: Sequence[RelayOp], weights: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """One convolution, and the part of each."""
    first = next(op for op in ops if isinstance(op, Conv2DOp))
    _, kernel, result = first.layouts
    properties = {name: value for name, value in first.properties.items() if name != "channels"}
    filters = join_weights(emit, weights, kernel.index("O"))
    value = emit.insert(Conv2DOp.typed([first.data, filters], properties)).result
    return cut_results(emit, value, ops, result.index("C"))
