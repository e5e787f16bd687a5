"""Values of element types that relay lacks: 2- and 4-bit integers, 4- and 8-bit floats.

Such a value is stored in its *carrier*, the next wider element type that represents all its numbers: i8 for `int4`, f16
for `float8_e4m3fn`. ONNX only moves such values, converts them to another type, or dequantises them, and the same
operations on the carrier have the same result. The original type is recorded per value, so that no other op computes on
the numbers of the carrier.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array

_CARRIERS: dict[str, tuple[str, int]] = {
    "int2": ("int8", 2),
    "int4": ("int8", 4),
    "uint2": ("uint8", 2),
    "uint4": ("uint8", 4),
    "float4_e2m1fn": ("float16", 4),
    "float8_e4m3fn": ("float16", 8),
    "float8_e4m3fnuz": ("float16", 8),
    "float8_e5m2": ("float16", 8),
    "float8_e5m2fnuz": ("float16", 8),
    "float8_e8m0fnu": ("float32", 8),
}
"""Type → its carrier, and its width in bits in a file."""

_MOVED = ("Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
"""Ops that only move their first input; the result has its type."""

_READ: dict[str, tuple[int, ...]] = {
    **dict.fromkeys((*_MOVED, "Cast", "Shape", "Size"), (0,)),
    "CastLike": (0, 1),
    "DequantizeLinear": (0, 1, 2),
    "QuantizeLinear": (2,),
}
"""Op → the indices of the inputs that may have such a type."""


class CarriedTypes:
    """Value → the original element type of its numbers, if that is not its own element type."""

    def __init__(self) -> None:
        self._dtypes: dict[SSAValue, np.dtype[Any]] = {}

    def of(self, value: SSAValue | None) -> np.dtype[Any] | None:
        """Returns the original element type of `value`; `None` if it is its own."""
        return None if value is None else self._dtypes.get(value)

    def note(self, value: SSAValue, dtype: np.dtype[Any] | None) -> None:
        """Records the original element type of `value`; `None` records nothing."""
        if dtype is not None:
            self._dtypes[value] = dtype


def carrier_of(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Returns the carrier of `dtype`; `None` if relay has `dtype`, or if it has no carrier."""
    found = _CARRIERS.get(dtype.name)
    return None if found is None else np.dtype(found[0])


def bits_of(dtype: np.dtype[Any]) -> int:
    """Returns the width in bits, in a file, of a type with a carrier."""
    return _CARRIERS[dtype.name][1]


def convert_to_carried(array: Array) -> tuple[Array, np.dtype[Any] | None]:
    """Returns the array in an element type of relay, and its original type if that differs."""
    carrier = carrier_of(array.dtype)
    if carrier is None:
        return array, None
    # Keep a broadcast scalar a single element in memory.
    is_one = array.size > 1 and not any(array.strides)
    held = np.broadcast_to(array.flat[0].astype(carrier), array.shape) if is_one else array.astype(carrier)
    return held, array.dtype


def moves(op_type: str) -> bool:
    """Returns whether the results of an op have the original type of its first input."""
    return op_type in _MOVED


def reads(op_type: str, index: int) -> bool:
    """Returns whether input `index` of an op may have a carried type."""
    return index in _READ.get(op_type, ())
