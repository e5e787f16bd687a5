"""Evaluation in double precision with one rounding."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once


def in_double(function: Callable[..., Array]) -> Callable[..., Array]:
    """Wraps `function` of an op and float arrays to run in f64; rounds the result to the first array's dtype."""

    @wraps(function)
    def rounded(op: Operation, *operands: Array) -> Array:
        return cast_once(function(op, *(operand.astype(np.float64) for operand in operands)), operands[0].dtype)

    return rounded
