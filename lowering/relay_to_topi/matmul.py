"""`relay.nn.matmul` and `relay.nn.batch_matmul`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.half_precision import into_single
from xrelay.dialects.relay.ops import nn_matmul
from xrelay.dialects.topi.named import BatchMatmulOp
from xrelay.lowering.relay_to_topi.registry import implements


@implements(nn_matmul.MatmulOp, "matmul.generic")
@implements(nn_matmul.BatchMatmulOp, "batch_matmul.generic")
@into_single
def build_product(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits `topi.batch_matmul`; a single matrix is a stack of rank 0."""
    left, right = emitter.operand(0), emitter.operand(1)
    transpose_left, transpose_right = emitter.flag("transpose_a"), emitter.flag("transpose_b")
    op = BatchMatmulOp(left, right, emitter.result_type, transpose_left=transpose_left, transpose_right=transpose_right)
    return emitter.insert(op).results
