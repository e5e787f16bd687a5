"""`qnn-fuse-block-dequantize`: multiplies by a block-quantised weight, and takes rows of it, while it stays packed.

A weight of 2, 4 or 8 bits in blocks is 4 to 16 times smaller than its f32 form. `qnn.block_dense` reads the packed
words, so that the form in f32 exists neither as a constant nor as a value in memory. Rows of a table, such as
embeddings, are taken in packed form and dequantised after that. Exact: the same numbers are multiplied and added.

Before:

    %a = relay.qnn.block_dequantize(%w, %s, %z)                      %w : tensor<8x4xi32>, 8 x 32 numbers
    %b = relay.transpose(%a) {axes = array<i64: 1, 0>}
    %y = relay.nn.matmul(%x, %b)
    %r = relay.take(%a, %i) {axis = 0}

After:

    %y = relay.qnn.block_dense(%x, %w, %s, %z)
    %r = relay.qnn.block_dequantize(relay.take(%w, %i) {axis = 0}, relay.take(%s, %i) {axis = 0}, …)

A constant matrix of 64 KiB of bytes or more is a weight of one block a unit, if it is cast and multiplied by scales, or
`qnn.dequantize`:

    %a = relay.multiply(relay.cast(%q) {dtype = f32}, %s)            %q : tensor<256x300xi8>, %s : tensor<1x300xf32>
    %y = relay.nn.matmul(%x, %a)

    %y = relay.qnn.block_dense(%x, %w, %t, %z) {bits = 8, block_size = 256}              %w : tensor<300x64xi32>

Left alone: products with transposed data or with another element type, and other readers of the weight, which
`relay-fold-constant` or the kernel dequantises. Refuses, with a remark, to pack bytes with scales or zero points that
are not constant or vary along the sums, zero points that are no integers, and units of bytes that are no whole words.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.properties import optional_int
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.nn.matmul import MatmulOp
from xrelay.dialects.relay.ops.qnn.blocks import BlockDenseOp, BlockDequantizeOp
from xrelay.dialects.relay.ops.tensor.gather import TakeOp
from xrelay.dialects.relay.ops.tensor.transform import TransposeOp
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite, rewrite_once
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass
from xrelay.passes.qnn.byte_weights import UnpackableError, byte_matrix


@dataclass(frozen=True)
class QnnFuseBlockDequantizePass(XRelayPass):
    """Keeps block-quantised weights packed; see the module's docstring."""

    name = "qnn-fuse-block-dequantize"
    numerics = REORDERS_SUMS
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        remarks = Remarks(self.name)
        rewrite_once(op, DenseOp | MatmulOp, MultiplyByPackedWeight(remarks))
        rewrite_once(op, TakeOp, TakePackedRows(remarks))
        rewrite(op, {})
        report(remarks.all)


class MultiplyByPackedWeight(RewritePattern):
    """Replaces a product with a dequantised weight by `qnn.block_dense`.

    Before:

        %y = relay.nn.dense(%x, relay.qnn.block_dequantize(%w, %s, %z))

    After:

        %y = relay.qnn.block_dense(%x, %w, %s, %z)

    """

    def __init__(self, remarks: Remarks):
        self._remarks = remarks
        self._packed: dict[tuple[SSAValue, int], BlockDequantizeOp] = {}
        """Matrix of dequantised bytes → the op that represents it in blocks."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if the depth is the axis along which the weight is packed, or bytes can be packed along it."""
        if not isinstance(op, DenseOp | MatmulOp) or not _is_f32(op):
            return
        flip_data, units_first = op.transposed if isinstance(op, MatmulOp) else (False, True)
        weight = op.operands[1]
        if (moved := owner_of(weight, TransposeOp)) is not None:
            units_first = units_first == (moved.permutation(2) == (0, 1))
            weight = moved.operands[0]
        packed = None if flip_data else self._packed_weight(op, weight, int(units_first), rewriter)
        if packed is None:
            return
        emit = Emitter(rewriter, op)
        result = emit.insert(BlockDenseOp.typed([op.operands[0], *packed.operands], packed.properties)).results[0]
        self._remarks.applied(op, "reads the packed weight")
        emit.replace(result)

    def _packed_weight(
        self, op: Operation, weight: SSAValue, depth: int, rewriter: PatternRewriter
    ) -> BlockDequantizeOp | None:
        """Returns the op that dequantises `weight` in blocks along axis `depth`; packs the bytes of large matrices."""
        packed = self._packed.get((weight, depth))
        if packed is not None:
            return packed
        packed = owner_of(weight, BlockDequantizeOp)
        if packed is not None:
            return packed if depth == 1 else None
        matrix = byte_matrix(weight)
        if matrix is None or matrix.is_small:
            return None
        try:
            packed = matrix.pack(depth, rewriter)
        except UnpackableError as refused:
            self._remarks.refused(op, str(refused))
            return None
        self._packed[weight, depth] = packed
        return packed


class TakePackedRows(RewritePattern):
    """Dequantises only the rows of a weight that are taken.

    Before:

        %r = relay.take(relay.qnn.block_dequantize(%w, %s, %z), %i) {axis = 0}

    After:

        %r = relay.qnn.block_dequantize(relay.take(%w, %i) {axis = 0}, relay.take(%s, %i) {axis = 0}, %z)

    """

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if it takes rows."""
        if not isinstance(op, TakeOp) or not all(is_complete(each.type) for each in (*op.operands, *op.results)):
            return
        packed, rank = owner_of(op.operands[0], BlockDequantizeOp), len(shape_of(op.operands[0].type))
        axis = optional_int(op.axis)
        if packed is None or axis is None or axis % rank == rank - 1:
            return
        emit = Emitter(rewriter, op)

        def taken(value: SSAValue) -> SSAValue:
            if not shape_of(value.type):
                return value
            return emit.insert(TakeOp.typed([value, op.operands[1]], op.properties)).results[0]

        parts = [taken(value) for value in packed.operands]
        self._remarks.applied(op, "takes packed rows")
        emit.replace(emit.insert(BlockDequantizeOp.typed(parts, packed.properties)).results[0])


def _is_f32(op: DenseOp | MatmulOp) -> bool:
    types = [*op.operand_types, op.results[0].type]
    return all(is_complete(each) and element_type_of(each) == f32 for each in types)
