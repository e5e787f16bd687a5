"""Closures as data: tuples of the number of a function and of what it captured."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.structure.closures import ClosureCapturedOp, ClosureConstructOp, ClosureNumberOp
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import ClosureValue, Value, evaluates


@evaluates(ClosureConstructOp)
def evaluate_closure_construct(op: ClosureConstructOp, *captured: Value) -> Value:
    """The number and the operands."""
    return ClosureValue((np.array(op.number.value.data, np.int64), *captured))


@evaluates(ClosureNumberOp)
def evaluate_closure_number(op: ClosureNumberOp, data: ClosureValue) -> Value:
    """The number."""
    return data[0]


@evaluates(ClosureCapturedOp)
def evaluate_closure_captured(op: ClosureCapturedOp, data: ClosureValue) -> Value:
    """A value that it captured."""
    index = op.index.value.data
    if index + 1 >= len(data):
        raise InterpreterError(f"a closure over {len(data) - 1} values has no value {index}")
    return data[index + 1]
