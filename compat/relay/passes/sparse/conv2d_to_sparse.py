"""`relay-conv2d-to-sparse`: makes convolutions sparse whose weights are parameters.

Replaces a convolution by `nn.sparse_conv2d` if its weight is a parameter in `weight-name`. Three parameters replace the
weight, after all other parameters: its values `.data`, column indices `.indices` and row pointers `.indptr`. The weight
is removed if it has no other use. `weight-shape` has for each name the extents of the values, the number of columns and
the number of row pointers. Products with zeros are not computed. The caller passes the new parameters;
`relay.data_dep_optimization.bsr_conv2d` computes them. Re-associating: the order of summation changes. Relay's
Conv2dToSparse.

Before, with `weight-name="w" weight-shape="80x8x80x17" layout=NCHW kernel-size=1`:

    func.func @main(%x: tensor<1x64x9x9xf32>, %w: tensor<128x64x1x1xf32>) -> tensor<1x128x9x9xf32> {
      %y = relay.nn.conv2d(%x, %w) : (tensor<1x64x9x9xf32>, tensor<128x64x1x1xf32>) -> tensor<1x128x9x9xf32>

After:

    func.func @main(%x: tensor<1x64x9x9xf32>, %w.data: tensor<80x8xf32>, %w.indices: tensor<80xi32>,
                    %w.indptr: tensor<17xi32>) -> tensor<1x128x9x9xf32> {
      %y = relay.nn.sparse_conv2d(%x, %w.data, %w.indices, %w.indptr) {layout = "NCHW"} : (…) -> tensor<1x128x9x9xf32>

Refuses, with a remark: other layouts and kernel sizes, groups, strides, dilations, results of another size than the
data or of another element type. Left alone: called functions, and kernels. `PassError`: names and shapes do not match,
the new parameters are those of another matrix, or the layout is neither NHWC nor NCHW.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.sparse import SparseConv2dOp
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.relay.passes.sparse.sparse_weights import make_sparse, require_layout, sizes_by_name, why_no_sparse_conv2d


@dataclass(frozen=True)
class RelayConv2dToSparsePass(XRelayPass):
    """Makes convolutions with listed weights sparse; see the module's docstring."""

    name = "relay-conv2d-to-sparse"
    numerics = reassociates("sums omit products with zeros, and are taken in another order")

    weight_name: tuple[str, ...] = field(default=(), metadata={"help": "the parameters that become sparse"})
    weight_shape: tuple[str, ...] = field(
        default=(), metadata={"help": "for each the extents of data, indices and indptr, such as 80x8x80x17"}
    )
    layout: str = field(default="NHWC", metadata={"help": "the layout of the images, NHWC or NCHW"})
    kernel_size: int = field(default=1, metadata={"help": "the size of the kernels, an odd number"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        conv2d_to_sparse(op, self.weight_name, self.weight_shape, self.layout, self.kernel_size)


def conv2d_to_sparse(
    module: ModuleOp,
    weight_name: Sequence[str],
    weight_shape: Sequence[str],
    layout: str = "NHWC",
    kernel_size: int = 1,
) -> None:
    """Rewrites `module`; reports a remark for each convolution with a listed weight."""
    own = RelayConv2dToSparsePass.name
    sizes = sizes_by_name(own, weight_name, weight_shape, (4, 5))
    require_layout(own, layout, kernel_size)

    def sparse(op: Conv2DOp, arrays: list[SSAValue]) -> SparseConv2dOp:
        return SparseConv2dOp.call(op.data, *arrays, layout=layout, kernel_size=kernel_size)

    def why_not(op: Conv2DOp) -> str | None:
        return why_no_sparse_conv2d(op, layout, kernel_size)

    make_sparse(module, own, Conv2DOp, sizes, why_not, sparse)
