"""Checks of the inputs of a model: names, number, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import InputError, did_you_mean
from xrelay.runtime.lists import checked_list, encode_list, objects_of
from xrelay.runtime.metadata import ANY_RANK, TensorSpec

_SMALL_INTEGERS: Final = ("int2", "int4", "uint2", "uint4")
"""Integer dtypes of ml_dtypes. Their `kind` is not an integer kind of numpy."""


def is_mapping(values: object) -> TypeGuard[Mapping[str, object]]:
    """Whether `values` has inputs by name."""
    return isinstance(values, Mapping)


class InputSpec:
    """An input: converts a value to the array that native code reads, or raises an error that describes the fault."""

    def __init__(self, spec: TensorSpec, *, native: bool = True):
        """Prepares the checks of an input. If `native`, lists and optionals are converted to objects of native code."""
        self.spec, self._native = spec, native
        self._dtype, self._shape = spec.numpy_dtype, spec.shape
        self._known = spec.shape
        """The last shape that was accepted for a dynamic one, which repeats in most programs."""

    def array(self, value: object) -> NDArray[Any]:
        """Returns `value` as a contiguous array of the input's dtype and shape, without a copy if it is one already.

        Arrays of numpy and of other libraries must have exactly this dtype. Python numbers and nested lists of them are
        converted if no value changes beyond rounding to the precision of the dtype.
        """
        if self.spec.is_function:
            return objects_of(self.spec, value)
        if self.spec.containers:
            held = InputSpec(replace(self.spec, containers=()))
            return (encode_list if self._native else checked_list)(self.spec, value, held.array)
        if (
            type(value) is np.ndarray
            and value.dtype == self._dtype
            and value.shape == self._known
            and value.flags.c_contiguous
            and value.flags.aligned
        ):
            return value
        return self._convert(value)

    def cast(self, value: object) -> NDArray[Any]:
        """Same as `array`, but also converts arrays of another dtype of the same kind (float64 for float32).

        Values may change only by rounding.
        """
        array = _as_array(self.spec, value)
        if _is_python(value) or array.dtype == self._dtype or not _same_kind(array.dtype, self._dtype):
            return self._convert(value)
        return self._convert(self._rounded(array))

    def _convert(self, value: object) -> NDArray[Any]:
        array = _as_array(self.spec, value)
        if array.dtype != self._dtype:
            if not _is_python(value):
                self._refuse(array, f"convert it: x.astype('{self.spec.dtype}')")
            if array.size and not _same_kind(array.dtype, self._dtype) and array.dtype.kind not in "iu":
                self._refuse(array, None)
            array = self._rounded(array)
        if array.shape != self._shape:
            if not (self.spec.is_open and self._fits(array.shape)):
                self._refuse(array, None)
            self._known = array.shape
        try:
            return np.require(array, requirements=("C", "A"))
        except MemoryError:
            self._refuse(array, "it is not contiguous, and a contiguous copy does not fit in memory")

    def _fits(self, shape: tuple[int, ...]) -> bool:
        """Whether the static extents equal those of `shape`."""
        pairs = zip(shape, self._shape, strict=False)
        if self._shape == (ANY_RANK,):
            return True
        return len(shape) == len(self._shape) and all(isinstance(own, str) or own == extent for extent, own in pairs)

    def _rounded(self, array: NDArray[Any]) -> NDArray[Any]:
        """Returns the values in the input's dtype. Raises `InputError` if one is out of its range."""
        with np.errstate(all="ignore"):
            result = array.astype(self._dtype)
            if _is_integral(self._dtype):
                same_sign = np.array_equal(result < np.zeros((), self._dtype), array < 0)
                fits = same_sign and np.array_equal(result.astype(array.dtype), array)
            else:
                fits = bool(np.all(np.isfinite(result) | ~np.isfinite(array)))
        if not fits:
            self._refuse(array, "some values are out of range of the dtype")
        return result

    def _refuse(self, array: NDArray[Any], help_: str | None) -> NoReturn:
        got = TensorSpec(self.spec.name, str(array.dtype), array.shape)
        raise InputError(f"input '{self.spec.name}': expected {self.spec}, got {got}", help=help_)


def _is_python(value: object) -> bool:
    """Whether a value consists of Python numbers, which have no dtype."""
    return isinstance(value, (bool, int, float, list, tuple))


def _is_integral(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iub" or dtype.name in _SMALL_INTEGERS


def _same_kind(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    if {source.kind, target.kind} <= {"i", "u"}:
        return True
    return source.kind == target.kind or (source.kind == "f" and target.kind == "V" and target.itemsize <= 2)


def _is_dlpack_alone(value: object) -> bool:
    """Whether an array of another library supports DLPack but not numpy's own protocol."""
    kind = type(value)
    return hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__") and not hasattr(kind, "__array__")


def _as_array(spec: TensorSpec, value: object) -> NDArray[Any]:
    """Returns `value` as a numeric array of any dtype and shape."""
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"input '{spec.name}': expected {spec}, got a masked array", help="fill it: x.filled(0)")
    try:
        array = np.from_dlpack(cast(Any, value)) if _is_dlpack_alone(value) else np.asarray(value)
    except (TypeError, ValueError, OverflowError, RuntimeError, MemoryError, BufferError) as error:
        raise InputError(
            f"input '{spec.name}': expected {spec}, got a value that is not a numeric array: {error}"
        ) from error
    if array.dtype.hasobject or array.dtype.kind in "USMmc":
        kind = type(value).__name__
        raise InputError(f"input '{spec.name}': expected {spec}, got {kind} of dtype {array.dtype}")
    return array


class InputBinder:
    """All inputs of a model: orders values passed by name or in order."""

    def __init__(self, specs: Iterable[TensorSpec], *, native: bool = True):
        """Prepares the checks of the inputs, for native code or for an interpreter."""
        self.inputs = [InputSpec(spec, native=native) for spec in specs]
        self.names = [entry.spec.name for entry in self.inputs]
        self.index = {name: i for i, name in enumerate(self.names)}

    def from_mapping(self, values: Mapping[str, object]) -> list[NDArray[Any]]:
        """Returns arrays in order for values by name. Raises `InputError` for an unknown or missing name."""
        if len(values) != len(self.index) or values.keys() != self.index.keys():
            self._refuse_names(values)
        return [entry.array(values[entry.spec.name]) for entry in self.inputs]

    def from_sequence(self, values: Sequence[object]) -> list[NDArray[Any]]:
        """Returns arrays in order for values in order. Raises `InputError` if their number is wrong."""
        if len(values) != len(self.inputs):
            raise InputError(f"expected {len(self.inputs)} inputs ({', '.join(self.names)}), got {len(values)}")
        return [entry.array(value) for entry, value in zip(self.inputs, values, strict=True)]

    def suggest(self, name: str) -> str:
        """Returns the help for a name that is not an input."""
        return did_you_mean(name, self.names, f"the inputs are {', '.join(self.names)}")

    def _refuse_names(self, values: Mapping[str, object]) -> None:
        for name in values:
            if name not in self.index:
                raise InputError(f"the model has no input '{name}'", help=self.suggest(str(name)))
        missing = [entry.spec for entry in self.inputs if entry.spec.name not in values]
        listed = ", ".join(f"'{spec.name}' ({spec})" for spec in missing)
        raise InputError(f"missing input {listed}", help="pass every input")
