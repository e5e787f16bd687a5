"""Gradients of operators that only move elements: each element of the result says where it comes from.

The operator is applied to the numbers of the data's elements; then every place of the result has the number of the
element that it shows, and 0 where it shows none. The gradient of an element is the sum over the places with its number.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.passes.gradient.emitter import GradientEmitter

_FAR: Final = 2**31 - 1
"""Behind the last element of every axis."""


def numbered(value: SSAValue, emit: GradientEmitter) -> SSAValue:
    """The numbers of the elements of `value`, from 1 on, in its shape."""
    ones = emit.op("cast", emit.ones_like(value), dtype=i64)
    return emit.reshape_like(emit.op("cumsum", _flat(ones, emit), axis=0), value)


def no_numbers(value: SSAValue, emit: GradientEmitter) -> SSAValue:
    """The number 0 for each element of `value`."""
    return emit.op("cast", emit.zeros_like(value), dtype=i64)


def collected(numbers: SSAValue, gradient: SSAValue, value: SSAValue, emit: GradientEmitter) -> SSAValue:
    """For each element of `value` the sum of the gradient over the places that have its number."""
    zeros = _flat(emit.cast_like(emit.zeros_like(value), gradient), emit)
    # What shows no element is added to one more, which is dropped.
    room = emit.op("nn.pad", zeros, 0, pad_width=(1, 0))
    total = emit.op("scatter_elements", room, _flat(numbers, emit), _flat(gradient, emit), axis=0, reduction="add")
    found = emit.op("strided_slice", total, begin=[1], end=[_FAR])
    return emit.cast_like(emit.reshape_like(found, value), value)


def _flat(value: SSAValue, emit: GradientEmitter) -> SSAValue:
    return value if len(emit.shape(value)) == 1 else emit.op("reshape", value, newshape=[-1])
