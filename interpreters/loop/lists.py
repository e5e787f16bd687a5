"""Lists between kernels, represented as nested tuples of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.loop.list_ops import (
    ListAtOp,
    ListEmptyOp,
    ListEraseOp,
    ListExtentsOp,
    ListInsertOp,
    ListLengthOp,
    ListReadOp,
    ListType,
)
from xrelay.dialects.loop.list_part_ops import ListInsertPartOp, ListReadPartOp
from xrelay.dialects.shared.container_types import OptionalType, SequenceType
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import InterpreterError
from xrelay.interpreters.scalar_meaning import Value


def has_lists(op: Operation) -> bool:
    """Returns whether an op has list operands or results."""
    return any(isinstance(value.type, ListType) for value in (*op.operands, *op.results))


def run_list_op(op: Operation, values: dict[SSAValue, Value]) -> bool:
    """Runs `op` if it is a list op; returns whether it is."""
    match op:
        case ListEmptyOp():
            values[op.result] = ()
        case ListInsertOp():
            data, value = values[op.list], values[op.value]
            at = _position(op, values[op.at], len(data))
            held = value.copy() if isinstance(op.value.type, MemRefType) else value
            values[op.result] = (*data[:at], held, *data[at:])
        case ListInsertPartOp():
            values[op.result] = _with_part(op, values)
        case ListEraseOp():
            data = values[op.list]
            at = _position(op, values[op.at], len(data) - 1)
            values[op.result] = (*data[:at], *data[at + 1 :])
        case ListLengthOp():
            values[op.result] = len(values[op.list])
        case ListExtentsOp():
            _extents(op, values)
        case ListReadOp():
            _read(op, values)
        case ListReadPartOp():
            _read_part(op, values)
        case ListAtOp():
            data = values[op.list]
            values[op.result] = data[_position(op, values[op.at], len(data) - 1)]
        case _:
            return False
    return True


def list_of(given: Value, container: Attribute | None) -> Value:
    """Converts an input, a sequence or optional of type `container`, to a list; recursive like the type."""
    if isinstance(container, OptionalType):
        return () if given is None else (list_of(given, container.element),)
    if isinstance(container, SequenceType) or isinstance(given, list):
        element = container.element if isinstance(container, SequenceType) else None
        return tuple(list_of(each, element) for each in cast("Sequence[Value]", given))
    return given


def given_of_list(value: Value, container: Attribute | None) -> Value:
    """Converts a list to the caller's representation; the inverse of `list_of`."""
    if isinstance(container, OptionalType):
        return given_of_list(value[0], container.element) if value else None
    if isinstance(container, SequenceType):
        return [given_of_list(each, container.element) for each in value]
    return value


def _extents(op: ListExtentsOp, values: dict[SSAValue, Value]) -> None:
    data = values[op.list]
    shape = data[_position(op, values[op.at], len(data) - 1)].shape
    if len(shape) != len(op.extents):
        raise InterpreterError(f"'{op.name}' reads {len(op.extents)} extents of {list(shape)}",
                               location=location_of(op))  # fmt: skip
    values.update(zip(op.extents, shape, strict=True))


def _read(op: ListReadOp, values: dict[SSAValue, Value]) -> None:
    data, target = values[op.list], values[op.target]
    held = data[_position(op, values[op.at], len(data) - 1)]
    if held.shape != target.shape:
        raise InterpreterError(f"'{op.name}' copies {list(held.shape)} to {list(target.shape)}",
                               location=location_of(op))  # fmt: skip
    target[...] = held


def _with_part(op: ListInsertPartOp, values: dict[SSAValue, Value]) -> Value:
    data, axis, first = values[op.list], op.axis.value.data, int(values[op.first])
    at, count = _position(op, values[op.at], len(data)), int(values[op.count])
    part = values[op.value].take(range(first, first + count), axis)
    return (*data[:at], part if op.drop is None else part.squeeze(axis), *data[at:])


def _read_part(op: ListReadPartOp, values: dict[SSAValue, Value]) -> None:
    data, axis, first = values[op.list], op.axis.value.data, int(values[op.first])
    held = data[_position(op, values[op.at], len(data) - 1)]
    part = held if op.drop is None else np.expand_dims(held, axis)
    target = values[op.target][(*[slice(None)] * axis, slice(first, first + part.shape[axis]))]
    if part.shape != target.shape:
        raise InterpreterError(f"'{op.name}' copies {list(part.shape)} to {list(target.shape)}",
                               location=location_of(op))  # fmt: skip
    target[...] = part


def _position(op: Operation, at: Value, last: int) -> int:
    if not 0 <= at <= last:
        raise InterpreterError(f"'{op.name}' at place {int(at)}, the last is {last}", location=location_of(op))
    return int(at)
