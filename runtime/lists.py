"""Sequences and optionals of a model: Python's lists and `None`, as the objects that native code has for them.

What the words of an object mean stands in `lowering/to_llvm/lists.py`. Those of an input lie in one array that is never
freed by native code; those of an output are copied before the run's memory goes.
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

Listed: TypeAlias = Any
"""The value of an input or output: an array, the values of a sequence, `None` for an optional without a value, or a
function."""

_WORD: Final = 8
_HEAD: Final = 4
"""The words before what a list holds, and before the extents of a buffer."""
_NEVER_FREED: Final = -1
_IS_LIST: Final = -1
"""What a list has where a buffer has its rank."""


def encode_list(spec: TensorSpec, value: object, convert: Callable[[object], NDArray[Any]]) -> NDArray[np.int64]:
    """The objects of a sequence or optional, in one array that begins with the outermost.

    `convert` checks a value that is held and makes it an array. `InputError` for what is no list, and what it raises.
    """
    pieces = _Pieces(spec, convert)
    pieces.add(value, 0)
    return pieces.array()


def checked_list(spec: TensorSpec, value: object, convert: Callable[[object], NDArray[Any]], depth: int = 0) -> Listed:
    """The value with arrays in it as `convert` makes them; `InputError` as for `encode_list`. As deep as the type."""
    if depth == len(spec.containers):
        return convert(value)
    held = [checked_list(spec, each, convert, depth + 1) for each in held_values(spec, value, depth)]
    if spec.containers[depth] != OPTIONAL:
        return held
    return held[0] if held else None


def flattened(names: Sequence[str], values: Sequence[Listed]) -> dict[str, NDArray[Any]]:
    """The arrays in some values, each by its name: `y`, and of a sequence `s[0]`, `s[1]`. Functions have none."""
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
    """What a value holds that is inside so many containers; `InputError` where it is no list."""
    if spec.containers[depth] == OPTIONAL:
        return () if value is None else (value,)
    if not isinstance(value, (list, tuple)):
        kind = "nothing" if value is None else type(value).__name__
        raise InputError(f"input '{spec.name}': expected {spec}, got {kind}", help="give a list")
    return cast("Sequence[object]", value)


class _Pieces:
    """Objects one behind the other, each at a multiple of 64 bytes; addresses are added when there is memory."""

    def __init__(self, spec: TensorSpec, convert: Callable[[object], NDArray[Any]]):
        self._spec, self._convert = spec, convert
        self._objects: list[tuple[list[int], list[int], NDArray[Any] | None]] = []
        """The words of each object, the numbers of the objects it holds, and its elements."""

    def add(self, value: object, depth: int) -> int:
        """Adds the objects of a value inside so many containers; the number of the first. As deep as the type."""
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
        """All objects in memory of their own."""
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
    """The value of a sequence or optional whose object is at `address`; as deep as the type.

    `ExecutionError` where there is no memory for it.
    """
    _, length, size, rank = _words(address, _HEAD)
    if depth == len(spec.containers):
        shape = tuple(_words(address + _WORD * _HEAD, rank))
        assert size == prod(shape) * spec.numpy_dtype.itemsize, "an object says how many bytes its elements take"
        return copied_array(spec, shape, address + _rounded(_WORD * (_HEAD + rank)))
    held = [decode_list(spec, item, depth + 1) for item in _words(address + _WORD * _HEAD, length)]
    if spec.containers[depth] != OPTIONAL:
        return held
    return held[0] if held else None


def copied_objects(address: int) -> NDArray[np.int64]:
    """A copy of the object at `address` and of all that it holds, in one array that begins with it.

    What each is the objects say themselves. `ExecutionError` where there is no memory for it.
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
    """A new array of what lies at `address`; `ExecutionError` where there is no memory for it."""
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
