"""The numpy meaning of operators.

@evaluates(L1NormalizeOp)
def evaluate(op: L1NormalizeOp, data: Array) -> Array: …
"""

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import Value, evaluates

__all__ = ["Array", "InterpreterError", "Value", "evaluates"]
