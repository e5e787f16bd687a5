"""`relay.einsum`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.ops.tensor_einsum import EinsumOp, label_extents
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.relay_to_topi.registry import implements


@implements(EinsumOp, "einsum.generic")
@in_single
def build_einsum(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits a compute over the labels of the result that folds over the others."""
    tensors = emitter.operands_of_tuple(0)
    shapes = [shape_of(tensor) for tensor in tensors]
    equation = cast(EinsumOp, emitter.op).labelled([len(shape) for shape in shapes])
    extents = label_extents(Facts(emitter.op.name, ()), equation, shapes)

    def fill(b: Body) -> SSAValue:
        at = dict(zip((*equation.result, *equation.summed), (*b.spatial, *b.reduction), strict=True))
        factors = [
            b.read(tensor, *(b.broadcast(at[label], extent, extents[label]) for label, extent in each))
            for tensor, each in zip(tensors, map(list, map(zip, equation.operands, shapes)), strict=True)
        ]
        value = factors[0]
        for factor in factors[1:]:
            value = b.times(value, factor)
        return b.accumulate(b.accumulators[0], value) if equation.summed else value

    return [
        emitter.compute(
            "einsum",
            {f"i{axis}": extents[label] for axis, label in enumerate(equation.result)},
            emitter.result_type.element_type,
            fill,
            reduce={f"k{axis}": extents[label] for axis, label in enumerate(equation.summed)},
            init=[0] if equation.summed else [],
        )
    ]
