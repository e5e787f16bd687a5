"""Sums of f16 and bf16: taken in f32 and rounded once at the end.

An accumulator of eleven (bf16: eight) bits stands still once it is a thousand times larger than what is added, and each
step rounds. So an implementation that adds up is written once, for any float type, and decorated with `in_single` here:
for half precision it gets operands widened to f32, gives f32, and its result is rounded. This is what Relay's
ToMixedPrecision does (`accumulation_dtype`), what onnxruntime does on CPUs without half arithmetic (it casts around the
node), and what the interpreter computes. Maxima and minima are exact in any type and stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.core.dtypes import is_half
from xrelay.dialects.relay.core.types import shape_of as shape_of_type
from xrelay.dialects.relay.core.types import tensor_type
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter, element_of
from xrelay.lowering.relay_to_topi.strategies import Build
from xrelay.passes.infra.conversion import ConversionRewriter


def in_single(build: Build) -> Build:
    """`build`, with half-precision operands widened before and its results rounded after."""

    @wraps(build)
    def build_in_single(emitter: TopiEmitter) -> Sequence[SSAValue]:
        return _rounded(build, WideEmitter(emitter.op, emitter.rewriter), emitter)

    return build_in_single


def into_single(build: Build) -> Build:
    """`build`, which widens what it multiplies itself, with results of f32 that are rounded after."""

    @wraps(build)
    def build_into_single(emitter: TopiEmitter) -> Sequence[SSAValue]:
        return _rounded(build, WideResultEmitter(emitter.op, emitter.rewriter), emitter)

    return build_into_single


class WideResultEmitter(TopiEmitter):
    """Shows an implementation f32 results where the relay op's are of half precision."""

    @property
    def result_types(self) -> list[TensorType[Attribute]]:
        """The types of the op's tensors, wide."""
        return [
            tensor_type(shape_of_type(type), f32) if is_half(type.element_type) else type
            for type in super().result_types
        ]


class WideEmitter(WideResultEmitter):
    """Shows an implementation f32 operands too."""

    def __init__(self, op: Operation, rewriter: ConversionRewriter):
        super().__init__(op, rewriter)
        self._wide: dict[SSAValue, SSAValue] = {}

    def checked(self, value: SSAValue) -> SSAValue:
        """`value`, wide; it is widened where it is read."""
        narrow = super().checked(value)
        if not is_half(element_of(narrow)):
            return narrow
        wide = self._wide.get(value)
        if wide is None:
            wide = self._wide[value] = _converted(self, narrow, "widen", f32)
        return wide


def _rounded(build: Build, wide: TopiEmitter, narrow: TopiEmitter) -> Sequence[SSAValue]:
    """Builds with `wide`, and converts the results to the types of the relay op."""
    results = build(wide)
    return [
        value if element_of(value) == type.element_type else _converted(narrow, value, "round", type.element_type)
        for value, type in zip(results, narrow.result_types, strict=True)
    ]


def _converted(emitter: TopiEmitter, value: SSAValue, label: str, type_: Attribute) -> SSAValue:
    """A compute that converts every element."""
    cast = arith.TruncFOp if is_half(type_) else arith.ExtFOp

    def body(b: Body) -> SSAValue:
        return b.add(cast(b.read(value, *b.spatial), type_))

    return emitter.compute(label, variables("i", shape_of(value)), type_, body)
