"""`relay.nn.lrn`: sums of squares over a window of channels, then a division by a power of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import math
from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.nn_lrn import LRNOp
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim, minimum
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter, element_of
from xrelay.lowering.relay_to_topi.half_precision import in_single
from xrelay.lowering.relay_to_topi.strategies import implements

SHORT = 32
"""A window that reaches so far keeps its size: a number, whatever the extent is."""


@implements(LRNOp, "lrn.generic")
@in_single
def build_lrn(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """`x / base^beta`; as `x * exp(-beta * log(base))` where the base is positive for certain.

    Both functions stay in vector registers, a power would not.
    """
    data = emitter.operand(0)
    shape, element = shape_of(data), element_of(data)
    axis, size = emitter.integer("axis") % len(shape), emitter.integer("size")
    names = {f"i{position}": extent for position, extent in enumerate(shape)}
    down, up = (_within(shape[axis], reach) for reach in ((size - 1) // 2, size // 2))

    def squares(b: Body) -> SSAValue:
        at = [*b.spatial]
        at[axis] = at[axis] + b.reduction[0] - b.expr(down)
        x = b.guard(
            b.in_bounds([at[axis]], [shape[axis]]), element, lambda: b.read(data, *at), lambda: b.constant(0, element)
        )
        return b.accumulate_product(b.accumulators[0], x, x)

    total = emitter.compute("lrn_squares", names, element, squares, reduce={"k": down + up + 1}, init=[0])
    bias, scale, beta = emitter.number("bias"), emitter.number("alpha") / size, emitter.number("beta")

    def normalize(b: Body) -> SSAValue:
        base = b.plus(b.times(b.read(total, *b.spatial), b.constant(scale, element)), b.constant(bias, element))
        # The logarithm of an infinite base times 0 is NaN.
        if bias <= 0 or scale < 0 or beta == 0:
            return b.divide(b.read(data, *b.spatial), b.add(math.PowFOp(base, b.constant(beta, element))))
        power = b.times(b.add(math.LogOp(base)), b.constant(-beta, element))
        return b.times(b.read(data, *b.spatial), b.add(math.ExpOp(power)))

    return [emitter.compute("nn_lrn", names, element, normalize)]


def _within(extent: Dim, reach: int) -> Dim:
    """How far a window reaches from its element to one side, where nothing is beyond `extent` elements."""
    return reach if reach <= SHORT else minimum(extent, reach)
