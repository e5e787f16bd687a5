"""Constant tensors, stacks and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.ops.tensor_fill import (
    ConstantLikeOp,
    ConstantOfShapeOp,
    FullLikeOp,
    FullOp,
    OnesLikeOp,
    OnesOp,
    StackOp,
    ZerosLikeOp,
    ZerosOp,
)
from xrelay.dialects.relay.ops.tensor_range import ArangeOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.lowering.relay_to_topi.registry import implements


@implements(FullOp, "full.generic")
@implements(FullLikeOp, "full_like.generic")
def build_full(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Fills with the last operand, a scalar."""
    value = emitter.operand(len(emitter.op.operands) - 1)
    element, shape = emitter.result_type.element_type, emitter.result_shape
    return [
        emitter.compute("full", variables("i", shape), element, lambda b: convert_scalar(b, b.read(value), element))
    ]


@implements(ZerosOp, "zeros.generic")
@implements(OnesOp, "ones.generic")
@implements(ZerosLikeOp, "zeros_like.generic")
@implements(OnesLikeOp, "ones_like.generic")
def build_constant_like(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Fills with a constant."""
    number, element = cast(ConstantLikeOp | ConstantOfShapeOp, emitter.op).NUMBER, emitter.result_type.element_type
    names = variables("i", emitter.result_shape)
    return [emitter.compute("constant_like", names, element, lambda b: b.constant(number, element))]


@implements(StackOp, "stack.generic")
def build_stack(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the field at the index along the new axis, selected by a binary tree of guards."""
    parts, shape = emitter.operands_of_tuple(0), emitter.result_shape
    axis, element = emitter.integer("axis") % len(shape), element_of(parts[0])

    def read(b: Body) -> SSAValue:
        others = [index for position, index in enumerate(b.spatial) if position != axis]

        def choose(first: int, end: int) -> SSAValue:
            if end - first == 1:
                return b.read(parts[first], *others)
            middle = (first + end) // 2
            below = b.in_bounds([b.spatial[axis]], [middle])
            return b.guard(below, element, lambda: choose(first, middle), lambda: choose(middle, end))

        return choose(0, len(parts))

    return [emitter.compute("stack", variables("i", shape), element, read)]


@implements(ArangeOp, "arange.counted")
def build_arange(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes the start plus the index times the step."""
    start, _, step = (emitter.operand(index) for index in range(3))
    element, shape = emitter.result_type.element_type, emitter.result_shape

    def fill(b: Body) -> SSAValue:
        place = convert_scalar(b, b.add(arith.IndexCastOp(b.index(b.spatial[0]), i64)), element)
        return b.plus(b.read(start), b.times(place, b.read(step)))

    return [emitter.compute("arange", variables("i", shape), element, fill)]
