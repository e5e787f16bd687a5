"""The compute of the operator."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from xrelay.extend.strategies import Body, TopiBuilder, implements
from xrelay_hardswish.ops import HardSwishOp


@implements(HardSwishOp, "hard_swish.generic")
def build_hard_swish(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """One compute without reduction: it fuses like any elementwise op."""
    return emitter.map_elements("contrib_hard_swish", lambda b, values: hard_swish(b, values[0]))


def hard_swish(b: Body, x: SSAValue) -> SSAValue:
    """`x * min(max(x / 6 + 0.5, 0), 1)`."""

    def number(value: float) -> SSAValue:
        return b.constant(value, x.type)

    gate = b.plus(b.times(x, number(1 / 6)), number(0.5))
    bounded = b.add(arith.MinimumfOp(b.maximum(gate, number(0.0)), number(1.0)))
    return b.times(x, bounded)
