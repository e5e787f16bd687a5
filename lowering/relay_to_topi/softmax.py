"""`relay.nn.softmax`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.ops import nn_activation
from xrelay.dialects.topi.named import SoftmaxOp
from xrelay.lowering.relay_to_topi.registry import implements


@implements(nn_activation.SoftmaxOp, "softmax.named")
@in_single
def build_softmax(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits `topi.softmax`."""
    axis = emitter.integer("axis") % len(emitter.result_shape)
    return emitter.insert(SoftmaxOp(emitter.operand(0), axis, emitter.result_type)).results
