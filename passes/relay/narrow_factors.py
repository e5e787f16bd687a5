"""Bytes and zero points from which the factors of integer products are computed, for `relay-narrow-products`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import TensorType, i8, i32
from xdsl.ir import OpResult, SSAValue

from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, ReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp, TransposeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.interpreters.relay import evaluate_op
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of

SHIFT = 128
"""The number that is added to signed bytes to make them unsigned."""

_SMALL = 1 << 14
"""The greatest magnitude of a zero point for which differences from bytes surely fit 16 bits."""

_KNOWN = (CastOp, SubtractOp, TransposeOp, ExpandDimsOp, ReshapeOp, LayoutTransformOp)
"""Ops between the stored weight and the product; constant folding keeps them if the result is much larger."""

_STEPS = 8
"""The maximum number of such ops."""


class WideError(Exception):
    """A product cannot use bytes; the message is the reason."""


@dataclass(frozen=True)
class Bytes:
    """A factor `value - zero_point` of a product."""

    value: SSAValue
    """A tensor of ui8 or i8."""
    zero_point: SSAValue | None
    """A tensor of i32, or a single constant of 16 bits; `None` for 0."""

    @property
    def has_sign(self) -> bool:
        """Whether the bytes are signed, so that `SHIFT` must be added."""
        return element_type_of(self.value.type) == i8

    @property
    def known_zero_point(self) -> int | None:
        """The zero point of the unsigned bytes, if it is a single constant; it wraps at 32 bits, as sums do."""
        if self.zero_point is None:
            return SHIFT * self.has_sign
        array = constant_of(self.zero_point)
        if array is None or array.size != 1:
            return None
        moved = array.reshape(-1)[:1].astype(np.int64) + SHIFT * self.has_sign
        return int(moved.astype(np.int32)[0])

    def unsigned(self, emit: Emitter) -> SSAValue:
        """The bytes as unsigned bytes."""
        if not self.has_sign:
            return self.value
        wide = emit.call(CastOp, self.value, dtype=np.dtype(np.int16))
        return emit.call(CastOp, emit.call(AddOp, wide, emit.scalar(SHIFT, wide.type)), dtype=np.dtype(np.uint8))

    def offset(self, emit: Emitter) -> SSAValue | None:
        """The zero point of the unsigned bytes; `None` for 0."""
        if (known := self.known_zero_point) is not None:
            return emit.scalar(known, TensorType(i32, [])) if known else None
        zero_point = self.zero_point
        if zero_point is None or not self.has_sign:
            return zero_point
        return emit.call(AddOp, zero_point, emit.scalar(SHIFT, zero_point.type))


def data_bytes(value: SSAValue) -> Bytes:
    """The bytes and the zero point whose difference is `value`; raises `WideError` for other values."""
    if _is_byte(value):
        return Bytes(value, None)
    zero_point: SSAValue | None = None
    difference = owner_of(value, SubtractOp)
    if difference is not None:
        value, zero_point = difference.operands
    wide = owner_of(value, CastOp)
    if wide is None or not is_complete(wide.operands[0].type) or not _is_byte(wide.operands[0]):
        raise WideError("its data are neither bytes nor bytes minus a zero point")
    if not np.can_cast(_dtype(wide.operands[0]), _dtype(value)):
        raise WideError(f"its data are signed bytes, cast to the unsigned type {element_type_of(value.type)}")
    if difference is not None and shape_of(difference.result.type) != shape_of(wide.result.type):
        raise WideError("its zero point changes the shape of its data")
    if zero_point is not None and not _keeps_differences(zero_point):
        raise WideError(f"its zero point is subtracted in {element_type_of(value.type)}, which may wrap")
    return Bytes(wide.operands[0], zero_point)


def _keeps_differences(zero_point: SSAValue) -> bool:
    """Whether bytes minus `zero_point` have no overflow in its type: it is of i32, or a single small constant."""
    if element_type_of(zero_point.type) == i32:
        return True
    array = constant_of(zero_point)
    return array is not None and array.size == 1 and bool(abs(int(array.reshape(-1)[0])) <= _SMALL)


def _dtype(value: SSAValue) -> np.dtype:
    return numpy_dtype(element_type_of(value.type))


def _is_byte(value: SSAValue) -> bool:
    return _dtype(value).kind in "iu" and _dtype(value).itemsize == 1


@dataclass(frozen=True)
class ByteWeight:
    """A weight `array + rest`, the sum of a tensor of i8 and a number."""

    array: Array
    rest: int
    """It wraps at 32 bits, as sums do, because it may exceed i32 for weights close to the greatest number."""


def weight_bytes(value: SSAValue, *, may_rest: bool = False) -> ByteWeight:
    """A constant weight of integers as i8, plus a number if `may_rest` is set; raises `WideError` for others."""
    array = _known_array(value)
    if array is None:
        raise WideError("its weight is not constant")
    limits = np.iinfo(np.int8)
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    if limits.min <= least and most <= limits.max:
        return ByteWeight(array.astype(np.int8), 0)
    if most - least > limits.max - limits.min or not may_rest:
        raise WideError(f"its weight ranges from {least} to {most}, which exceeds i8")
    rest = least - limits.min
    return ByteWeight((array.astype(np.int64) - rest).astype(np.int8), int(np.int64(rest).astype(np.int32)))


def _known_array(value: SSAValue) -> Array | None:
    """The elements of a value that is computed from constants in at most `_STEPS` ops; else `None`."""
    order: list[OpResult] = []
    known: dict[SSAValue, Array] = {}
    pending = [value]
    while pending:
        current = pending.pop()
        if (constant := constant_of(current)) is not None:
            known[current] = constant
            continue
        if not isinstance(current, OpResult) or not isinstance(current.op, _KNOWN) or len(order) == _STEPS:
            return None
        order.append(current)
        pending += current.op.operands
    for result in reversed(order):
        known[result] = np.asarray(evaluate_op(result.op, [known[operand] for operand in result.op.operands]))
    return known[value]


def broadcasts_over_last(value: SSAValue) -> bool:
    """Whether a value broadcasts along the last axis."""
    shape = shape_of(value.type)
    return not shape or shape[-1] == 1
