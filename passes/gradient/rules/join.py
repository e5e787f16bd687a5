"""Operators that join or split tensors. The gradient of a tuple is a tuple."""

from __future__ import annotations

from itertools import accumulate

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.ops.tensor_join import ConcatenateOp, SplitOp
from xrelay.dialects.relay.ops.tensor_places import MeshgridOp
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(SplitOp)
def split(op: SplitOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the concatenated gradients of the parts."""
    return [emit.op("concatenate", gradient, axis=op.axis.value.data)]


@differentiates(ConcatenateOp)
def concatenate(op: ConcatenateOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient split at the boundaries of the parts."""
    axis = axis_index(op.axis.value.data, len(emit.shape(gradient)))
    extents = [shape_of(type)[axis] for type in _fields(op.data)]
    known = [extent for extent in extents[:-1] if isinstance(extent, int)]
    if len(known) != len(extents) - 1:
        raise not_differentiable(op, f"where its parts meet along axis {axis} is known when it runs only")
    return [emit.op("split", gradient, indices_or_sections=list(accumulate(known)), axis=axis)]


@differentiates(MeshgridOp)
def meshgrid(op: MeshgridOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sums over the axes along which a vector is repeated."""
    count = len(_fields(op.data))
    sums: list[SSAValue] = []
    for number in range(count):
        others = [axis for axis in range(count) if axis != op.vector_of(number, count)]
        part = emit.item(gradient, number)
        total = emit.op("sum", part, axis=others) if others else part
        sums.append(emit.reshape_like(total, emit.item(op.data, number)))
    return [emit.tuple(*sums)]


def _fields(value: SSAValue) -> tuple[Attribute, ...]:
    """Returns the types of the fields of a tuple."""
    return value.type.types.data if isinstance(value.type, TupleType) else ()
