"""Elements broadcast to the shape of the result and converted to its element type."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, read_broadcast
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.scalars import convert_scalar


def broadcast_and_converted(build: TopiBuilder) -> SSAValue:
    """Broadcasts and converts each element of the first operand to the result's type."""
    data, shape, element = build.operand(0), build.result_shape, build.result_type.element_type

    def fill(b: Body) -> SSAValue:
        return convert_scalar(b, read_broadcast(b, data, shape), element)

    return build.compute("like", shape, element, fill)
