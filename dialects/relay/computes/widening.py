"""Implementations that compute in a wider element type than the op has: it is widened before and converted after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.computes.builder import Build, TopiEmitter, element_of
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.shared.types import tensor_type
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.shapes import shape_of


@dataclass(frozen=True)
class Widening:
    """Element types that are computed in a wider one."""

    is_narrow: Callable[[Attribute], bool]
    """Whether an element type is one of them."""
    wide: Attribute
    """The element type that they are computed in."""
    convert: Callable[[Body, SSAValue, Attribute], SSAValue]
    """Adds what converts an element to a type."""
    labels: tuple[str, str]
    """What the computes that widen operands, and those that convert results, are called."""

    def around(self, build: Build, *, operands: bool = True) -> Build:
        """`build`, with its results converted back; unless `operands` is false these are widened for it."""

        @wraps(build)
        def build_wide(emitter: TopiEmitter) -> Sequence[SSAValue]:
            results = build(WideEmitter(emitter, self, operands=operands))
            pairs = zip(results, emitter.result_types, strict=True)
            return [self.converted(emitter, value, type.element_type, self.labels[1]) for value, type in pairs]

        return build_wide

    def converted(self, emitter: TopiEmitter, value: SSAValue, element: Attribute, label: str) -> SSAValue:
        """A compute that converts every element, where they are of another type."""
        if element_of(value) == element:
            return value

        def body(b: Body) -> SSAValue:
            return self.convert(b, b.read(value, *b.spatial), element)

        return emitter.compute(label, variables("i", shape_of(value)), element, body)


class WideEmitter(TopiEmitter):
    """Shows an implementation wide results where the relay op's are narrow, and such operands if it is asked to."""

    def __init__(self, emitter: TopiEmitter, widening: Widening, *, operands: bool):
        super().__init__(emitter.op, emitter.inserter)
        self._widening, self._widens_operands = widening, operands
        self._wide: dict[SSAValue, SSAValue] = {}

    def checked(self, value: SSAValue) -> SSAValue:
        """`value`, wide; it is widened where it is read."""
        narrow, widening = super().checked(value), self._widening
        if not self._widens_operands or not widening.is_narrow(element_of(narrow)):
            return narrow
        if value not in self._wide:
            self._wide[value] = widening.converted(self, narrow, widening.wide, widening.labels[0])
        return self._wide[value]

    @cached_property
    def result_types(self) -> list[TensorType[Attribute]]:
        """The types of the op's tensors, wide."""
        return [
            tensor_type(shape_of_type(type), self._widening.wide)
            if self._widening.is_narrow(type.element_type)
            else type
            for type in super().result_types
        ]
