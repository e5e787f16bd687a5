"""numpy's functions for the operations that folds may regroup."""

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
"""Without those on unsigned numbers: scalars are signless, and their arrays signed."""


def has_function(operation: str) -> bool:
    """Whether numpy has the operation as a function with `reduce` and `accumulate`."""
    return operation in _FUNCTIONS


def function_of(operation: str) -> np.ufunc:
    """The function; `InterpreterError` where there is none."""
    if operation not in _FUNCTIONS:
        raise InterpreterError(f"'{operation}' has no fold in numpy")
    return _FUNCTIONS[operation]
