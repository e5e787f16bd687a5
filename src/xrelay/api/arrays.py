"""Arrays of the user's, by name: what `params` are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import InputError, with_article


def arrays_by_name(params: object) -> dict[str, NDArray[Any]]:
    """Copies of the arrays that `params` holds, or of what has `numpy()` or `asnumpy()`; `InputError` for others."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise InputError(f"params is {with_article(type(params).__name__)}", help="give a dictionary of arrays by name")
    return {
        str(name): as_array(f"parameter {str(name)!r}", value)
        for name, value in cast("Mapping[object, object]", params).items()
    }


def as_numpy(value: Any) -> Any:
    """What `numpy()` or `asnumpy()` of a value gives; a value without these, and what cannot be written, as it is."""
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        # The data of a constant: a copy of weights would only take memory.
        return cast("NDArray[Any]", value).view(np.ndarray)
    for method in ("numpy", "asnumpy"):
        convert = getattr(value, method, None)
        if callable(convert):
            return convert()
    return value


def as_array(name: str, value: object) -> NDArray[Any]:
    """A copy of the array that `value` is, or gives by `numpy()` or `asnumpy()`; `InputError` names other values."""
    try:
        array = np.array(as_numpy(value))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{name} is no array of numbers: {error}") from error
    if array.dtype.hasobject or array.dtype.kind in "USMmc":
        if isinstance(value, np.ndarray):
            raise InputError(f"{name} has dtype {array.dtype}, which no tensor has")
        raise InputError(f"{name} is {with_article(type(value).__name__)}, no array of numbers")
    return array


def in_32_bits(array: NDArray[Any]) -> NDArray[Any]:
    """Python's numbers in 32 bits where they fit."""
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    if array.dtype.kind != "i":
        return array
    limits = np.iinfo(np.int32)
    fits = array.size == 0 or (limits.min <= array.min() and array.max() <= limits.max)
    return array.astype(np.int32) if fits else array
