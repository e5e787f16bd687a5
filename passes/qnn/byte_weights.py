"""Dequantised bytes of constant weights as `qnn.block_dequantize`, with one block for each unit.

Models multiply cast bytes by a scale for each unit, or dequantise them. In f32 such a matrix takes four times the
memory, or each run computes it, because `relay-fold-constant` refuses constants that are much larger than operands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.meaning.packed_numbers import pack
from xrelay.dialects.relay.ops.qnn.blocks import BlockDequantizeOp
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp
from xrelay.dialects.relay.ops.tensor.arithmetic import MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, per_channel
from xrelay.passes.qnn.integer_rules import float_constant, known_array

BYTE = 8
"""The number of bits of the packed numbers."""

MIN_BYTES = 1 << 16
"""The size of the smallest matrix that is packed: in f32, a few such matrices fill the L2 cache."""

MATRIX = 2
"""The rank of a matrix."""

SIGN = np.uint8(128)
"""The number whose subtraction makes unsigned bytes signed."""


class UnpackableError(Exception):
    """The bytes of a weight cannot be packed; the message is the reason."""


@dataclass(frozen=True)
class ByteMatrix:
    """A matrix `(numbers - zero_point) * scale` in f32, where the numbers are constant bytes, computed by `source`.

    Scale and zero point broadcast to the matrix; None if they are not constant.
    """

    source: Operation
    numbers: Array
    scale: Array | None
    zero_point: Array | None

    @property
    def is_small(self) -> bool:
        """Whether the f32 form of the matrix takes little memory, so that kernels need not unpack the bytes."""
        return self.numbers.nbytes < MIN_BYTES

    def pack(self, terms_axis: int, rewriter: PatternRewriter) -> BlockDequantizeOp:
        """Inserts `qnn.block_dequantize` of the matrix before its source; its last axis is that of the terms of a sum.

        Raises `UnpackableError` if units are not whole words, or have no scale and integer zero point of their own.
        """
        units, terms = self.numbers.shape[1 - terms_axis], self.numbers.shape[terms_axis]
        if terms % np.dtype(np.int32).itemsize:
            raise UnpackableError(f"the {terms} bytes of a unit are not whole words")
        numbers, middle = self.numbers, 0
        if numbers.dtype.kind == "u":
            numbers, middle = (numbers - SIGN).view(np.int8), int(SIGN)
        words = pack(np.moveaxis(numbers, terms_axis, 1), BYTE)
        scales, points = (_of_units(each, 1 - terms_axis) for each in (self.scale, self.zero_point))
        points = points.astype(np.float64) - middle
        if (points != np.rint(points)).any():
            raise UnpackableError("a zero point is not an integer")
        operands = [words, np.broadcast_to(scales.reshape(-1, 1), (units, 1)).copy(), _zero_points(points, units)]
        properties = {"bits": int_attribute(BYTE), "block_size": int_attribute(terms)}
        emit = Emitter(rewriter, self.source)
        return emit.insert(BlockDequantizeOp.typed([emit.constant(each) for each in operands], properties))


def byte_matrix(value: SSAValue) -> ByteMatrix | None:
    """Returns the dequantised bytes of a constant matrix in f32, or None for another value."""
    if not is_complete(value.type) or len(shape_of(value.type)) != MATRIX or element_type_of(value.type) != f32:
        return None
    found = _dequantized(value)
    return found if found is not None and found.numbers.shape == shape_of(value.type) else None


def _dequantized(value: SSAValue) -> ByteMatrix | None:
    if (op := owner_of(value, DequantizeOp)) is not None:
        along = (-1, 1) if op.axis.value.data % MATRIX == 0 else (-1,)
        parameters = (known_array(each) for each in (op.input_scale, op.input_zero_point))
        scale, zero_point = (None if each is None else each.reshape(along) for each in parameters)
        return _bytes_of(op, op.data, scale, zero_point)
    if (op := owner_of(value, MultiplyOp)) is None:
        return None
    for wide, factor in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        distance = owner_of(wide, SubtractOp)
        zero_point = np.zeros((), np.int32) if distance is None else known_array(distance.rhs)
        cast = owner_of(wide if distance is None else distance.lhs, CastOp)
        if cast is not None and (found := _bytes_of(op, cast.data, float_constant(factor), zero_point)) is not None:
            return found
    return None


def _bytes_of(source: Operation, data: SSAValue, scale: Array | None, zero_point: Array | None) -> ByteMatrix | None:
    numbers = constant_of(data)
    if numbers is None or numbers.dtype.kind not in "iu" or numbers.dtype.itemsize != 1:
        return None
    return ByteMatrix(source, numbers, scale, zero_point)


def _of_units(parameter: Array | None, axis: int) -> Array:
    """Returns a scale or zero point as one number, or one for each unit; raises `UnpackableError` for others."""
    found = None if parameter is None else per_channel(parameter, MATRIX, axis)
    if found is None:
        raise UnpackableError("its scale or zero point is not constant, or varies along the sums")
    return found


def _zero_points(numbers: Array, units: int) -> Array:
    """Returns zero points as an operand: one i32 if they are equal, or else a float for each unit."""
    if (numbers == numbers[0]).all():
        return np.array(numbers[0], np.int32)
    return numbers.astype(np.float32).reshape(units, 1)
