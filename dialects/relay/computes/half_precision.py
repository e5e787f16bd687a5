"""Sums of f16 and bf16: computed in f32 and rounded once at the end.

An accumulator with 11 significant bits (bf16: 8) no longer changes once it is thousands of times (bf16: hundreds)
greater than the terms, and each step rounds. So an operator with sums is written once for any float type and declares
`HALF_PRECISION = HalfPrecision.SINGLE`, and a strategy is decorated with `in_single`: for half precision the operands
are widened to f32, and the f32 result is rounded. Relay's ToMixedPrecision does the same (`accumulation_dtype`), as do
onnxruntime on CPUs without half arithmetic (with casts around the node) and the interpreter. Maxima and minima are
exact in any type.
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
    """Wraps `build` to widen half-precision operands and round the results."""
    return _SINGLE.around(build)


def into_single(build: Build) -> Build:
    """Wraps `build`, which widens its factors itself, to round its f32 results."""
    return _SINGLE.around(build, operands=False)


def _converted(b: Body, value: SSAValue, element: Attribute) -> SSAValue:
    return b.add((arith.TruncFOp if is_half(element) else arith.ExtFOp)(value, element))


_SINGLE: Final = Widening(is_half, f32, _converted, ("widen", "round"))
