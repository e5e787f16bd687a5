"""Integer division truncated towards zero, as in Relay and C, and checks for zero divisors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError


def truncated_quotient(dividend: Array, divisor: ArrayLike) -> Array:
    """Returns the truncated quotient; the least integer divided by -1 wraps around to itself.

    Raises `InterpreterError` for a divisor of zero.
    """
    by = np.asarray(divisor, dividend.dtype)
    _require_divisors(dividend, by)
    floor = dividend // by
    # numpy rounds down; if the exact quotient is negative and not whole, the truncated one is greater by 1.
    fraction = floor * by != dividend
    return np.asarray(floor + (fraction & ((dividend < 0) != (by < 0))), dividend.dtype)


def checking_divisors(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Returns `function` with an `InterpreterError` for zero divisors of integers or booleans."""

    def divide(lhs: Array, rhs: Array) -> Array:
        if lhs.dtype.kind in "iub":
            _require_divisors(lhs, rhs)
        return function(lhs, rhs)

    return divide


def _require_divisors(dividend: Array, divisor: Array) -> None:
    """Raises `InterpreterError` if a divisor is zero, unless the broadcast result is empty."""
    if not np.all(divisor) and np.broadcast(dividend, divisor).size:
        raise InterpreterError("division by zero")
