"""`relay-combine-parallel-dense`: combines products of one matrix with several weights.

Replaces `relay.nn.dense` ops with the same data by one product, with the elementwise ops that follow all of them. With
`to-batch` it is a stack of products with weights of one shape; without, a product with the units of all, and a slice
for each. One large product uses vectors and cores better than several small ones. Re-associating: the order of
summation may change.

Before:

    %c = relay.nn.dense(%x, %w)
    %a = relay.add(%c, %s)
    %d = relay.nn.dense(%x, %v)
    %b = relay.add(%d, %t)

After, with `to-batch`:

    %y = relay.nn.batch_matmul(%xs, %ws)                     of stacks of both
    %z = relay.add(%y, %st)
    %p = relay.split(%z) {indices_or_sections = 2}
    %a = relay.squeeze(%p0) {axis = [0]}

After, without:

    %y = relay.nn.dense(%x, %ws) {units = 32}
    %z = relay.add(%y, %st)
    %a = relay.strided_slice(%z) {begin = [0, 0], end = [-1, 16], strides = [1, 1], slice_mode = "size"}

The ops after the products are combined as long as they are alike; operands of extent 1 are repeated to the number of
units. Left alone: fewer than `min-num-branches` products; weights that depend on one of the products; with `to-batch`,
data of another rank than 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp
from xrelay.dialects.relay.ops.tensor.fill import StackOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.types import is_static, shape_of
from xrelay.passes.graph.rewriting import Emitter
from xrelay.relay.passes.parallel_branches import (
    BranchLayout,
    CombineParallelPass,
    Concatenated,
    Products,
    Stacked,
    extents_along,
    join_weights,
    key_without,
    properties_without,
)


@dataclass(frozen=True)
class RelayCombineParallelDensePass(CombineParallelPass):
    """Combines products of one matrix with several weights; see the module's docstring."""

    name = "relay-combine-parallel-dense"

    to_batch: bool = field(default=True, metadata={"help": "stack the products instead of joining their units"})

    def key(self, op: RelayOp) -> Hashable | None:
        """Returns a key of the weight, without the number of units if they are joined."""
        if not isinstance(op, DenseOp):
            return None
        if not self.to_batch:
            return key_without(op, 0, "units")
        fits = is_static(op.weight.type) and len(shape_of(op.data.type)) == 2
        return (op.weight.type, properties_without(op, "units")) if fits else None

    def product(self, emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
        """Emits the stack of products, or the product with all units."""
        data, properties = ops[0].operands[0], ops[0].properties
        if self.to_batch:
            stacks = [emit.call(StackOp, emit.call(TupleOp, *each), axis=0) for each in ([data] * len(ops), weights)]
            return emit.call(BatchMatmulOp, *stacks, out_dtype=properties.get("out_dtype"))
        units = int_attribute(sum(extents_along(weights, 0)))
        return emit.insert(DenseOp.typed([data, join_weights(emit, weights, 0)], {**properties, "units": units})).result

    def layout(self, ops: Products) -> BranchLayout:
        """Returns the stack, or the concatenation along the last axis."""
        if self.to_batch:
            return Stacked()
        axis = len(shape_of(ops[0].results[0].type)) - 1
        return Concatenated(axis, extents_along([op.operands[1] for op in ops], 0), repeats=True, cuts_all=True)
