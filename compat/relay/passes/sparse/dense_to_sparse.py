"""`relay-dense-to-sparse`: makes dense layers sparse whose weights are parameters.

Replaces a dense layer by `nn.sparse_dense` if its weight is a parameter in `weight-name`. Three parameters replace the
weight, after all other parameters: its values `.data`, column indices `.indices` and row pointers `.indptr`. The weight
is removed if it has no other use. `weight-shape` has five extents for each name: those of the values, the number of
columns and the number of row pointers. Products with zeros are not computed. The caller passes the new parameters;
`relay.data_dep_optimization.bsr_dense` computes them. Re-associating: the order of summation changes. Relay's
DenseToSparse.

Before, with `weight-name="w" weight-shape="240x32x1x240x25"`:

    func.func @main(%x: tensor<1x128xf32>, %w: tensor<768x128xf32>) -> tensor<1x768xf32> {
      %y = relay.nn.dense(%x, %w) : (tensor<1x128xf32>, tensor<768x128xf32>) -> tensor<1x768xf32>

After:

    func.func @main(%x: tensor<1x128xf32>, %w.data: tensor<240x32x1xf32>, %w.indices: tensor<240xi32>,
                    %w.indptr: tensor<25xi32>) -> tensor<1x768xf32> {
      %y = relay.nn.sparse_dense(%x, %w.data, %w.indices, %w.indptr) : (…) -> tensor<1x768xf32>

Refuses, with a remark: data that is no matrix, and results of another element type. Left alone: called functions, and
kernels. `PassError`: names and shapes do not match, or the new parameters are those of another matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.nn.sparse import SparseDenseOp
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.relay.passes.sparse.sparse_weights import make_sparse, sizes_by_name, why_no_sparse_dense


@dataclass(frozen=True)
class RelayDenseToSparsePass(XRelayPass):
    """Makes dense layers with listed weights sparse; see the module's docstring."""

    name = "relay-dense-to-sparse"
    numerics = reassociates("sums omit products with zeros, and are taken in another order")

    weight_name: tuple[str, ...] = field(default=(), metadata={"help": "the parameters that become sparse"})
    weight_shape: tuple[str, ...] = field(
        default=(),
        metadata={"help": "for each the extents of data, indices and indptr, such as 240x32x1x240x25"},
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        dense_to_sparse(op, self.weight_name, self.weight_shape)


def dense_to_sparse(module: ModuleOp, weight_name: Sequence[str], weight_shape: Sequence[str]) -> None:
    """Rewrites `module`; reports a remark for each layer with a listed weight."""
    sizes = sizes_by_name(RelayDenseToSparsePass.name, weight_name, weight_shape, (5,))

    def sparse(op: DenseOp, arrays: list[SSAValue]) -> SparseDenseOp:
        return SparseDenseOp.call(op.data, *arrays)

    make_sparse(module, RelayDenseToSparsePass.name, DenseOp, sizes, why_no_sparse_dense, sparse)
