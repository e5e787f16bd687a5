"""Versions of a kernel for certain sizes of its names: separate functions, selected at run time.

```
func.func private @k_n1(…) attributes {loop.version = {of = @k, sizes = {n = 1 : i64}, reason = "…"}, …}
```

Names may remain dynamic in a version. Its extents are then some of the kernel's: with `n = 1`, the extent `m` of the
version is the kernel's extent `m` or `n * m`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, SymbolRefAttr, i64
from xdsl.dialects.func import FuncOp

from xrelay.dialects.loop.signature import kernel_dims
from xrelay.dialects.shared.attribute_names import VERSION
from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import substitute
from xrelay.index_algebra.dims import Dim


@dataclass(frozen=True)
class KernelVersion:
    """The kernel of a version, the sizes of the kernel's names, and the reason for the version."""

    of: str
    sizes: Mapping[str, int]
    reason: str

    def attribute(self) -> DictionaryAttr:
        """The attribute that marks a function as this version."""
        sizes = DictionaryAttr({name: IntegerAttr(size, i64) for name, size in self.sizes.items()})
        return DictionaryAttr({"of": SymbolRefAttr(self.of), "sizes": sizes, "reason": StringAttr(self.reason)})

    def choice(self, kernel: FuncOp, version: FuncOp) -> Choice | None:
        """The condition under which `version` can replace the kernel, and the extents that it takes.

        Returns `None` if an extent of the kernel is undefined for these sizes, no extent becomes a number, or the
        version takes an extent that the kernel does not have.
        """
        try:
            known = substitute(kernel_dims(kernel), self.sizes)
        except DimensionError:
            return None
        numbers = tuple((index, dim) for index, dim in enumerate(known) if isinstance(dim, int))
        first_index: dict[Dim, int] = {}
        equal = tuple(
            (index, first)
            for index, dim in enumerate(known)
            if not isinstance(dim, int) and (first := first_index.setdefault(dim, index)) != index
        )
        wanted = kernel_dims(version)
        if not numbers or not first_index.keys() >= set(wanted):
            return None
        return Choice(numbers, equal, tuple(first_index[dim] for dim in wanted))


class Choice(NamedTuple):
    """The extents of a kernel, by position, that select a version, and the extents passed to it."""

    numbers: tuple[tuple[int, int], ...]
    """An extent and its required number."""
    equal: tuple[tuple[int, int], ...]
    """Two extents that must be equal."""
    passed: tuple[int, ...]
    """The extents that are passed to the version."""


def version_of(function: FuncOp) -> KernelVersion | None:
    """The kernel that this function is a version of, or `None`."""
    attribute = function.attributes.get(VERSION)
    if not isinstance(attribute, DictionaryAttr):
        return None
    of, sizes, reason = (attribute.data.get(field) for field in ("of", "sizes", "reason"))
    if not isinstance(of, SymbolRefAttr) or not isinstance(sizes, DictionaryAttr) or not isinstance(reason, StringAttr):
        return None
    numbers = {name: size.value.data for name, size in sizes.data.items() if isinstance(size, IntegerAttr)}
    return KernelVersion(of.string_value(), numbers, reason.data)


def versions_by_kernel(functions: Iterable[FuncOp]) -> dict[str, list[tuple[FuncOp, KernelVersion]]]:
    """The versions of each kernel that has some, by the kernel's symbol, in the order of the functions."""
    found: dict[str, list[tuple[FuncOp, KernelVersion]]] = {}
    for function in functions:
        if (version := version_of(function)) is not None:
            found.setdefault(version.of, []).append((function, version))
    return found
