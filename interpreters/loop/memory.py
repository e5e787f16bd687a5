"""Memory ops between kernels: allocation, deallocation, copies, selection, views and casts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, MemRefType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import SubviewOp
from xrelay.dialects.loop.subview_op import strides_of
from xrelay.errors import InterpreterError
from xrelay.interpreters.loop.body import undefined
from xrelay.interpreters.loop.control_flow import Values
from xrelay.interpreters.loop.frame import Array
from xrelay.interpreters.loop.kernel import buffer_type
from xrelay.interpreters.scalar_meaning import Value, numpy_dtype

FREED = 0xA5
"""The value of each byte of a freed buffer, which makes reads after the free wrong."""


def run_memory_op(op: Operation, values: Values) -> bool:
    """Runs `op` if it is a memory op; returns whether it is."""
    match op:
        case memref.AllocOp():
            shape = _shape(op.memref, [values[size] for size in op.dynamic_sizes])
            values[op.memref] = undefined(shape, numpy_dtype(buffer_type(op.memref).element_type))
        case memref.DeallocOp():
            values[op.memref].reshape(-1).view(np.uint8).fill(FREED)
        case memref.ViewOp():
            shape = _shape(op.result, [values[size] for size in op.sizes])
            values[op.result] = _view(values[op.source], int(values[op.byte_shift]), op.result, shape)
        case SubviewOp():
            shape = _shape(op.result, [values[size] for size in op.sizes])
            values[op.result] = _elements_of(values[op.source], int(values[op.offset]), shape, buffer_type(op.result))
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
    return tuple(int(next(rest)) if extent == DYNAMIC_INDEX else extent for extent in buffer_type(buffer).get_shape())


def _view(arena: Array, offset: int, result: SSAValue, shape: tuple[int, ...]) -> Array:
    """Returns the slice of a byte array from `offset` on, as a buffer."""
    dtype = numpy_dtype(buffer_type(result).element_type)
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
    extents = buffer_type(result).get_shape()
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
    dropped = _dropped_axes(sizes, buffer_type(op.result).get_shape())
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
