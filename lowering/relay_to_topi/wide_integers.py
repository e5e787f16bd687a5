"""Sums of integers that their own type may not hold: taken in 64 bits, and converted once at the end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps

from xdsl.dialects.builtin import IntegerType, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.core.types import shape_of as shape_of_type
from xrelay.dialects.relay.core.types import tensor_type
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.relay_to_topi.elementwise import convert_scalar
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter, element_of
from xrelay.lowering.relay_to_topi.strategies import Build
from xrelay.passes.infra.conversion import ConversionRewriter


def in_long(build: Build) -> Build:
    """`build`, with integer operands widened to i64 before, and its results converted back; others as they are."""

    @wraps(build)
    def build_in_long(emitter: TopiEmitter) -> Sequence[SSAValue]:
        wide = LongEmitter(emitter.op, emitter.rewriter)
        pairs = zip(build(wide), emitter.result_types, strict=True)
        return [_converted(emitter, value, type.element_type) for value, type in pairs]

    return build_in_long


class LongEmitter(TopiEmitter):
    """Shows an implementation operands and results of i64 where the relay op's are of other integers."""

    def __init__(self, op: Operation, rewriter: ConversionRewriter):
        super().__init__(op, rewriter)
        self._wide: dict[SSAValue, SSAValue] = {}

    def checked(self, value: SSAValue) -> SSAValue:
        """`value`, wide; it is widened where it is read."""
        narrow = super().checked(value)
        if not is_whole(element_of(narrow)):
            return narrow
        if value not in self._wide:
            self._wide[value] = _converted(self, narrow, i64)
        return self._wide[value]

    @property
    def result_types(self) -> list[TensorType[Attribute]]:
        """The types of the op's tensors, wide."""
        return [
            tensor_type(shape_of_type(type), i64) if is_whole(type.element_type) else type
            for type in super().result_types
        ]


def is_whole(element: Attribute) -> bool:
    """Whether an element type is one of integers; booleans are none."""
    return isinstance(element, IntegerType) and element.width.data > 1


def _converted(emitter: TopiEmitter, value: SSAValue, element: Attribute) -> SSAValue:
    """A compute that converts every element, where they are of another type."""
    if element_of(value) == element:
        return value

    def body(b: Body) -> SSAValue:
        return convert_scalar(b, b.read(value, *b.spatial), element)

    return emitter.compute("convert", variables("i", shape_of(value)), element, body)
