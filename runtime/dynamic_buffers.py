"""Outputs of data-dependent shape: native code returns addresses and extents, which are copied to numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.runtime.functions import FunctionObject
from xrelay.runtime.lists import Listed, copied_array, copied_objects, decode_list
from xrelay.runtime.metadata import TensorSpec

Values = Sequence[int]
"""The numbers that a run stored: for each dynamic buffer its address, then its dynamic extents."""


class DynamicBufferReader:
    """Copies the dynamic buffers of a run to new arrays."""

    def __init__(self, specs: Sequence[TensorSpec]):
        """Prepares for outputs of these types, in order."""
        self._specs = specs
        self.count = sum(1 + _open_extents(spec) for spec in specs)
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


def _open_extents(spec: TensorSpec) -> int:
    return 0 if spec.containers else sum(isinstance(extent, str) for extent in spec.shape)
