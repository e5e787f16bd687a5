"""`relay-dense-to-sparse`: dense layers take weights that are sparse matrices in blocks.

What: a dense layer whose weight is a parameter that `weight-name` lists becomes a `nn.sparse_dense`. The weight's parts
are parameters named after it, `.data`, `.indices` and `.indptr`, which stand behind all others; the old one goes where
nothing else uses it. `weight-shape` has five extents for each name: those of the blocks, the number of columns, and
that of the beginnings of rows. Why: of a weight that is mostly zeros only the rest is multiplied. Whoever runs the
program gives the parts; `relay.data_dep_optimization.bsr_dense` makes them. Sums are taken in another order. Relay's
DenseToSparse.

Before, with `weight-name="w" weight-shape="240x32x1x240x25"`:

    func.func @main(%x: tensor<1x128xf32>, %w: tensor<768x128xf32>) -> tensor<1x768xf32> {
      %y = relay.nn.dense(%x, %w) : (tensor<1x128xf32>, tensor<768x128xf32>) -> tensor<1x768xf32>

After:

    func.func @main(%x: tensor<1x128xf32>, %w.data: tensor<240x32x1xf32>, %w.indices: tensor<240xi32>,
                    %w.indptr: tensor<25xi32>) -> tensor<1x768xf32> {
      %y = relay.nn.sparse_dense(%x, %w.data, %w.indices, %w.indptr) : (…) -> tensor<1x768xf32>

Refuses, with a remark: data that is no matrix, and results of another element type. Left alone: functions that others
call, and kernels. `PassError` for names and shapes that do not go together, and for parts of another matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xrelay.dialects.relay.ops.nn_dense import DenseOp
from xrelay.dialects.relay.ops.nn_sparse import SparseDenseOp
from xrelay.passes.graph.remarks import Remark
from xrelay.passes.relay.sparse_layers import make_sparse
from xrelay.passes.relay.sparse_weights import sizes_by_name, why_no_sparse_dense


@dataclass(frozen=True)
class RelayDenseToSparsePass(ModulePass):
    """Let dense layers take sparse weights; see the module's docstring."""

    name = "relay-dense-to-sparse"

    weight_name: tuple[str, ...] = field(default=(), metadata={"help": "the parameters that become sparse"})
    weight_shape: tuple[str, ...] = field(
        default=(), metadata={"help": "for each the extents of its parts in a row, as 240x32x1x240x25"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        dense_to_sparse(op, self.weight_name, self.weight_shape)


def dense_to_sparse(module: ModuleOp, weight_name: Sequence[str], weight_shape: Sequence[object]) -> list[Remark]:
    """Rewrite `module`; says which layers take sparse weights, and why others do not."""
    sizes = sizes_by_name(RelayDenseToSparsePass.name, weight_name, weight_shape, (5,))

    def sparse(op: DenseOp, parts: list[SSAValue]) -> SparseDenseOp:
        return SparseDenseOp.call(op.data, *parts)

    return make_sparse(module, RelayDenseToSparsePass.name, DenseOp, sizes, why_no_sparse_dense, sparse)
