"""`apply_op`: evaluation of one operator on arrays, without a program around it."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, TypeAttribute

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.types import tensor_type
from xrelay.interpreters.relay.registry import Value, evaluate_op


def apply_op(name: str, *operands: Value, **attributes: AttributeValue) -> Value:
    """Returns the value of the operator called `name` on arrays (and tuples of arrays).

    The value is checked against the inferred result type. Raises `ConstraintError` if a constraint of the op does not
    hold, and `InterpreterError` if the operands are outside of its domain.
    """
    block = Block(arg_types=[type_of_value(operand) for operand in operands])
    return evaluate_op(get_relay_op(name).call(*block.args, **attributes), operands)


def type_of_value(value: Value) -> Attribute:
    """Returns the type of an array or of a tuple of values."""
    if isinstance(value, tuple):
        return TupleType(tuple(cast(TypeAttribute, type_of_value(field)) for field in value))
    return tensor_type(value.shape, element_type(value.dtype))
