"""Ops between kernels: control flow, buffers, and lists, which are nested tuples of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import cast

import numpy as np
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.loop import SubviewOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.list_ops import (
    ListAtOp,
    ListEmptyOp,
    ListEraseOp,
    ListExtentsOp,
    ListInsertOp,
    ListInsertPartOp,
    ListLengthOp,
    ListReadOp,
    ListReadPartOp,
    ListType,
)
from xrelay.dialects.loop.subview_op import strides_of
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import OptionalType, SequenceType
from xrelay.errors import InterpreterError
from xrelay.interpreters.loop.body import undefined
from xrelay.interpreters.loop.frame import Array
from xrelay.interpreters.scalar import Value, numpy_dtype
from xrelay.interpreters.work import Work

Values = dict[SSAValue, Value]
RunBlock = Callable[[Block, Values], "Work[None]"]


def enter_between_kernels(op: Operation, values: Values, run_block: RunBlock) -> Work[None] | None:
    """Returns the work that runs `op`, or None if it is not control flow between kernel calls.

    `run_block` runs the ops of a block; the terminator is handled here.
    """
    match op:
        case scf.IfOp():
            return _if(op, values, run_block)
        case scf.WhileOp():
            return _while(op, values, run_block)
        case scf.ForOp():
            return _for(op, values, run_block)
        case _:
            return None


def run_between_kernels(op: Operation, values: Values) -> bool:
    """Runs `op` if it loads or stores a scalar; returns whether it does."""
    match op:
        case memref.LoadOp():
            values[op.res] = values[op.memref][_indices(op.indices, values)]
        case memref.StoreOp():
            values[op.memref][_indices(op.indices, values)] = values[op.value]
        case _:
            return False
    return True


def _if(op: scf.IfOp, values: Values, run_block: RunBlock) -> Work[None]:
    taken = op.true_region if values[op.cond] else op.false_region
    if not taken.blocks:
        return
    yield run_block(taken.block, values)
    last = taken.block.last_op
    if op.output and last is not None:
        values.update(zip(op.output, [values[operand] for operand in last.operands], strict=True))


def _while(op: scf.WhileOp, values: Values, run_block: RunBlock) -> Work[None]:
    before, after = op.before_region.block, op.after_region.block
    given: Sequence[Value] = [values[operand] for operand in op.arguments]
    while True:
        values.update(zip(before.args, given, strict=True))
        yield run_block(before, values)
        test = before.last_op
        assert isinstance(test, scf.ConditionOp), "the first region ends in scf.condition"
        given = [values[operand] for operand in test.args]
        if not values[test.condition]:
            break
        values.update(zip(after.args, given, strict=True))
        yield run_block(after, values)
        given = [values[operand] for operand in after.last_op.operands] if after.last_op is not None else []
    values.update(zip(op.results, given, strict=True))


def _for(op: scf.ForOp, values: Values, run_block: RunBlock) -> Work[None]:
    bounds = (int(values[each]) for each in (op.lb, op.ub, op.step))
    carried: Sequence[Value] = [values[operand] for operand in op.iter_args]
    block = op.body.block
    for number in range(*bounds):
        values.update(zip(block.args, (number, *carried), strict=True))
        yield run_block(block, values)
        carried = [values[operand] for operand in block.last_op.operands] if block.last_op is not None else []
    values.update(zip(op.results, carried, strict=True))


def _indices(indices: Sequence[SSAValue], values: Values) -> tuple[int, ...]:
    return tuple(int(values[index]) for index in indices)


FREED_BYTE = 0xA5
"""The value of each byte of a freed buffer, which makes reads after the free wrong."""


def run_memory_op(op: Operation, values: Values) -> bool:
    """Runs `op` if it is a memory op; returns whether it is."""
    match op:
        case memref.AllocOp():
            shape = _shape(op.memref, [values[size] for size in op.dynamic_sizes])
            values[op.memref] = undefined(shape, numpy_dtype(memref_type(op.memref).element_type))
        case memref.DeallocOp():
            values[op.memref].reshape(-1).view(np.uint8).fill(FREED_BYTE)
        case memref.ViewOp():
            shape = _shape(op.result, [values[size] for size in op.sizes])
            values[op.result] = _view(values[op.source], int(values[op.byte_shift]), op.result, shape)
        case SubviewOp():
            shape = _shape(op.result, [values[size] for size in op.sizes])
            values[op.result] = _elements_of(values[op.source], int(values[op.offset]), shape, memref_type(op.result))
        case memref.CastOp():
            values[op.dest] = _cast(values[op.source], op.dest)
        case memref.ReinterpretCastOp():
            values[op.result] = _reinterpreted(op, values)
        case arith.SelectOp() if isinstance(op.result.type, MemRefType):
            values[op.result] = values[op.lhs] if values[op.cond] else values[op.rhs]
        case memref.SubviewOp():
            values[op.result] = _part(op, values)
        case memref.CopyOp():
            values[op.destination][...] = values[op.source]
        case _:
            return False
    return True


def _shape(buffer: SSAValue, sizes: Sequence[Value]) -> tuple[int, ...]:
    """Returns the shape of a buffer with dynamic extents `sizes`."""
    rest = iter(sizes)
    return tuple(int(next(rest)) if extent == DYNAMIC_INDEX else extent for extent in memref_type(buffer).get_shape())


def _view(arena: Array, offset: int, result: SSAValue, shape: tuple[int, ...]) -> Array:
    """Returns the slice of a byte array from `offset` on, as a buffer."""
    dtype = numpy_dtype(memref_type(result).element_type)
    size = dtype.itemsize * prod(shape)
    if offset < 0 or offset + size > arena.size:
        raise InterpreterError(f"a view of bytes {offset} to {offset + size} of an arena of {arena.size}")
    return arena[offset : offset + size].view(dtype).reshape(shape)


def _elements_of(source: Array, first: int, shape: tuple[int, ...], part: MemRefType) -> Array:
    """Returns the elements of a buffer from index `first`, with other extents and the strides of the part's type."""
    strides = strides_of(part)
    end = first + prod(shape)
    if strides and prod(shape):
        end = first + 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    if first < 0 or end > source.size:
        raise InterpreterError(f"elements {first} to {end} are out of range for {list(source.shape)}")
    row = source.reshape(-1)[first:end]
    if not strides or not prod(shape):
        return row.reshape(shape)
    return np.lib.stride_tricks.as_strided(row, shape, [stride * row.itemsize for stride in strides])


