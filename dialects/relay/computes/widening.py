"""Implementations that compute in a wider element type: operands are widened and results converted back.

An accumulator with 11 significant bits (bf16: 8) no longer changes once it is thousands of times (bf16: hundreds)
greater than the terms, and each step rounds. So an operator with sums is written once for any float type and declares
`HALF_PRECISION = HalfPrecision.SINGLE`, and a strategy is decorated with `in_single`: for half precision the operands
are widened to f32, and the f32 result is rounded once at the end. Relay's ToMixedPrecision does the same
(`accumulation_dtype`), as do onnxruntime on CPUs without half arithmetic (with casts around the node) and the
interpreter. Maxima and minima are exact in any type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Final

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType, f32, i64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.computes.builder import Build, TopiBuilder, element_of
from xrelay.dialects.shared.dtypes import is_half
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.shared.types import tensor_type
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.errors import LoweringError


@dataclass(frozen=True)
class Widening:
    """A set of element types, and the wider type in which they are computed."""

    is_narrow: Callable[[Attribute], bool]
    """Whether an element type is in the set."""
    wide: Attribute
    """The wider element type."""
    convert: Callable[[Body, SSAValue, Attribute], SSAValue]
    """Emits the conversion of an element to a type."""
    labels: tuple[str, str]
    """The labels of the computes that widen operands and convert results."""

    def around(self, build: Build, *, operands: bool = True) -> Build:
        """Wraps `build` to convert its results back, and to widen its operands unless `operands` is false."""

        @wraps(build)
        def build_wide(emitter: TopiBuilder) -> Sequence[SSAValue]:
            results = build(WideEmitter(emitter, self, operands=operands))
            pairs = zip(results, emitter.result_types, strict=True)
            return [self.converted(emitter, value, type.element_type, self.labels[1]) for value, type in pairs]

        return build_wide

    def converted(self, emitter: TopiBuilder, value: SSAValue, element: Attribute, label: str) -> SSAValue:
        """Converts every element, if the type differs."""
        if element_of(value) == element:
            return value

        def body(b: Body) -> SSAValue:
            return self.convert(b, b.read(value, *b.spatial), element)

        return emitter.compute(label, variables("i", shape_of(value)), element, body)


class WideEmitter(TopiBuilder):
    """An emitter that presents narrow results of the relay op, and optionally its operands, as wide."""

    def __init__(self, emitter: TopiBuilder, widening: Widening, *, operands: bool):
        super().__init__(emitter.op, emitter.inserter)
        self._widening, self._widens_operands = widening, operands
        self._wide: dict[SSAValue, SSAValue] = {}

    def checked(self, value: SSAValue) -> SSAValue:
        """Returns `value`, widened if it is narrow."""
        narrow, widening = super().checked(value), self._widening
        if not self._widens_operands or not widening.is_narrow(element_of(narrow)):
            return narrow
        if value not in self._wide:
            self._wide[value] = widening.converted(self, narrow, widening.wide, widening.labels[0])
        return self._wide[value]

    @cached_property
    def result_types(self) -> list[TensorType[Attribute]]:
        """The types of the op's tensors, widened."""
        return [
            tensor_type(shape_of_type(type), self._widening.wide)
            if self._widening.is_narrow(type.element_type)
            else type
            for type in super().result_types
        ]


def in_single(build: Build) -> Build:
    """Wraps `build` to widen half-precision operands and round the results."""
    return _SINGLE.around(build)


def into_single(build: Build) -> Build:
    """Wraps `build`, which widens its factors itself, to round its f32 results."""
    return _SINGLE.around(build, operands=False)


def _converted(b: Body, value: SSAValue, element: Attribute) -> SSAValue:
    return b.add((arith.TruncFOp if is_half(element) else arith.ExtFOp)(value, element))


_SINGLE: Final = Widening(is_half, f32, _converted, ("widen", "round"))


def for_any_width(build: Build) -> Build:
    """Wraps `build`, which computes means of f32, f64 and i64, for elements of any width."""
    of_floats, of_integers = in_single(build), _LONG.around(build)

    @wraps(build)
    def mean(emitter: TopiBuilder) -> Sequence[SSAValue]:
        element = element_of(emitter.operand(0))
        if not isinstance(element, AnyFloat) and not _is_integer(element):
            raise LoweringError(f"{emitter.op.name} of {element}: only numbers have a mean", help="cast them before")
        return of_floats(emitter) if isinstance(element, AnyFloat) else of_integers(emitter)

    return mean


def _is_integer(element: Attribute) -> bool:
    """Returns whether an element type is an integer type other than boolean."""
    return isinstance(element, IntegerType) and element.width.data > 1


_LONG: Final = Widening(_is_integer, i64, Body.convert, ("convert", "convert"))
"""Integers, whose sums may overflow their type: they are computed in 64 bits and converted once at the end."""
