"""Evaluation of operators with numpy.

@evaluates(L1NormalizeOp)
def evaluate(op: L1NormalizeOp, data: Array) -> Array: …
"""

from typing import Any, TypeAlias

from numpy.typing import NDArray

from xrelay.dialects.shared.types import Value
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates

Array: TypeAlias = NDArray[Any]
"""A numpy array."""

__all__ = ["Array", "InterpreterError", "Value", "evaluates"]
