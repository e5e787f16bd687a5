"""The plan of a call: its output shapes and its memory."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import ExecutionError, InputError
from xrelay.forking import forks_wait
from xrelay.runtime.abi import Context
from xrelay.runtime.arena import Pool, address_of, aligned_bytes
from xrelay.runtime.memory import MemoryNeeds
from xrelay.runtime.metadata import TensorSpec

Shaped: TypeAlias = tuple[tuple[int, ...], np.dtype[Any]]
Sizes: TypeAlias = tuple[int, ...]
"""Sizes of named dimensions, in the order of the model's table."""

Dims: TypeAlias = "ctypes.Array[ctypes.c_int64]"
"""The same as an array for native code."""

KEPT: Final = 8
"""The number of plans that a model keeps."""


class Frame:
    """The memory of one call: context, argument array and arena, with all constant arguments filled in."""

    def __init__(self, num_leading: int, weights: Sequence[int], arena_size: int, dims: Dims | None, num_values: int):
        """Allocates the arena; `dims` are the sizes of named dimensions, if the model has any.

        `num_values` is the number of values that a run stores for its dynamic buffers.
        """
        self.arena, self.dims, self.values = aligned_bytes(arena_size), dims, (ctypes.c_int64 * num_values)()
        behind = [each for each in (self.values if num_values else None, dims) if each is not None]
        trailing = [*weights, address_of(self.arena), *map(ctypes.addressof, behind)]
        self.args = (ctypes.c_void_p * (num_leading + len(trailing)))(*[None] * num_leading, *trailing)
        self.context = Context()
        self.args_address = ctypes.addressof(self.args)
        self.context_address = ctypes.addressof(self.context)


@dataclass(eq=False)
class Plan:
    """The shapes and dtypes of the outputs, and the memory of a call, for certain sizes of named dimensions.

    `outputs` does not include dynamic buffers. Each call uses a frame from the pool `frames`.
    """

    outputs: Sequence[Shaped]
    arena_size: int
    frames: Pool[Frame]
    sizes: Mapping[str, int]
    memory: MemoryNeeds
    """The memory of a call with one thread."""
    is_short: bool = False
    """Whether runs are too short to need polling (see `running.py`)."""

    def new_outputs(self) -> list[NDArray[Any]]:
        """Returns arrays for the outputs. Raises `ExecutionError` if allocation fails."""
        try:
            return [np.empty(shape, dtype) for shape, dtype in self.outputs]
        except (MemoryError, ValueError) as error:
            raise ExecutionError(f"cannot allocate the outputs: {error}", help="use a smaller batch") from error

    def check_outputs(
        self, specs: Sequence[TensorSpec], given: Sequence[object], inputs: Sequence[NDArray[Any]]
    ) -> list[NDArray[Any]]:
        """Returns the arrays that a caller passed for the outputs. Raises `InputError` if one does not fit its output.

        They must be writeable, contiguous, of the right dtype and shape, and overlap neither an input nor each other.
        """
        if isinstance(given, np.ndarray | Mapping | str) or not hasattr(given, "__len__"):
            raise InputError(f"out takes a list of arrays, got {type(given).__name__}", help="write out=[y]")
        if len(given) != len(specs):
            raise InputError(f"out has {len(given)} arrays, the model has {len(specs)} outputs")
        taken = list(inputs)
        for spec, array, (shape, dtype) in zip(specs, given, self.outputs, strict=True):
            expected = TensorSpec(spec.name, spec.dtype, shape)
            if not isinstance(array, np.ndarray):
                raise InputError(f"output '{spec.name}': expected {expected}, got {type(array).__name__}")
            fault = _fault(array, shape, dtype, taken)
            if fault is not None:
                raise InputError(f"output '{spec.name}': expected {expected}, got {fault}")
            taken.append(array)
        return taken[len(inputs) :]


class PlanCache:
    """The most recently created plans. Older ones are dropped, with their arenas."""

    def __init__(self, make: Callable[[Sizes], Plan]):
        """Creates an empty cache; `make` creates a plan."""
        self._make = make
        self._plans: dict[Sizes, Plan] = {}
        self._lock = threading.Lock()

    def get(self, sizes: Sizes) -> Plan:
        """Returns the plan for these sizes. Raises the errors of its creation."""
        found = self._plans.get(sizes)
        if found is not None:
            return found
        made = self._make(sizes)
        with forks_wait(is_short=True), self._lock:
            while len(self._plans) >= KEPT:
                del self._plans[next(iter(self._plans))]
            return self._plans.setdefault(sizes, made)


def _fault(array: NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any], taken: list[NDArray[Any]]) -> str | None:
    """Returns the reason why an array cannot be used for an output, or `None`."""
    if array.shape != shape or array.dtype != dtype:
        return str(TensorSpec("", str(array.dtype), array.shape))
    if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
        return "a read-only or non-contiguous array"
    if any(np.may_share_memory(array, other) for other in taken):
        return "an array that overlaps an input or another output"
    return None