def _cast(source: Array, result: SSAValue) -> Array:
    extents = memref_type(result).get_shape()
    if len(extents) != source.ndim or any(
        e not in (DYNAMIC_INDEX, s) for e, s in zip(extents, source.shape, strict=True)
    ):
        raise InterpreterError(f"a buffer of extents {list(source.shape)} does not have type {result.type}")
    return source


def _reinterpreted(op: memref.ReinterpretCastOp, values: Values) -> Array:
    """Returns contiguous elements of a buffer with other extents, which must determine the strides."""
    (first,), sizes, strides = (
        _numbers(op.static_offsets, op.offsets, values),
        _numbers(op.static_sizes, op.sizes, values),
        _numbers(op.static_strides, op.strides, values),
    )
    source: Array = values[op.source]
    followed, end = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))], first + prod(sizes)
    if strides != followed or first < 0 or end > source.size:
        raise InterpreterError(f"extents {sizes} with strides {strides} from {first} on are out of range for"
                               f" {list(source.shape)}")  # fmt: skip
    return source.reshape(-1)[first:end].reshape(sizes)


def _part(op: memref.SubviewOp, values: Values) -> Array:
    """Returns a subview of a buffer, without the unit axes that its type drops."""
    source: Array = values[op.source]
    offsets, sizes, strides = (
        _numbers(op.static_offsets, op.offsets, values),
        _numbers(op.static_sizes, op.sizes, values),
        _numbers(op.static_strides, op.strides, values),
    )
    rows = list(zip(offsets, sizes, strides, source.shape, strict=True))
    fits = all(step > 0 and 0 <= first <= extent - max(0, (size - 1) * step + 1) for first, size, step, extent in rows)
    dropped = _dropped_axes(sizes, memref_type(op.result).get_shape())
    if not fits or dropped is None:
        raise InterpreterError(f"extents {sizes} from {offsets} on, as {op.result.type}, are out of range for"
                               f" {list(source.shape)}")  # fmt: skip
    box = tuple(slice(first, first + size * step, step) for first, size, step, _ in rows)
    return source[box].squeeze(dropped)


def _dropped_axes(sizes: Sequence[int], kept: Sequence[int]) -> tuple[int, ...] | None:
    """Returns the unit axes to drop from `sizes` to get the extents `kept`, or None if that is impossible."""
    dropped: list[int] = []
    for axis, size in enumerate(sizes):
        place = axis - len(dropped)
        if place >= len(kept) or kept[place] not in (size, DYNAMIC_INDEX):
            dropped.append(axis)
    fits = len(sizes) - len(dropped) == len(kept) and all(sizes[axis] == 1 for axis in dropped)
    return tuple(dropped) if fits else None


def _numbers(known: DenseArrayBase[IntegerType], given: Sequence[SSAValue], values: Values) -> list[int]:
    """Returns a list of numbers, replacing dynamic ones by values."""
    rest = (int(values[value]) for value in given)
    return [next(rest) if each == DYNAMIC_INDEX else int(each) for each in known.get_values()]


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


def value_of_list(value: Value, container: Attribute | None) -> Value:
    """Converts a list to the caller's representation; the inverse of `list_of`."""
    if isinstance(container, OptionalType):
        return value_of_list(value[0], container.element) if value else None
    if isinstance(container, SequenceType):
        return [value_of_list(each, container.element) for each in value]
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
