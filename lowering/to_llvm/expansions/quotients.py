"""Quotients by constants that are rounded to integers, as products: quantisation divides by its scale.

A division takes as long as 16 products. With `h`, the reciprocal of the divisor rounded toward zero, and `l`, the
rounded rest of the reciprocal, `fma(x, h, x * l)` is the correctly rounded quotient, except for a few `x` of one in six
divisors (Brisebarre, Muller: Correctly rounded multiplication by arbitrary precision constants, 2008). For most of
these, `h` is rounded away from zero, and `l` has the other sign: `x * l` is limited to finite floats, so that quotients
of infinities are infinite. If `x * l` underflows, the quotient is below 2⁻⁷⁷ and is rounded to zero. The
quotient of -0 may be 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import frexp, isfinite, ldexp
from struct import pack, unpack

from xdsl.dialects import math
from xdsl.dialects.arith import ConstantOp, DivfOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, f32
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dense_elements import is_uniform
from xrelay.dialects.upstream.arith_extras import element_type
from xrelay.lowering.to_llvm.expansions.exponentials import at_least, at_most
from xrelay.lowering.to_llvm.expansions.inlined_ops import number
from xrelay.passes.infra.conversion import ConversionPattern, ConversionRewriter

_BITS = 24
"""The bits of a float's significand."""
_PLACES = 2 * _BITS - 1
"""The number of binary places of the first term of a significand's reciprocal."""
_MAX_EXPONENT = 24
"""The limit of the magnitude of a divisor's exponent: scales of other sizes are not worth an analysis."""
_MAX = ldexp(2 - ldexp(1, 1 - _BITS), 127)
"""The largest finite float."""
_MAX_REST = 8
"""The quotient of significands x / d is off by less than `_MAX_REST` / (2²⁵ d)."""


class ExpandRoundedQuotient(ConversionPattern[DivfOp]):
    """`math.roundeven (arith.divf %x, %constant)` → `math.roundeven (math.fma %x, %h, (arith.mulf %x, %l))`."""

    def rewrite(self, op: DivfOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the same number by a product and a fused multiply-add."""
        terms = _terms(op)
        if terms is None:
            return "the quotient is not rounded, or its divisor has no exact product"
        x, (high, low) = number(op.lhs, rewriter), terms
        rest = x * low
        if high * low < 0:
            rest = at_most(at_least(rest, -_MAX), _MAX)
        rewriter.replace(op, rewriter.insert(math.FmaOp(x.value, x.like(high).value, rest.value)))
        return None


def is_rounded_quotient(op: DivfOp) -> bool:
    """Whether `ExpandRoundedQuotient` applies to a quotient."""
    return _terms(op) is not None


def constant_number(value: SSAValue) -> float | None:
    """Returns the float if a value is a constant, the same in all lanes."""
    constant = value.owner
    attribute = constant.value if isinstance(constant, ConstantOp) else None
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        attribute = attribute.get_attrs()[0] if is_uniform(attribute) else None
    return attribute.value.data if isinstance(attribute, FloatAttr) else None


def _terms(op: DivfOp) -> tuple[float, float] | None:
    divisor = constant_number(op.rhs) if element_type(op.result.type) == f32 else None
    if divisor is None or not all(isinstance(use.operation, math.RoundEvenOp) for use in op.result.uses):
        return None
    return reciprocal_terms(divisor)


@lru_cache(maxsize=1024)
def reciprocal_terms(divisor: float) -> tuple[float, float] | None:
    """Returns the two terms of a float's reciprocal by which products are correctly rounded quotients.

    Returns None if no terms are exact, and for powers of two: LLVM replaces their quotients. Terms of the same sign
    come first.
    """
    significand, exponent = frexp(_single(divisor))
    if not isfinite(significand) or abs(exponent) > _MAX_EXPONENT or abs(significand) in (0, 0.5):
        return None
    whole = int(ldexp(abs(significand), _BITS))
    scale = ldexp(1 if divisor > 0 else -1, _BITS - exponent)
    below = (1 << _PLACES) // whole
    for high in (below, below + 1):
        low = _single(((1 << _PLACES) - high * whole) / (whole << _PLACES))
        if all(_is_exact(x, middle, bits, high, low, whole) for x, middle, bits in _hard_cases(whole)):
            return ldexp(high, -_PLACES) * scale, low * scale
    return None


def _hard_cases(whole: int) -> Iterator[tuple[int, int, int]]:
    """Yields significands whose quotients are closest to the middle of two floats, each with that middle.

    A quotient of at least 1 has 24 bits after the first bit of its middle, a smaller one 25: `x * 2ᵇ - whole * middle`
    is the rest, a small integer. The number of bits comes last.
    """
    power = (whole & -whole).bit_length() - 1
    odd = whole >> power
    for bits in (_BITS, _BITS + 1):
        inverse = pow(1 << bits - power, -1, odd)
        for rest in range(-_MAX_REST, _MAX_REST + 1):
            if rest == 0 or rest % (1 << power):
                continue
            first = (rest >> power) * inverse % odd
            start = 1 << _BITS - 1
            for x in range(start + (first - start) % odd, 1 << _BITS, odd):
                middle = ((x << bits) - rest) // whole
                if middle % 2 == 1 and (x >= whole) == (bits == _BITS):
                    yield x, middle, bits


def _is_exact(x: int, middle: int, bits: int, high: int, low: float, whole: int) -> bool:
    """Whether the sum of both products is on the same side of the middle of two floats as the quotient."""
    rest, unit = _single(x * low).as_integer_ratio()
    over = x * high * unit + (rest << _PLACES) - (middle << _PLACES - bits) * unit
    return over != 0 and (over > 0) == (x << bits > middle * whole)


def _single(number: float) -> float:
    """Returns the nearest f32. Kernels are compiled in processes without numpy."""
    (nearest,) = unpack("f", pack("f", number))
    assert isinstance(nearest, float), "the format is that of a float"
    return nearest
