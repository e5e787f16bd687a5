"""Boolean and bitwise operators, shifts, remainders and floor division."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.relay.meaning.integer_division import of_divisors, truncated_quotient
from xrelay.dialects.relay.ops.tensor_logic import (
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    FloorDivideOp,
    FloorModOp,
    LeftShiftOp,
    LogicalAndOp,
    LogicalNotOp,
    LogicalOrOp,
    LogicalXorOp,
    ModOp,
    RightShiftOp,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


def _floor_divide(lhs: Array, rhs: Array) -> Array:
    return lhs // rhs if lhs.dtype.kind in "iu" else np.floor(lhs / rhs)


def _mod(lhs: Array, rhs: Array) -> Array:
    return lhs - truncated_quotient(lhs, rhs) * rhs if lhs.dtype.kind in "iu" else of_divisors(np.fmod)(lhs, rhs)


_BINARY: dict[type[Operation], Callable[[Array, Array], Array]] = {
    BitwiseAndOp: np.bitwise_and,
    BitwiseOrOp: np.bitwise_or,
    BitwiseXorOp: np.bitwise_xor,
    FloorDivideOp: of_divisors(_floor_divide),
    FloorModOp: of_divisors(np.mod),
    LeftShiftOp: np.left_shift,
    LogicalAndOp: np.logical_and,
    LogicalOrOp: np.logical_or,
    LogicalXorOp: np.logical_xor,
    ModOp: _mod,
    RightShiftOp: np.right_shift,
}


@evaluates(*_BINARY)
def evaluate_binary(op: Operation, lhs: Array, rhs: Array) -> Array:
    """Applies a binary function with broadcasting."""
    return np.asarray(_BINARY[type(op)](lhs, rhs), lhs.dtype)


@evaluates(LogicalNotOp, BitwiseNotOp)
def evaluate_not(op: Operation, data: Array) -> Array:
    """Inverts all bits; a boolean has one bit."""
    return ~data
