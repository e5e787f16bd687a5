"""Size hints of named dimensions: the least, the greatest and the typical size.

`func.func @main(%x: tensor<?x8xf32, #relay.dims<n>>) -> … attributes {relay.sizes = {n = array<i64: 1, 128, 8>}}`
declares that n is 1 to 128, and typically 8. The range is checked at run time. The typical size is an estimate for
scheduling decisions.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerType, i64
from xdsl.dialects.func import FuncOp

from xrelay.dialects.shared.attribute_names import SIZES
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import dims_in
from xrelay.errors import InputError
from xrelay.index_algebra.dims import MAX_EXTENT, symbol
from xrelay.index_algebra.requirement import AtLeast

USUAL_EXTENT: Final = 256
"""The expected size of a dimension without a typical size: a few tiles of any kernel."""


@dataclass(frozen=True)
class SizeHint:
    """The least, the greatest and the typical size of a name."""

    least: int
    greatest: int
    usual: int

    @staticmethod
    def of(name: str, sizes: Sequence[int | str], location: str | None = None) -> SizeHint:
        """Returns the hint of one or three numbers; one number is the only size.

        Raises `InputError` for other sizes, and unless 0 <= least <= usual <= greatest <= limit.
        """
        numbers = [size for size in sizes if isinstance(size, int)]
        if len(numbers) not in (1, 3) or len(numbers) != len(sizes):
            raise InputError(f"the sizes of {name} are {list(sizes)}, not one or three numbers",
                             location=location, help="pass the size, or (minimum, maximum, typical)")  # fmt: skip
        if len(numbers) == 1 and not 0 <= numbers[0] <= MAX_EXTENT:
            raise InputError(f"the size of {name} is {numbers[0]}",
                             location=location, help=f"pass a number from 0 to {MAX_EXTENT}")  # fmt: skip
        least, greatest, usual = numbers if len(numbers) == 3 else numbers * 3
        if not 0 <= least <= usual <= greatest <= MAX_EXTENT:
            raise InputError(
                f"the sizes of {name} are minimum {least}, maximum {greatest}, typical {usual}",
                location=location, help=f"they must satisfy 0 <= minimum <= typical <= maximum <= {MAX_EXTENT}",
            )  # fmt: skip
        return SizeHint(least, greatest, usual)

    @property
    def is_fixed(self) -> bool:
        """Whether there is only one size."""
        return self.least == self.greatest

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The three sizes."""
        return self.least, self.greatest, self.usual

    def facts(self, name: str) -> tuple[AtLeast, AtLeast]:
        """Returns the range of `name` as facts."""
        dim = symbol(name)
        return AtLeast(dim, self.least, about="promised size"), AtLeast(self.greatest, dim, about="promised size")


def size_hints(function: FuncOp) -> dict[str, SizeHint]:
    """Returns the size hints of a function. Raises `InputError` for an invalid `relay.sizes`."""
    attribute = function.attributes.get(SIZES)
    if attribute is None:
        return {}
    location = location_of(function)
    if not isinstance(attribute, DictionaryAttr):
        raise InputError(
            f"{SIZES} of @{function.sym_name.data} must be a dictionary by name, found {attribute}", location=location
        )
    hints: dict[str, SizeHint] = {}
    for name, numbers in attribute.data.items():
        if not is_attribute(numbers, DenseArrayBase[IntegerType]):
            raise InputError(f"{SIZES} of {name} must be an integer array, found {numbers}", location=location)
        hints[name] = SizeHint.of(name, numbers.get_values(), location)
    return hints


def batches(function: FuncOp) -> frozenset[str]:
    """Returns the first open extents of the inputs of a function, which are typically batches, and often 1."""
    return frozenset(str(dims[0]) for type in function.function_type.inputs if (dims := dims_in(type)))


def remove_size_hints(function: FuncOp, names: Container[str]) -> None:
    """Removes the size hints of dimensions that a function no longer has."""
    attribute = function.attributes.pop(SIZES, None)
    if isinstance(attribute, DictionaryAttr):
        kept = {name: array for name, array in attribute.data.items() if name not in names}
        function.attributes |= {SIZES: DictionaryAttr(kept)} if kept else {}


def add_size_hints(function: FuncOp, sizes: Mapping[str, Sequence[int | str]]) -> None:
    """Adds size hints to a function. Raises `InputError` for invalid ones."""
    hints = {name: SizeHint.of(name, numbers) for name, numbers in sizes.items()}
    attribute = function.attributes.get(SIZES)
    arrays = dict(attribute.data) if isinstance(attribute, DictionaryAttr) else {}
    arrays |= {name: DenseArrayBase.from_list(i64, hint.sizes) for name, hint in hints.items()}
    if arrays:
        function.attributes[SIZES] = DictionaryAttr(arrays)
