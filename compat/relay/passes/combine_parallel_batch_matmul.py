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
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp
from xrelay.dialects.shared.types import element_type_of, shape_of
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
class RelayCombineParallelBatchMatmulPass(XRelayPass):
    """Combines products of one stack of matrices; see the module's docstring."""

    name = "relay-combine-parallel-batch-matmul"
    numerics = reassociates("a larger product may be summed in another order")
    per_function = True

    min_num_branches: int = field(default=3, metadata={"help": "the least number of products to combine"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        combine(op, Combining(self.name, _key, _product, _layout), self.min_num_branches)


def _column_axis(op: BatchMatmulOp) -> int:
    """Returns the axis of the second operand that becomes the columns of the result."""
    return 1 if op.transpose_b.value.data else 2


def _key(op: RelayOp) -> Hashable | None:
    """Returns a key that is equal for products that can be combined, or None for an op that cannot be combined."""
    if not isinstance(op, BatchMatmulOp) or any(len(shape_of(type)) != 3 for type in op.operand_types):
        return None
    columns = extents_without(op.tensor_b, _column_axis(op))
    return None if columns is None else (columns, element_type_of(op.tensor_b.type), properties_without(op))


def _product(emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
    """Emits the product with all columns."""
    first = _first(ops)
    joined = join_weights(emit, weights, _column_axis(first))
    return emit.insert(BatchMatmulOp.typed([first.tensor_a, joined], first.properties)).result


def _layout(ops: Products) -> BranchLayout:
    """Returns the concatenation along the columns."""
    extents = extents_along([op.operands[1] for op in ops], _column_axis(_first(ops)))
    return Concatenated(2, extents, counts_back=True)


def _first(ops: Products) -> BatchMatmulOp:
    return next(op for op in ops if isinstance(op, BatchMatmulOp))
