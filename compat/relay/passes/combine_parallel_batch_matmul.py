"""`relay-combine-parallel-batch-matmul`: combines products of one stack of matrices with several others.

Replaces `relay.nn.batch_matmul` ops with the same first operand by one product with the columns of all, and a slice for
each. Elementwise ops that follow all products are combined too. One large product uses vectors and cores better than
several small ones. Re-associating: the order of summation may change.

Before:

    %a = relay.nn.batch_matmul(%x, %y)
    %b = relay.nn.batch_matmul(%x, %z)

After:

    %t = relay.tuple(%y, %z)
    %w = relay.concatenate(%t) {axis = 1}
    %c = relay.nn.batch_matmul(%x, %w)
    %a = relay.strided_slice(%c) {begin = [0, 0, 0], end = [-1, -1, 16], strides = [1, 1, 1], slice_mode = "size"}
    %b = relay.strided_slice(%c) {begin = [0, 0, 16], end = [-1, -1, 16], strides = [1, 1, 1], slice_mode = "size"}

The ops after the products are combined as long as they are alike, and their operands have the extents of the columns or
are shared. Left alone: fewer than `min-num-branches` products; operands of other ranks; matrices that depend on one of
the products.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp
from xrelay.dialects.shared.types import shape_of
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
class RelayCombineParallelBatchMatmulPass(CombineParallelPass):
    """Combines products of one stack of matrices; see the module's docstring."""

    name = "relay-combine-parallel-batch-matmul"

    def key(self, op: RelayOp) -> Hashable | None:
        """Returns a key of the matrices without their columns, for products of three axes."""
        if not isinstance(op, BatchMatmulOp) or any(len(shape_of(type)) != 3 for type in op.operand_types):
            return None
        return key_without(op, _column_axis(op))

    def product(self, emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
        """Emits the product with all columns."""
        first = ops[0]
        joined = join_weights(emit, weights, _column_axis(first))
        return emit.insert(BatchMatmulOp.typed([first.operands[0], joined], first.properties)).result

    def layout(self, ops: Products) -> BranchLayout:
        """Returns the concatenation along the columns."""
        extents = extents_along([op.operands[1] for op in ops], _column_axis(ops[0]))
        return Concatenated(2, extents, counts_back=True)


def _column_axis(op: RelayOp) -> int:
    """Returns the axis of the second operand that becomes the columns of the result."""
    assert isinstance(op, BatchMatmulOp), "only these have a key"
    return 1 if op.transpose_b.value.data else 2
