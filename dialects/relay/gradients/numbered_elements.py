"""Gradients of operators that only move elements, by numbering the elements of the data.

The operator is applied to the numbers of the data's elements, so each element of the result has the number of its
source, or 0 for an element without a source. The gradient of a data element is the sum over the elements with its
number.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.gradients.builder import END, GradientBuilder, Gradients


def gradient_by_numbers(op: RelayOp, of: SSAValue, build: GradientBuilder) -> Gradients:
    """Returns the gradient of the data, the first operand of `op`; None for the others, which control the movement."""
    data, *others = op.operands
    numbers = build.op(op.relay_name(), numbered(data, build), *others, **op.properties)
    return [sum_by_number(numbers, of, data, build), *[None] * len(others)]


def numbered(value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the numbers of the elements of `value`, from 1, in its shape."""
    ones = emit.op("cast", emit.ones_like(value), dtype=i64)
    return emit.reshape_like(emit.op("cumsum", _flat(ones, emit), axis=0), value)


def no_numbers(value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the number 0 for each element of `value`."""
    return emit.op("cast", emit.zeros_like(value), dtype=i64)


def sum_by_number(numbers: SSAValue, gradient: SSAValue, value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns for each element of `value` the sum of the gradient over the elements with its number."""
    zeros = _flat(emit.cast_like(emit.zeros_like(value), gradient), emit)
    # Elements without a source are added to an extra element, which is dropped.
    room = emit.op("nn.pad", zeros, 0, pad_width=(1, 0))
    total = emit.op("scatter_elements", room, _flat(numbers, emit), _flat(gradient, emit), axis=0, reduction="add")
    found = emit.op("strided_slice", total, begin=[1], end=[END])
    return emit.cast_like(emit.reshape_like(found, value), value)


def _flat(value: SSAValue, emit: GradientBuilder) -> SSAValue:
    return value if len(emit.shape(value)) == 1 else emit.op("reshape", value, newshape=[-1])
