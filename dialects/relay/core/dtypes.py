"""Element types and numpy dtypes, one to one.

`float32` ↔ f32, `bfloat16` ↔ bf16 (through ml_dtypes), `bool` ↔ i1, `int8` ↔ i8, `uint8` ↔ ui8. Names are numpy's,
which are also Relay's, but for a few.
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

from xrelay.dialects.relay.core.identity_memo import IdentityMemo
from xrelay.errors import TypeInferenceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike


@cache
def _table() -> tuple[tuple[np.dtype, TypeAttribute], ...]:
    import ml_dtypes
    import numpy as np  # which processes that help to compile do without

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
    """The numpy dtype of an element type; `TypeInferenceError` where there is none."""
    known = _DTYPES.get(id(element_type))
    return known if known is not None else _DTYPES.add(id(element_type), _find_dtype(element_type), element_type)


_DTYPES: IdentityMemo[np.dtype] = IdentityMemo()


def _find_dtype(element_type: Attribute) -> np.dtype:
    dtype = _to_numpy().get(element_type)
    if dtype is None:
        raise TypeInferenceError(f"element type {element_type} has no numpy dtype", help=_known())
    return dtype


def element_type(dtype: DTypeLike) -> TypeAttribute:
    """The element type of a numpy dtype or its name; `TypeInferenceError` where there is none.

    Names that Relay gives another meaning than numpy, or none of numpy's, mean what they do in Relay.
    """
    import numpy as np

    if isinstance(dtype, str):
        if dtype == "bfloat16":
            return BFloat16Type()
        dtype = _NAMES_OF_RELAY.get(dtype, dtype)
    try:
        # numpy before 2.3 takes any object with a `dtype`.
        found = _from_numpy().get(np.dtype(dtype)) if isinstance(dtype, str | type | np.dtype) else None
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise TypeInferenceError(f"dtype {dtype!r} has no element type", help=_known())
    return found


_NAMES_OF_RELAY = {"uint1": "bool", "int": "int32", "uint": "uint32", "float": "float32"}
"""Names of Relay's that numpy lacks, or reads as types of 64 bits."""

_SINGLE = 32


def _known() -> str:
    return "known dtypes: " + ", ".join(str(dtype) for dtype, _ in _table())


def is_half(type: Attribute | None) -> bool:
    """Whether an element type is a float of 16 bits."""
    return isinstance(type, Float16Type | BFloat16Type)


_UNSIGNED_BYTE = IntegerType(8, Signedness.UNSIGNED)


def may_multiply(data: Attribute, weight: Attribute, result: Attribute | None) -> bool:
    """Whether products of `data` by `weight` are taken: of one type, or ui8 by i8, added up in i32.

    The latter is what CPUs have instructions for.
    """
    return data == weight or (data == _UNSIGNED_BYTE and weight == i8 and result == i32)


def holds_products(result: Attribute, element: Attribute) -> bool:
    """Whether sums of products of `element`s may be given as `result`s: numbers of the same kind, and not narrower.

    Half precision counts as single, in which its sums are taken. Integers as wide as the elements are the same ones.
    """
    if isinstance(result, IntegerType) and isinstance(element, IntegerType):
        return result == element or result.bitwidth > element.bitwidth
    if not (isinstance(result, AnyFloat) and isinstance(element, AnyFloat)):
        return False
    return max(result.bitwidth, _SINGLE) >= element.bitwidth
