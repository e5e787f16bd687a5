"""Evaluation of operators with numpy.

@evaluates(L1NormalizeOp)
def evaluate(op: L1NormalizeOp, data: Array) -> Array: …
"""

from typing import Any, TypeAlias

from numpy.typing import NDArray

from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import Value, evaluates

Array: TypeAlias = NDArray[Any]
"""A numpy array."""

__all__ = ["Array", "InterpreterError", "Value", "evaluates"]
