"""`relay.nn.batch_norm`, if no earlier pass has decomposed it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import math
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.ops.nn_norm import BatchNormOp
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.relay_to_topi.registry import implements


@implements(BatchNormOp, "batch_norm.generic")
@in_single
def build_batch_norm(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes `(x - mean) / sqrt(var + epsilon) * gamma + beta`; returns the statistics unchanged."""
    data, gamma, beta, mean, variance = (emitter.operand(index) for index in range(5))
    shape = shape_of(data)
    axis, epsilon = emitter.integer("axis") % len(shape), emitter.number("epsilon")
    center, scale = emitter.flag("center"), emitter.flag("scale")

    def fill(b: Body) -> SSAValue:
        channel = b.spatial[axis]
        spread = b.plus(b.read(variance, channel), b.constant(epsilon, element_of(data)))
        x = b.minus(b.read(data, *b.spatial), b.read(mean, channel))
        x = b.divide(x, b.add(math.SqrtOp(spread)))
        if scale:
            x = b.times(x, b.read(gamma, channel))
        return b.plus(x, b.read(beta, channel)) if center else x

    names = {f"i{position}": extent for position, extent in enumerate(shape)}
    normalized = emitter.compute("nn_batch_norm", names, element_of(data), fill)
    return [normalized, mean, variance]
