"""`relay.nn.dense`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.nn_dense import DenseOp
from xrelay.dialects.relay.ops.nn_dense_pack import ContribDensePackOp
from xrelay.dialects.topi.named import MatmulOp
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter
from xrelay.lowering.relay_to_topi.half_precision import into_single
from xrelay.lowering.relay_to_topi.strategies import implements


@implements(DenseOp, "dense.matmul")
@implements(ContribDensePackOp, "dense_pack.matmul")
@into_single
def build_dense(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """`topi.matmul`: rows of data times rows of the weight, which may be packed."""
    return emitter.insert(MatmulOp(emitter.operand(0), emitter.operand(1), emitter.result_type)).results
