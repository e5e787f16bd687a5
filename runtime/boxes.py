"""Outputs whose extents a run makes: native code gives addresses and extents, Python gets arrays of its own."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.runtime.functions import FunctionObject
from xrelay.runtime.lists import Listed, copied_array, copied_objects, decode_list
from xrelay.runtime.metadata import TensorSpec

Values = Sequence[int]
"""What a run stored: for each box its address, then its open extents."""


class BoxReader:
    """Copies the boxes of a run to new arrays."""

    def __init__(self, specs: Sequence[TensorSpec]):
        """Prepare for outputs of these types, in order."""
        self._specs = specs
        self.count = sum(1 + _open_extents(spec) for spec in specs)
        """How many numbers a run stores."""

    def read(self, values: Values) -> list[Listed]:
        """The outputs, sequences as lists, functions as objects; `ExecutionError` where there is no memory for them."""
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
