"""Sums of f16 and bf16: taken in f32 and rounded once at the end.

An accumulator of eleven (bf16: eight) bits stands still once it is a thousand times larger than what is added, and each
step rounds. So an implementation that adds up is written once, for any float type, and decorated with `in_single` here:
for half precision it gets operands widened to f32, gives f32, and its result is rounded. This is what Relay's
ToMixedPrecision does (`accumulation_dtype`), what onnxruntime does on CPUs without half arithmetic (it casts around the
node), and what the interpreter computes. Maxima and minima are exact in any type and stay as they are.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.computes.builder import Build
from xrelay.dialects.relay.computes.widening import Widening
from xrelay.dialects.shared.dtypes import is_half
from xrelay.dialects.topi.build import Body


def in_single(build: Build) -> Build:
    """`build`, with half-precision operands widened before and its results rounded after."""
    return _SINGLE.around(build)


def into_single(build: Build) -> Build:
    """`build`, which widens what it multiplies itself, with results of f32 that are rounded after."""
    return _SINGLE.around(build, operands=False)


def _converted(b: Body, value: SSAValue, element: Attribute) -> SSAValue:
    return b.add((arith.TruncFOp if is_half(element) else arith.ExtFOp)(value, element))


_SINGLE: Final = Widening(is_half, f32, _converted, ("widen", "round"))
