"""Evaluates Relay's operators with numpy: by the method `evaluate` of their class, or a registered function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import TensorType, TupleType, UnrankedTensorType
from xdsl.ir import Attribute, Block, Operation, TypeAttribute

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp, TransposeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import (
    ClosureType,
    ClosureValue,
    OptionalType,
    OptionalValue,
    SequenceType,
    SequenceValue,
    Value,
    shape_of,
    tensor_type,
)
from xrelay.errors import ConstraintError, InterpreterError
from xrelay.index_algebra.dims import certainly_differ
from xrelay.plugins import load_plugins
from xrelay.registrations import registering

OpT = TypeVar("OpT", bound=Operation)
EvaluatorT = TypeVar("EvaluatorT", bound=Callable[..., Value])

_EVALUATORS: dict[type[Operation], Callable[..., Value]] = {}
MOVES: Final = (LayoutTransformOp, TransposeOp)
"""Ops whose results do not depend on the strides of operands. Packing a large weight copies it only once."""


def evaluates(*ops: type[Operation]) -> Callable[[EvaluatorT], EvaluatorT]:
    """Registers the decorated function to compute ops of these classes, from the op and the values of its operands."""
    return registering(_EVALUATORS, *ops)


def _evaluator(op: Operation) -> Callable[..., Value] | None:
    """Returns the function registered for the class of `op`, else its method `evaluate`; imports other packages'."""
    load_plugins("interpreter")
    return _EVALUATORS.get(type(op)) or getattr(type(op), "evaluate", None)


def can_evaluate(op: Operation) -> bool:
    """Returns whether `op` has a numpy implementation of its own; ops with regions and calls do not."""
    return _evaluator(op) is not None


def evaluate_op(op: Operation, operands: Sequence[Value]) -> Value:
    """Returns the value of `op` for the values of its operands: an array, or a tuple of values.

    Raises `InterpreterError`, with the op's location, if the op has no numpy implementation, if the operands are
    outside of its domain, if memory does not suffice, or if the value does not have the type of the op's result.
    """
    function = _evaluator(op)
    if function is None:
        raise InterpreterError(
            f"{op.name} has no numpy implementation", location=location_of(op), help="register one with @evaluates"
        )
    try:
        # A quotient by zero is infinite and a root of -1 is NaN, as in compiled code, so numpy must not warn.
        with np.errstate(all="ignore"):
            value = function(op, *(operands if isinstance(op, MOVES) else map(_in_order, operands)))
        # numpy converts arrays of rank 0 to scalars. A function, which a binding passes on, is not an array.
        value = np.asarray(value) if isinstance(value, np.generic) else value
    except InterpreterError as error:
        if error.location is not None:
            raise
        raise InterpreterError(f"{op.name}: {error.message}", location=location_of(op), help=error.help) from error
    except ConstraintError as error:
        raise InterpreterError(error.message, location=location_of(op), help=error.help) from error
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise InterpreterError(f"{op.name}: {error}", location=location_of(op)) from error
    except MemoryError as error:
        raise InterpreterError(f"{op.name} needs more memory than is available", location=location_of(op)) from error
    if not matches(value, op.results[0].type):
        raise InterpreterError(
            f"{op.name} returned {describe(value)}, its type is {op.results[0].type}", location=location_of(op)
        )
    return value


def _in_order(value: Value) -> Value:
    """Returns an array with its elements in order in memory.

    numpy sums a transposed view in another order than its copy, and the result of an op must not depend on the strides
    of its operand.
    """
    return np.asarray(value, order="C") if isinstance(value, np.ndarray) else value


def matches(value: Value, type: Attribute) -> bool:
    """Returns whether `value` has `type`, as far as the type is known."""
    if isinstance(type, TensorType):
        if isinstance(value, tuple):
            return False
        shape = shape_of(type)
        if value.ndim != len(shape) or value.dtype != numpy_dtype(type.element_type):
            return False
        return value.shape == shape or not any(map(certainly_differ, value.shape, shape))
    if isinstance(type, UnrankedTensorType):
        return not isinstance(value, tuple) and value.dtype == numpy_dtype(type.element_type)
    if isinstance(type, SequenceType | OptionalType):
        wanted = SequenceValue if isinstance(type, SequenceType) else OptionalValue
        return isinstance(value, wanted) and all(matches(each, type.element) for each in value)
    if isinstance(type, ClosureType):
        return isinstance(value, ClosureValue)
    if isinstance(type, TupleType):
        fields = cast("Sequence[Value]", value)
        return (
            isinstance(value, tuple)
            and len(value) == len(type.types)
            and all(matches(field, field_type) for field, field_type in zip(fields, type.types, strict=True))
        )
    return True


def describe(value: object) -> str:
    """Returns the kind of a value, for messages: `float32[1, 3]`."""
    if isinstance(value, np.ndarray):
        array = cast(Array, value)
        return f"{array.dtype}{list(array.shape)}"
    if isinstance(value, tuple):
        return "(" + ", ".join(describe(field) for field in cast("tuple[object, ...]", value)) + ")"
    return "a function"


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
