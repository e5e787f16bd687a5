"""Sizes of named dimensions, derived from the shapes of the arrays that a caller passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from xrelay.errors import DimensionError, InputError, did_you_mean
from xrelay.runtime.abi import MAX_EXTENT
from xrelay.runtime.dim_text import evaluate, name_and_size, names_in
from xrelay.runtime.metadata import TensorSpec

_HELP = "pass the size of each named dimension"


class SizeBinder:
    """Derives the size of each name, and checks all extents against these sizes."""

    def __init__(self, inputs: Sequence[TensorSpec], names: Sequence[str]):
        """Prepares for arrays of these inputs; `names` determine the order of the sizes."""
        self.names = tuple(names)
        self._inputs = inputs
        self._axes = [
            (number, axis, extent)
            for number, spec in enumerate(inputs)
            if not spec.containers
            for axis, extent in enumerate(spec.shape)
            if isinstance(extent, str)
        ]

    def bind(self, arrays: Sequence[NDArray[Any]]) -> tuple[int, ...]:
        """Returns the sizes, in the order of the names.

        The first extent that is a linear function of a single name determines its size. Raises an `InputError` that
        names the input whose extents disagree with the sizes.
        """
        sizes: dict[str, int] = {}
        for number, axis, text in self._axes:
            solved = name_and_size(text, arrays[number].shape[axis])
            if solved is not None and solved[1] is not None:
                sizes.setdefault(solved[0], solved[1])
        for number, axis, text in self._axes:
            if self._value(text, sizes) != arrays[number].shape[axis]:
                raise self._mismatch(number, arrays[number], sizes)
        return self.checked(sizes)

    def checked(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Returns the sizes in order.

        Raises `InputError` unless exactly the names have sizes, from 0 to `MAX_EXTENT`.
        """
        for name in sizes:
            if name not in self.names:
                raise InputError(f"the model has no dimension '{name}'", help=did_you_mean(name, self.names, _HELP))
        for name in self.names:
            if name not in sizes:
                raise InputError(f"the dimension {name} has no size", help=_HELP)
            if not 0 <= sizes[name] <= MAX_EXTENT:
                raise InputError(f"the dimension {name} is {sizes[name]}, the range is 0 to {MAX_EXTENT}", help=_HELP)
        return tuple(sizes[name] for name in self.names)

    def _value(self, text: str, sizes: Mapping[str, int]) -> int | None:
        """Returns the extent for these sizes; `None` if it has no value or a name has no size."""
        if (size := sizes.get(text)) is not None:
            return size
        try:
            return evaluate(text, sizes) if all(name in sizes for name in names_in([text])) else None
        except DimensionError:
            return None

    def _mismatch(self, number: int, array: NDArray[Any], sizes: Mapping[str, int]) -> InputError:
        spec = self._inputs[number]
        got = TensorSpec(spec.name, str(array.dtype), array.shape)
        named = names_in(extent for extent in spec.shape if isinstance(extent, str))
        known = ", ".join(f"{name} = {sizes[name]}" for name in named if name in sizes)
        known_text = f" with {known}" if known else ""
        return InputError(f"input '{spec.name}': expected {spec}{known_text}, got {got}")
