"""The one-to-one correspondence of element types and numpy dtypes.

`float32` ↔ f32, `bfloat16` ↔ bf16 (through ml_dtypes), `bool` ↔ i1, `int8` ↔ i8, `uint8` ↔ ui8. Names are numpy's,
which with few exceptions are also Relay's.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    i8,
    i32,
)
from xdsl.ir import Attribute, TypeAttribute

from xrelay.dialects.shared.identity_memo import IdentityMemo
from xrelay.errors import TypeInferenceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike


@cache
def _table() -> tuple[tuple[np.dtype, TypeAttribute], ...]:
    import ml_dtypes
    import numpy as np  # imported late: compile workers run without numpy

    signless = [
        (np.dtype(name), IntegerType(bits))
        for name, bits in (("bool", 1), ("int8", 8), ("int16", 16), ("int32", 32), ("int64", 64))
    ]
    unsigned = [(np.dtype(f"uint{bits}"), IntegerType(bits, Signedness.UNSIGNED)) for bits in (8, 16, 32, 64)]
    floats: list[tuple[np.dtype, TypeAttribute]] = [
        (np.dtype("float16"), Float16Type()),
        (np.dtype("float32"), Float32Type()),
        (np.dtype("float64"), Float64Type()),
        (np.dtype(ml_dtypes.bfloat16), BFloat16Type()),
    ]
    return (*floats, *signless, *unsigned)


@cache
def _to_numpy() -> dict[Attribute, np.dtype]:
    return {type: dtype for dtype, type in _table()}


@cache
def _from_numpy() -> dict[np.dtype, TypeAttribute]:
    return dict(_table())


def numpy_dtype(element_type: Attribute) -> np.dtype:
    """Returns the numpy dtype of an element type. Raises `TypeInferenceError` if there is no such dtype."""
    known = _DTYPES.get(id(element_type))
    return known if known is not None else _DTYPES.add(id(element_type), _find_dtype(element_type), element_type)


_DTYPES: IdentityMemo[np.dtype] = IdentityMemo()


def _find_dtype(element_type: Attribute) -> np.dtype:
    dtype = _to_numpy().get(element_type)
    if dtype is None:
        raise TypeInferenceError(f"element type {element_type} has no numpy dtype", help=_known())
    return dtype


def element_type(dtype: DTypeLike) -> TypeAttribute:
    """Returns the element type of a numpy dtype or its name. Raises `TypeInferenceError` for an unsupported dtype.

    Names that numpy lacks or that have another meaning in Relay are interpreted as in Relay.
    """
    import numpy as np

    if isinstance(dtype, str):
        if dtype == "bfloat16":
            return BFloat16Type()
        dtype = _NAMES_OF_RELAY.get(dtype, dtype)
    try:
        # numpy before 2.3 accepts any object with a `dtype`.
        found = _from_numpy().get(np.dtype(dtype)) if isinstance(dtype, str | type | np.dtype) else None
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise TypeInferenceError(f"dtype {dtype!r} has no element type", help=_known())
    return found


_NAMES_OF_RELAY = {"uint1": "bool", "int": "int32", "uint": "uint32", "float": "float32"}
"""Names in Relay that numpy lacks or interprets as 64-bit types."""

_SINGLE = 32


def _known() -> str:
    return "known dtypes: " + ", ".join(str(dtype) for dtype, _ in _table())


def is_half(type: Attribute | None) -> bool:
    """Returns whether an element type is a 16-bit float."""
    return isinstance(type, Float16Type | BFloat16Type)


_UNSIGNED_BYTE = IntegerType(8, Signedness.UNSIGNED)


def may_multiply(data: Attribute, weight: Attribute, result: Attribute | None) -> bool:
    """Returns whether products of `data` by `weight` are supported: of the same type, or ui8 by i8 summed in i32.

    CPUs have instructions for the latter.
    """
    return data == weight or (data == _UNSIGNED_BYTE and weight == i8 and result == i32)


def holds_products(result: Attribute, element: Attribute) -> bool:
    """Returns whether `result` can hold sums of products of `element`s: a type of the same kind that is not narrower.

    Half precision counts as single precision, in which it is summed. Integers of equal width must be the same type.
    """
    if isinstance(result, IntegerType) and isinstance(element, IntegerType):
        return result == element or result.bitwidth > element.bitwidth
    if not (isinstance(result, AnyFloat) and isinstance(element, AnyFloat)):
        return False
    return max(result.bitwidth, _SINGLE) >= element.bitwidth
