"""Semantics of `topi.checked_index` and `loop.checked_index` on numpy values."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.shared.checked_index import CheckedIndex, out_of_range
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import InterpreterError
from xrelay.interpreters.scalar_meaning import ScalarFunction, Value


def compile_checked_index(op: Operation) -> ScalarFunction:
    """Returns a function of an index, or an array of indices, and of the size if that is dynamic.

    The function raises `InterpreterError` for an index out of range.
    """
    if not isinstance(op, CheckedIndex):
        raise InterpreterError(f"'{op.name}' is no checked index")
    known, from_end, location = None if op.dynamic_size is not None else op.size, op.from_end, location_of(op)

    def checked(index: Value, given: Value = 0) -> Value:
        values, size = np.asarray(index), int(np.asarray(given).flat[0]) if known is None else known
        limits = (-size if from_end else 0, size)
        wrong = (values < limits[0]) | (values >= limits[1])
        if wrong.any():
            message = out_of_range(int(values[wrong].flat[0]), limits)
            raise InterpreterError(f"{op.name}: {message}", location=location)
        counted = np.where(values < 0, values + size, values)
        return counted if values.ndim else int(counted)

    return checked
