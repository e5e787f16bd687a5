"""Converts sequences and optionals between Python's lists and `None` and the objects of native code.

The layout of an object is described in `lowering/to_llvm/lists.py`. The objects of an input are in one array that
native code never frees; those of an output are copied before the run's memory is released.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import ExecutionError, InputError
from xrelay.runtime.arena import address_of, aligned_bytes
from xrelay.runtime.metadata import OPTIONAL, TensorSpec


class FunctionObject:
    """A closure outside of a run, which owns its memory."""

    def __init__(self, objects: NDArray[np.int64]):
        """Wraps the objects of a closure; the first is the closure itself."""
        self.objects = objects


class FunctionHandle:
    """A closure with its type and owner: the model that returned it and whose functions may take it."""

    def __init__(self, function: FunctionObject, type: str, owner: object):
        """Wraps a closure of the type `type` that the model `owner` returned."""
        self.function, self.type, self.owner = function, type, owner


def objects_of(spec: TensorSpec, value: object) -> NDArray[np.int64]:
    """Returns the objects of an input that is a function. Raises `InputError` for other values and other types."""
    if isinstance(value, FunctionObject):
        return value.objects
    if isinstance(value, FunctionHandle) and value.type in spec.functions:
        return value.function.objects
    kind = "nothing" if value is None else type(value).__name__
    got = f"one of {value.type}" if isinstance(value, FunctionHandle) else kind
    raise InputError(f"input '{spec.name}': expected a function {' or '.join(spec.functions)}, got {got}")


Listed: TypeAlias = Any
"""The value of an input or output: an array, the list of a sequence, `None` for an empty optional, or a function."""

_WORD: Final = 8
_HEAD: Final = 4
"""The number of words before the elements of a list, and before the extents of a buffer."""
_NEVER_FREED: Final = -1
_IS_LIST: Final = -1
"""The rank of a list."""


def encode_list(spec: TensorSpec, value: object, convert: Callable[[object], NDArray[Any]]) -> NDArray[np.int64]:
    """Returns the objects of a sequence or optional, in one array that begins with the outermost.

    `convert` checks an element and converts it to an array. Raises `InputError` for a value that is not a list, and
    errors of `convert`.
    """
    pieces = _Pieces(spec, convert)
    pieces.add(value, 0)
    return pieces.array()


def checked_list(spec: TensorSpec, value: object, convert: Callable[[object], NDArray[Any]], depth: int = 0) -> Listed:
    """Returns the value with its elements converted by `convert`, recursively. Raises the errors of `encode_list`."""
    if depth == len(spec.containers):
        return convert(value)
    held = [checked_list(spec, each, convert, depth + 1) for each in held_values(spec, value, depth)]
    if spec.containers[depth] != OPTIONAL:
        return held
    return held[0] if held else None


def flatten_arrays(names: Sequence[str], values: Sequence[Listed]) -> dict[str, NDArray[Any]]:
    """Returns the arrays in values by name: `y`, and `s[0]`, `s[1]` of a sequence. Functions are skipped."""
    found: dict[str, NDArray[Any]] = {}
    pending = list(zip(names, values, strict=True))[::-1]
    while pending:
        name, value = pending.pop()
        if isinstance(value, list | tuple):
            held = cast("Sequence[Listed]", value)
            pending += [(f"{name}[{number}]", each) for number, each in enumerate(held)][::-1]
        elif value is not None and not callable(value):
            found[name] = np.asarray(value)
    return found


def held_values(spec: TensorSpec, value: object, depth: int) -> Sequence[object]:
    """Returns the elements of a value at a container depth. Raises `InputError` if it is not a list."""
    if spec.containers[depth] == OPTIONAL:
        return () if value is None else (value,)
    if not isinstance(value, (list, tuple)):
        kind = "nothing" if value is None else type(value).__name__
        raise InputError(f"input '{spec.name}': expected {spec}, got {kind}", help="pass a list")
    return cast("Sequence[object]", value)


class _Pieces:
    """Objects in sequence, each at a multiple of 64 bytes. Addresses are filled in when the memory is allocated."""

    def __init__(self, spec: TensorSpec, convert: Callable[[object], NDArray[Any]]):
        self._spec, self._convert = spec, convert
        self._objects: list[tuple[list[int], list[int], NDArray[Any] | None]] = []
        """The words of each object, the indices of the objects it contains, and its elements."""

    def add(self, value: object, depth: int) -> int:
        """Adds the objects of a value at a container depth, recursively; returns the index of the first."""
        number = len(self._objects)
        if depth == len(self._spec.containers):
            array = self._convert(value)
            self._objects.append(([_NEVER_FREED, 0, array.nbytes, array.ndim, *array.shape], [], array))
            return number
        held = held_values(self._spec, value, depth)
        items: list[int] = []
        self._objects.append(([_NEVER_FREED, len(held), len(held), _IS_LIST], items, None))
        items += [self.add(each, depth + 1) for each in held]
        return number

    def array(self) -> NDArray[np.int64]:
        """Returns all objects in newly allocated memory."""
        places, end = list[int](), 0
        for words, items, elements in self._objects:
            places.append(end)
            end += _rounded(_WORD * (len(words) + len(items))) + _rounded(0 if elements is None else elements.nbytes)
        memory = aligned_bytes(end)
        start = address_of(memory)
        for place, (words, items, elements) in zip(places, self._objects, strict=True):
            filled = [*words, *(start + places[item] for item in items)]
            memory[place : place + _WORD * len(filled)] = np.array(filled, np.int64).view(np.uint8)
            if elements is not None:
                first = place + _rounded(_WORD * len(filled))
                memory[first : first + elements.nbytes] = np.frombuffer(elements.tobytes(), np.uint8)
        return memory[:end].view(np.int64)


def decode_list(spec: TensorSpec, address: int, depth: int = 0) -> Listed:
    """Returns the value of a sequence or optional whose object is at `address`, recursively.

    Raises `ExecutionError` if allocation fails.
    """
    _, length, size, rank = _words(address, _HEAD)
    if depth == len(spec.containers):
        shape = tuple(_words(address + _WORD * _HEAD, rank))
        assert size == prod(shape) * spec.numpy_dtype.itemsize, "an object has its size in bytes"
        return copied_array(spec, shape, address + _rounded(_WORD * (_HEAD + rank)))
    held = [decode_list(spec, item, depth + 1) for item in _words(address + _WORD * _HEAD, length)]
    if spec.containers[depth] != OPTIONAL:
        return held
    return held[0] if held else None


def copied_objects(address: int) -> NDArray[np.int64]:
    """Returns a copy of the object at `address` and of all objects it contains, in one array that begins with it.

    The type of each follows from its head. Raises `ExecutionError` if allocation fails.
    """
    numbers, places, end = {address: 0}, list[int](), 0
    sizes: list[int] = []
    held: list[list[int]] = []
    pending = [address]
    while pending:
        found: list[int] = []
        for each in pending:
            _, length, size, rank = _words(each, _HEAD)
            is_list = rank == _IS_LIST
            held.append(_words(each + _WORD * _HEAD, length) if is_list else [])
            sizes.append(_WORD * (_HEAD + length) if is_list else _rounded(_WORD * (_HEAD + rank)) + size)
            places.append(end)
            end += _rounded(sizes[-1])
            for item in held[-1]:
                if item not in numbers:
                    numbers[item] = len(numbers)
                    found.append(item)
        pending = found
    memory = aligned_bytes(end)
    start, words = address_of(memory), memory.view(np.int64)
    for source, place, size, items in zip(numbers, places, sizes, held, strict=True):
        ctypes.memmove(start + place, source, size)
        words[place // _WORD] = _NEVER_FREED
        first = place // _WORD + _HEAD
        words[first : first + len(items)] = [start + places[numbers[item]] for item in items]
    return words


def copied_array(spec: TensorSpec, shape: tuple[int, ...], address: int) -> NDArray[Any]:
    """Returns a copy of the array at `address`. Raises `ExecutionError` if allocation fails."""
    try:
        array = np.empty(shape, spec.numpy_dtype)
    except (MemoryError, ValueError) as error:
        raise ExecutionError(f"cannot allocate output '{spec.name}': {error}", help="use a smaller batch") from error
    if array.nbytes:
        ctypes.memmove(address_of(array), address, array.nbytes)
    return array


def _words(address: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(address))


def _rounded(size: int) -> int:
    return -(-size // 64) * 64


Values = Sequence[int]
"""The numbers that a run stored: for each dynamic buffer its address, then its dynamic extents."""


class DynamicBufferReader:
    """Copies the dynamic buffers of a run to new arrays."""

    def __init__(self, specs: Sequence[TensorSpec]):
        """Prepares for outputs of these types, in order."""
        self._specs = specs
        self.count = sum(1 + _dynamic_extent_count(spec) for spec in specs)
        """The number of values that a run stores."""

    def read(self, values: Values) -> list[Listed]:
        """Returns the outputs, sequences as lists, functions as objects.

        Raises `ExecutionError` if allocation fails.
        """
        numbers, arrays = iter(values), list[Listed]()
        for spec in self._specs:
            address = next(numbers)
            if spec.is_function:
                arrays.append(FunctionObject(copied_objects(address)))
                continue
            if spec.containers:
                arrays.append(decode_list(spec, address))
                continue
            shape = tuple(next(numbers) if isinstance(extent, str) else extent for extent in spec.shape)
            arrays.append(copied_array(spec, shape, address))
        return arrays


def _dynamic_extent_count(spec: TensorSpec) -> int:
    return 0 if spec.containers else sum(isinstance(extent, str) for extent in spec.shape)
