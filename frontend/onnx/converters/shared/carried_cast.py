"""Conversion to types that relay lacks: 2- and 4-bit integers, 4- and 8-bit floats (`frontend/onnx/carried.py`).

A number is rounded to the nearest number of the type, and stored in its carrier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnx
from ml_dtypes import finfo, iinfo
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.frontend.onnx.carried import carrier_of
from xrelay.frontend.onnx.node import NodeView

_EXPONENT: dict[str, tuple[str, int]] = {
    "float32": ("int32", 0x7F800000),
    "float64": ("int64", 0x7FF0000000000000),
}
"""Float type → the integer type of its size, and the mask of the exponent."""


@dataclass(frozen=True)
class _Floats:
    """The limits of a float type: the greatest number, the least normal number, and the distance from 1 to the next."""

    greatest: float
    least_normal: float
    epsilon: float

    @classmethod
    def of(cls, dtype: np.dtype[Any]) -> _Floats:
        limits = cast(Any, finfo)(dtype)
        return cls(float(limits.max), float(limits.smallest_normal), float(limits.eps))


def is_rounded_to(dtype: np.dtype[Any]) -> bool:
    """Returns whether `carried_cast` converts to `dtype`."""
    return carrier_of(dtype) is not None and dtype.name != "float8_e8m0fnu"


def carried_dtype(number: int) -> np.dtype[Any] | None:
    """Returns the dtype of ONNX's element type `number` if `carried_cast` converts to it, else None."""
    try:
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number))
    except KeyError:
        return None
    return dtype if is_rounded_to(dtype) else None


def carried_cast(node: NodeView, value: SSAValue, dtype: np.dtype[Any], *, saturate: bool = True) -> SSAValue:
    """ONNX's Cast to `dtype`, which relay lacks; `saturate` clamps numbers beyond the range of a float type."""
    carrier = carrier_of(dtype)
    if carrier is None or not is_rounded_to(dtype):
        raise node.error(f"rounding to {dtype} is not supported here", help="cast outside of the model")
    held = node.emit("cast", value, dtype=carrier) if carrier.kind in "iu" else _rounded(node, value, dtype, saturate)
    result = _low_bits(node, held, dtype) if carrier.kind in "iu" else node.emit("cast", held, dtype=carrier)
    node.graph.carried.note(result, dtype)
    return result


def _low_bits(node: NodeView, value: SSAValue, dtype: np.dtype[Any]) -> SSAValue:
    """The low bits of 8-bit integers, sign-extended for a signed type."""
    bits = iinfo(dtype).bits
    if not iinfo(dtype).min:
        return node.emit("bitwise_and", value, node.scalar(2**bits - 1, value))
    rest = node.scalar(8 - bits, value)
    return node.emit("right_shift", node.emit("left_shift", value, rest), rest)


def _rounded(node: NodeView, value: SSAValue, dtype: np.dtype[Any], saturate: bool) -> SSAValue:
    """The nearest numbers of `dtype`, ties to even, in f32, or in f64 for f64 values."""
    wide = "float64" if numpy_dtype(element_type_of(value.type)) == np.float64 else "float32"
    x, floats = node.emit("cast", value, dtype=wide), _Floats.of(dtype)
    saturates = saturate or not _has(np.nan, dtype)
    within = node.emit("clip", x, a_min=-floats.greatest, a_max=floats.greatest) if saturates else x
    quantum = _distance(node, within, floats)
    near = node.emit("multiply", node.emit("round", node.emit("divide", within, quantum)), quantum)
    if not _has(np.nan, dtype):
        near = node.emit("where", node.emit("isnan", x), node.scalar(0, x), near)
    elif not saturate and _has(np.inf, dtype):
        # Numbers beyond the greatest are infinite in f16, too.
        near = node.emit("where", node.emit("isinf", x), x, near)
    elif not saturate:
        is_held = node.emit("less_equal", node.emit("abs", near), node.scalar(floats.greatest, x))
        near = node.emit("where", is_held, near, node.scalar(np.nan, x))
    if "fnuz" not in dtype.name:
        return near
    return node.emit("where", node.emit("equal", near, node.scalar(0, x)), node.scalar(0, x), near)


def _distance(node: NodeView, x: SSAValue, floats: _Floats) -> SSAValue:
    """The spacing of the floats at each `x`, a power of two; infinite or NaN if `x` is."""
    wide = numpy_dtype(element_type_of(x.type)).name
    integer, mask = _EXPONENT[wide]
    bits = node.emit("reinterpret", x, dtype=integer)
    power = node.emit("bitwise_and", bits, node.emit_constant(np.array(mask, integer), "exponent"))
    normal = node.emit("maximum", node.emit("reinterpret", power, dtype=wide), node.scalar(floats.least_normal, x))
    return node.emit("multiply", normal, node.scalar(floats.epsilon, x))


def _has(special: float, dtype: np.dtype[Any]) -> bool:
    """Whether a float type has this NaN or infinity."""
    found = np.array(special).astype(dtype).astype(np.float32)
    return bool(np.array_equal(found, np.float32(special), equal_nan=True))
