"""Values of types that tensors here lack: integers of 2 and 4 bits, floats of 4 and 8.

Such a number is carried by the next type that holds all of them: `int4` by i8, `float8_e4m3fn` by f16. ONNX computes
nothing with them. They are moved, converted to another type, or dequantised, and that means the same for what carries
them. What type a value stands for is kept beside it, so that nothing else takes it for the numbers of its carrier.
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
"""Type → what carries it, and how many bits it takes in a file."""

_MOVED = ("Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
"""Ops whose result is of the type of their first input, which they take as it comes."""

_READ: dict[str, tuple[int, ...]] = {
    **dict.fromkeys((*_MOVED, "Cast", "Shape", "Size"), (0,)),
    "CastLike": (0, 1),
    "DequantizeLinear": (0, 1, 2),
    "QuantizeLinear": (2,),
}
"""Op → the inputs that may be of such a type."""


class CarriedTypes:
    """Value → the type whose numbers its own type carries."""

    def __init__(self) -> None:
        self._dtypes: dict[SSAValue, np.dtype[Any]] = {}

    def of(self, value: SSAValue | None) -> np.dtype[Any] | None:
        """The type that `value` stands for; `None` where that is its own."""
        return None if value is None else self._dtypes.get(value)

    def note(self, value: SSAValue, dtype: np.dtype[Any] | None) -> None:
        """Keep what `value` stands for."""
        if dtype is not None:
            self._dtypes[value] = dtype


def carrier_of(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """The type that carries numbers of `dtype`; `None` for one that tensors have, or that nothing carries."""
    found = _CARRIERS.get(dtype.name)
    return None if found is None else np.dtype(found[0])


def bits_of(dtype: np.dtype[Any]) -> int:
    """How many bits a number of a type that is carried takes in a file."""
    return _CARRIERS[dtype.name][1]


def as_carried(array: Array) -> tuple[Array, np.dtype[Any] | None]:
    """An array as tensors hold it, and the type that it stands for where that is another."""
    carrier = carrier_of(array.dtype)
    if carrier is None:
        return array, None
    # One element that is seen from every place stays one.
    is_one = array.size > 1 and not any(array.strides)
    held = np.broadcast_to(array.flat[0].astype(carrier), array.shape) if is_one else array.astype(carrier)
    return held, array.dtype


def moves(op_type: str) -> bool:
    """Whether the results of an op stand for what its first input stands for."""
    return op_type in _MOVED


def reads(op_type: str, index: int) -> bool:
    """Whether input `index` of an op may stand for numbers of another type."""
    return index in _READ.get(op_type, ())
