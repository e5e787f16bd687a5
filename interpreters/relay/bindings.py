"""Constants, tuples and let bindings."""

from __future__ import annotations

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import Value, evaluates


@evaluates(ConstantOp)
def evaluate_constant(op: ConstantOp) -> Array:
    """Returns the array."""
    return op.array


@evaluates(TupleOp)
def evaluate_tuple(op: TupleOp, *fields: Value) -> tuple[Value, ...]:
    """Returns the fields."""
    return fields


@evaluates(TupleGetItemOp)
def evaluate_tuple_get_item(op: TupleGetItemOp, data: tuple[Value, ...]) -> Value:
    """Returns a field."""
    return data[op.index.value.data]


@evaluates(LetOp)
def evaluate_let(op: LetOp, value: Value) -> Value:
    """Returns the operand."""
    return value
