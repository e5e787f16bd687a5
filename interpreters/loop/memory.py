"""Buffers between kernels: allocated, freed, and the same memory under another type."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from xrelay.errors import InterpreterError
from xrelay.interpreters.loop.body import undefined
from xrelay.interpreters.loop.control_flow import Values
from xrelay.interpreters.loop.frame import Array
from xrelay.interpreters.loop.kernel import buffer_type
from xrelay.interpreters.scalar_meaning import Value, numpy_dtype

FREED = 0xA5
"""What each byte of a buffer is after it was freed: who reads it then gets wrong values."""


def run_memory_op(op: Operation, values: Values) -> bool:
    """Run `op`, where it makes or frees a buffer or gives it another type; whether it does."""
    match op:
        case memref.AllocOp():
            shape = _shape(op.memref, [values[size] for size in op.dynamic_sizes])
            values[op.memref] = undefined(shape, numpy_dtype(buffer_type(op.memref).element_type))
        case memref.DeallocOp():
            values[op.memref].reshape(-1).view(np.uint8).fill(FREED)
        case memref.ViewOp():
            shape = _shape(op.result, [values[size] for size in op.sizes])
            values[op.result] = _view(values[op.source], int(values[op.byte_shift]), op.result, shape)
        case memref.CastOp():
            values[op.dest] = _cast(values[op.source], op.dest)
        case memref.ReinterpretCastOp():
            values[op.result] = _reinterpreted(op, values)
        case _:
            return False
    return True


def _shape(buffer: SSAValue, sizes: Sequence[Value]) -> tuple[int, ...]:
    """The shape of a buffer whose open extents are `sizes`."""
    rest = iter(sizes)
    return tuple(int(next(rest)) if extent == DYNAMIC_INDEX else extent for extent in buffer_type(buffer).get_shape())


def _view(arena: Array, offset: int, result: SSAValue, shape: tuple[int, ...]) -> Array:
    """The part of a byte array that starts at `offset`, as a buffer."""
    dtype = numpy_dtype(buffer_type(result).element_type)
    size = dtype.itemsize * prod(shape)
    if offset < 0 or offset + size > arena.size:
        raise InterpreterError(f"a view of bytes {offset} to {offset + size} of an arena of {arena.size}")
    return arena[offset : offset + size].view(dtype).reshape(shape)


def _cast(source: Array, result: SSAValue) -> Array:
    extents = buffer_type(result).get_shape()
    if len(extents) != source.ndim or any(
        e not in (DYNAMIC_INDEX, s) for e, s in zip(extents, source.shape, strict=True)
    ):
        raise InterpreterError(f"a buffer of extents {list(source.shape)} is no {result.type}")
    return source


def _reinterpreted(op: memref.ReinterpretCastOp, values: Values) -> Array:
    """The beginning of a buffer under other extents, of which the strides must follow."""
    sizes, strides = (
        [int(next(given)) if each == DYNAMIC_INDEX else each for each in known.get_values()]
        for known, given in (
            (op.static_sizes, iter([values[size] for size in op.sizes])),
            (op.static_strides, iter([values[stride] for stride in op.strides])),
        )
    )
    source: Array = values[op.source]
    followed = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    if op.static_offsets.get_values() != (0,) or strides != followed or prod(sizes) > source.size:
        raise InterpreterError(f"extents {sizes} with strides {strides} are no beginning of {list(source.shape)}")
    return source.reshape(-1)[: prod(sizes)].reshape(sizes)
