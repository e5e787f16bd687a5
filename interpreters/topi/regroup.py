"""numpy functions for the operations that folds may regroup."""

from __future__ import annotations

import numpy as np

from xrelay.errors import InterpreterError

_FUNCTIONS: dict[str, np.ufunc] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.maxsi": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
}
"""Unsigned operations are missing, because scalars are signless and stored in signed arrays."""


def has_function(operation: str) -> bool:
    """Returns whether numpy has a ufunc for the operation, with `reduce` and `accumulate`."""
    return operation in _FUNCTIONS


def function_of(operation: str) -> np.ufunc:
    """Returns the ufunc of the operation. Raises `InterpreterError` for other operations."""
    if operation not in _FUNCTIONS:
        raise InterpreterError(f"'{operation}' has no fold in numpy")
    return _FUNCTIONS[operation]
