"""Composite logarithms and truncated division, with which tests compare their decompositions."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.in_double import in_double
from xrelay.dialects.relay.meaning.integer_division import of_divisors, truncated_quotient
from xrelay.dialects.relay.ops.composite_math import Log2Op, Log10Op, TruncDivideOp, TruncModOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(Log2Op)
@in_double
def evaluate_log2(op: Log2Op, x: Array) -> Array:
    """Returns the logarithm to base 2."""
    return np.log2(x)


@evaluates(Log10Op)
@in_double
def evaluate_log10(op: Log10Op, x: Array) -> Array:
    """Returns the logarithm to base 10."""
    return np.log10(x)


@evaluates(TruncDivideOp)
def evaluate_trunc_divide(op: TruncDivideOp, lhs: Array, rhs: Array) -> Array:
    """Truncates the quotient."""
    if lhs.dtype.kind in "iu":
        return truncated_quotient(lhs, rhs)
    return np.asarray(np.trunc(lhs / rhs), lhs.dtype)


@evaluates(TruncModOp)
def evaluate_trunc_mod(op: TruncModOp, lhs: Array, rhs: Array) -> Array:
    """Returns the remainder of C's `%` and `fmod`."""
    return np.asarray(of_divisors(np.fmod)(lhs, rhs), lhs.dtype)
