"""`relay.nn.log_softmax` as a named op of topi, whose stages are scheduled as those of a softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.widening import in_single
from xrelay.dialects.relay.ops.nn.softmax import LogSoftmaxOp
from xrelay.dialects.topi.named import SoftmaxOp
from xrelay.lowering.relay_to_topi.registry import implements


@implements(LogSoftmaxOp, "log_softmax.softmax", priority=15)
@in_single
def build_log_softmax(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds `topi.softmax` with `log`."""
    axis = cast(LogSoftmaxOp, build.op).axis.value.data % len(build.result_shape)
    return build.insert(SoftmaxOp(build.operand(0), axis, build.result_type, log=True)).results
