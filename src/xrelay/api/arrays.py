"""Conversion of user arrays, such as `params`, to numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import InputError, with_article


class Tensor(np.ndarray[Any, Any]):
    """A numpy array with Relay's `numpy()` method."""

    def numpy(self) -> NDArray[Any]:
        """Returns the values as a plain numpy array that shares no memory with this one."""
        return np.array(self, subok=False)

    def asnumpy(self) -> NDArray[Any]:
        """Same as `numpy`."""
        return self.numpy()


def arrays_by_name(params: object) -> dict[str, NDArray[Any]]:
    """Returns copies of the arrays in `params` by name; see `as_array`. Raises `InputError` for other values."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise InputError(f"params is {with_article(type(params).__name__)}", help="pass a dictionary of arrays by name")
    return {
        str(name): as_array(f"parameter {str(name)!r}", value)
        for name, value in cast("Mapping[object, object]", params).items()
    }


def as_numpy(value: Any) -> Any:
    """Returns `value.numpy()` or `value.asnumpy()`. Read-only arrays and other values are returned as they are."""
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        # The data of a constant: a copy of weights would only take memory.
        return cast("NDArray[Any]", value).view(np.ndarray)
    for method in ("numpy", "asnumpy"):
        convert = getattr(value, method, None)
        if callable(convert):
            return convert()
    return value


def as_array(name: str, value: object) -> NDArray[Any]:
    """Returns a copy of an array or an object with `numpy()` or `asnumpy()`. Raises `InputError` for other values."""
    try:
        array = np.array(as_numpy(value))
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{name} is not a numeric array: {error}") from error
    if array.dtype.hasobject or array.dtype.kind in "USMmc":
        if isinstance(value, np.ndarray):
            raise InputError(f"{name} has dtype {array.dtype}, which is not a tensor dtype")
        raise InputError(f"{name} is {with_article(type(value).__name__)}, not a numeric array")
    return array


def in_32_bits(array: NDArray[Any]) -> NDArray[Any]:
    """Casts floats to float32, and integers to int32 if all values fit."""
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    if array.dtype.kind != "i":
        return array
    limits = np.iinfo(np.int32)
    fits = array.size == 0 or (limits.min <= array.min() and array.max() <= limits.max)
    return array.astype(np.int32) if fits else array
