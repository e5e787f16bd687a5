"""Correlation of two images at shifted positions: a sum over channels and windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import math
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.ops.nn_correlation import CorrelationOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.relay_to_topi.registry import implements


@implements(CorrelationOp, "nn.correlation.generic")
@in_single
def build_correlation(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Averages products, or absolute differences, of elements of both images."""
    op, first, second = cast(CorrelationOp, emitter.op), emitter.operand(0), emitter.operand(1)
    _, channels, *extents = shape_of(first)
    element, padding, size = element_of(first), emitter.ints("padding"), emitter.integer("kernel_size")
    step, far, apart = emitter.integer("stride1"), emitter.integer("max_displacement"), op.stride2.value.data
    width = 2 * op.radius + 1

    def read(b: Body, data: SSAValue, rows: AffineExpr, columns: AffineExpr) -> SSAValue:
        at = [rows - padding[0], columns - padding[1]]
        inside = b.in_bounds(at, extents)
        return b.guard(
            inside, element, lambda: b.read(data, b.spatial[0], b.reduction[0], *at), lambda: b.constant(0, element)
        )

    def add(b: Body) -> SSAValue:
        _, shift, *places = b.spatial
        at = [place * step + far + tap for place, tap in zip(places, b.reduction[1:], strict=True)]
        moved = [
            place + (part - op.radius) * apart for place, part in zip(at, (shift // width, shift % width), strict=True)
        ]
        one, other = read(b, first, at[0], at[1]), read(b, second, moved[0], moved[1])
        if op.is_multiply.value.data:
            return b.accumulate_product(b.accumulators[0], one, other)
        return b.accumulate(b.accumulators[0], b.add(math.AbsFOp(b.minus(one, other))))

    names, reduce = variables("i", emitter.result_shape), {"c": channels, "k": size, "l": size}
    total = emitter.compute("correlation_sum", names, element, add, reduce=reduce, init=[0.0])

    def mean(b: Body) -> SSAValue:
        return b.divide(b.read(total, *b.spatial), b.size(channels * size**2, element))

    return [emitter.compute("correlation", names, element, mean)]
