"""`relay-conv2d-to-sparse2`: makes constant weights of convolutions sparse if most elements are zero.

This is Relay's Conv2dToSparse2. It arranges the weight as a matrix with a row for each output channel, divides the
matrix into blocks of size `blocksize`, and omits blocks of zeros. If the omitted blocks contain at least the fraction
`sparsity-threshold` of the elements, a `nn.sparse_conv2d` with the other blocks replaces the convolution. The pass
reassociates: the order of summation changes. An infinity times an omitted zero, which is a NaN, is not added.

Before, with `layout=NCHW kernel-size=1 blocksize=2,1 sparsity-threshold=0.5`:

    %w = relay.constant dense<[[[[1.0]], [[0.0]]], [[[2.0]], [[0.0]]]]> : tensor<2x2x1x1xf32>
    %y = relay.nn.conv2d(%x, %w)

After:

    %v = relay.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
    %i = relay.constant dense<0> : tensor<1xi32>
    %p = relay.constant dense<[0, 1]> : tensor<2xi32>
    %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) {layout = "NCHW"}

Refuses, with a remark: other layouts and kernel sizes, groups, strides, dilations, results of another size than the
data or of another element type, weights that are not constant or have too few zeros, and block sizes that do not divide
the matrix. `PassError`: the layout is neither NHWC nor NCHW, or `blocksize` is not two positive numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.sparse import SparseConv2dOp
from xrelay.errors import PassError
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.relay.passes.sparse.sparse_weights import require_layout, to_blocks, weight_matrix, why_no_sparse_conv2d


@dataclass(frozen=True)
class RelayConv2dToSparse2Pass(XRelayPass):
    """Makes constant weights of convolutions sparse; see the module's docstring."""

    name = "relay-conv2d-to-sparse2"
    numerics = reassociates("sums omit products with zeros, and are taken in another order")
    per_function = True

    layout: str = field(default="NHWC", metadata={"help": "the layout of the images, NHWC or NCHW"})
    kernel_size: int = field(default=1, metadata={"help": "the size of the kernels, an odd number"})
    blocksize: tuple[int, ...] = field(default=(1, 1), metadata={"help": "rows and columns of a block"})
    sparsity_threshold: float = field(default=0.0, metadata={"help": "the least fraction of omitted elements"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        require_layout(self.name, self.layout, self.kernel_size)
        if len(self.blocksize) != 2 or min(self.blocksize) < 1:
            raise PassError(f"{self.name}: blocksize is {list(self.blocksize)}, it must be two positive numbers")
        remarks = Remarks(self.name)
        for conv in [each for each in walk_ops(op) if isinstance(each, Conv2DOp)]:
            self._make_sparse(conv, remarks)
        report(remarks.all)

    def _make_sparse(self, op: Conv2DOp, remarks: Remarks) -> None:
        """Replaces a convolution by a sparse one if enough of its constant weight is zero."""
        weight = constant_of(op.weight)
        reason = why_no_sparse_conv2d(op, self.layout, self.kernel_size)
        if reason is not None or weight is None:
            remarks.refused(op, reason if reason is not None else "its weight is not a constant in memory")
            return
        high, wide = self.blocksize
        arrays = to_blocks(weight_matrix(weight, self.layout), (high, wide))
        if arrays is None:
            remarks.refused(op, f"blocks of {high} by {wide} do not divide its weight")
            return
        left_out = 1.0 - arrays[0].size / max(weight.size, 1)
        if left_out < self.sparsity_threshold:
            remarks.refused(op, f"only {left_out:.0%} of its weight is in zero blocks")
            return
        remarks.applied(op, f"{left_out:.0%} of its weight is omitted")
        emit = Emitter(PatternRewriter(op), op)
        values = [emit.constant(array) for array in arrays]
        emit.replace(emit.call(SparseConv2dOp, op.data, *values, layout=self.layout, kernel_size=self.kernel_size))
