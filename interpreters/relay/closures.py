"""Closures as data: tuples of a function number and the captured values."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.structure.closures import ClosureCapturedOp, ClosureConstructOp, ClosureNumberOp
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import ClosureValue, Value, evaluates


@evaluates(ClosureConstructOp)
def evaluate_closure_construct(op: ClosureConstructOp, *captured: Value) -> Value:
    """Returns the function number and the operands."""
    return ClosureValue((np.array(op.number.value.data, np.int64), *captured))


@evaluates(ClosureNumberOp)
def evaluate_closure_number(op: ClosureNumberOp, data: ClosureValue) -> Value:
    """Returns the function number."""
    return data[0]


@evaluates(ClosureCapturedOp)
def evaluate_closure_captured(op: ClosureCapturedOp, data: ClosureValue) -> Value:
    """Returns a captured value."""
    index = op.index.value.data
    if index + 1 >= len(data):
        raise InterpreterError(f"a closure over {len(data) - 1} values has no value {index}")
    return data[index + 1]
