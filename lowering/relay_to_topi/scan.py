"""`relay.cumsum`, `relay.cumprod` and `relay.reverse`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.ops.tensor_reverse import ReverseOp
from xrelay.dialects.relay.ops.tensor_scan import CumprodOp, CumsumOp
from xrelay.dialects.topi.build import Body, scan, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import product
from xrelay.lowering.relay_to_topi.registry import implements


@implements(CumsumOp, "cumsum.generic")
@implements(CumprodOp, "cumprod.generic")
@in_single
def build_cumulative(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits a scan along one axis, or over the flattened data without an axis."""
    data, element = emitter.operand(0), emitter.result_type.element_type
    shape, is_sum = shape_of(data), isinstance(emitter.op, CumsumOp)
    in_a_row = "axis" not in emitter.op.properties
    axis = 0 if in_a_row else emitter.integer("axis") % len(shape)

    def fill(b: Body) -> list[SSAValue]:
        at = list(b.spatial)
        if in_a_row:
            inside = [product(shape[position + 1 :]) for position in range(len(shape))]
            rows = zip(inside, shape, strict=True)
            at = [b.remainder(b.quotient(b.spatial[0], step), extent) for step, extent in rows]
        value = convert_scalar(b, b.read(data, *at), element)
        return [b.plus(b.accumulators[0], value) if is_sum else b.times(b.accumulators[0], value)]

    names = variables("i", emitter.result_shape)
    label = emitter.op.name.removeprefix("relay.")
    op = scan(label, names, axis, [element], fill, [0 if is_sum else 1], exclusive=emitter.flag("exclusive"))
    return emitter.insert(op).results


@implements(ReverseOp, "reverse.generic")
def build_reverse(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads at reversed indices along the axis."""
    data, shape = emitter.operand(0), emitter.result_shape
    axis = emitter.integer("axis") % len(shape)

    def fill(b: Body) -> SSAValue:
        at = list(b.spatial)
        at[axis] = at[axis] * -1 + b.expr(shape[axis] - 1)
        return b.read(data, *at)

    return [emitter.compute("reverse", variables("i", shape), element_of(data), fill)]
