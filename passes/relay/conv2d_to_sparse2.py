"""`relay-conv2d-to-sparse2`: convolutions whose constant weights are mostly zeros become sparse.

What: the weight of a convolution becomes a matrix with a row for each output channel, and that a list of the blocks of
`blocksize` elements which are not all zero. Where at least the part `sparsity-threshold` of the matrix is left out,
a `nn.sparse_conv2d` of these takes the place of the convolution. Why: what is zero is not multiplied. Sums are taken in
another order, and an infinity times a zero that is left out is no NaN. Relay's Conv2dToSparse2.

Before, with `layout=NCHW kernel-size=1 blocksize=2,1 sparsity-threshold=0.5`:

    %w = relay.constant dense<[[[[1.0]], [[0.0]]], [[[2.0]], [[0.0]]]]> : tensor<2x2x1x1xf32>
    %y = relay.nn.conv2d(%x, %w)

After:

    %v = relay.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
    %i = relay.constant dense<0> : tensor<1xi32>
    %p = relay.constant dense<[0, 1]> : tensor<2xi32>
    %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) {layout = "NCHW"}

Refuses, with a remark: other layouts and kernels, groups, strides, dilations, results of another size than the data or
of another element type, weights that are no constants or have too few zeros, and blocks that do not make the matrix.
`PassError` for a layout that is neither NHWC nor NCHW, and for a size of blocks that is not two numbers above 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn_sparse import SparseConv2dOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.errors import PassError
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, rewrite_once
from xrelay.passes.relay.sparse_layers import require_layout
from xrelay.passes.relay.sparse_weights import in_blocks, weight_matrix, why_no_sparse_conv2d


@dataclass(frozen=True)
class RelayConv2dToSparse2Pass(ModulePass):
    """Make convolutions with constant weights sparse; see the module's docstring."""

    name = "relay-conv2d-to-sparse2"

    layout: str = field(default="NHWC", metadata={"help": "the layout of the images, NHWC or NCHW"})
    kernel_size: int = field(default=1, metadata={"help": "the size of the kernels, an odd number"})
    blocksize: tuple[int, ...] = field(default=(1, 1), metadata={"help": "rows and columns of a block"})
    sparsity_threshold: float = field(default=0.0, metadata={"help": "the part of a weight that has to be left out"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        require_layout(self.name, self.layout, self.kernel_size)
        if len(self.blocksize) != 2 or min(self.blocksize) < 1:
            raise PassError(f"{self.name}: blocksize is {list(self.blocksize)}, it must be two numbers above 0")
        pattern = MakeSparse(self)
        rewrite_once(op, Conv2DOp, pattern)
        report(pattern.remarks.all)


class MakeSparse(RewritePattern):
    """A convolution with a constant weight → one with the weight's blocks; see the module's docstring."""

    def __init__(self, options: RelayConv2dToSparse2Pass):
        self.remarks = Remarks(options.name)
        self._options = options

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv2DOp, rewriter: PatternRewriter) -> None:
        """Count what would be left out."""
        options, weight = self._options, constant_of(op.weight)
        reason = why_no_sparse_conv2d(op, options.layout, options.kernel_size)
        if reason is not None or weight is None:
            self.remarks.refused(op, reason if reason is not None else "its weight is no constant that is here")
            return
        high, wide = options.blocksize
        parts = in_blocks(weight_matrix(weight, options.layout), (high, wide))
        if parts is None:
            self.remarks.refused(op, f"blocks of {high} by {wide} do not make its weight")
            return
        left_out = 1.0 - parts[0].size / max(weight.size, 1)
        if left_out < options.sparsity_threshold:
            self.remarks.refused(op, f"of its weight {left_out:.0%} would be left out")
            return
        self.remarks.applied(op, f"of its weight {left_out:.0%} is left out")
        emit = Emitter(rewriter, op)
        values = [emit.insert(ConstantOp.of(part)).result for part in parts]
        size = options.kernel_size
        emit.replace(emit.call(SparseConv2dOp, op.data, *values, layout=options.layout, kernel_size=size))
