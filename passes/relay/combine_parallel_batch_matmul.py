"""`relay-combine-parallel-batch-matmul`: products of one stack of matrices with several others become one product.

What: `relay.nn.batch_matmul` ops with the same first operand are one, whose result has all columns; each takes its
part. Why: one large product keeps vectors and cores busier than several small ones. Re-associating: it may be summed in
another order.

Before:

    %a = relay.nn.batch_matmul(%x, %y)
    %b = relay.nn.batch_matmul(%x, %z)

After:

    %t = relay.tuple(%y, %z)
    %w = relay.concatenate(%t) {axis = 1}
    %c = relay.nn.batch_matmul(%x, %w)
    %a = relay.strided_slice(%c) {begin = [0], end = [16], axes = [2]}
    %b = relay.strided_slice(%c) {begin = [16], end = [32], axes = [2]}

Ops behind the products stay as they are. Left alone: fewer than `min-num-branches`; operands of other ranks; matrices
that are computed behind the first product.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import shape_of
from xrelay.dialects.relay.ops.nn_matmul import BatchMatmulOp
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.relay.parallel_branches import combine, cut_results, extents_but, join_weights, properties_but


@dataclass(frozen=True)
class RelayCombineParallelBatchMatmulPass(ModulePass):
    """Make one product of several of one stack; see the module's docstring."""

    name = "relay-combine-parallel-batch-matmul"

    min_num_branches: int = field(default=3, metadata={"help": "how many products it takes at least"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Combine the module's products in place."""
        combine(op, self.name, _key, _join, self.min_num_branches)


def _column_axis(op: BatchMatmulOp) -> int:
    """The axis of the second operand along which the columns of the result lie."""
    return 1 if op.transpose_b.value.data else 2


def _key(op: RelayOp) -> Hashable | None:
    """What products that may be one have in common."""
    if not isinstance(op, BatchMatmulOp) or any(len(shape_of(type)) != 3 for type in op.operand_types):
        return None
    columns = extents_but(op.tensor_b, _column_axis(op))
    return None if columns is None else (columns, properties_but(op))


def _join(emit: Emitter, ops: Sequence[RelayOp], weights: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """One product, and the part of each."""
    first = next(op for op in ops if isinstance(op, BatchMatmulOp))
    joined = join_weights(emit, weights, _column_axis(first))
    value = emit.insert(BatchMatmulOp.typed([first.tensor_a, joined], first.properties)).result
    return cut_results(emit, value, ops, 2)
