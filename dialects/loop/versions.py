"""Versions of a kernel for certain sizes of its names: functions of their own, chosen at run time.

```
func.func private @k_n1(…) attributes {loop.version = {of = @k, sizes = {n = 1 : i64}, reason = "…"}, …}
```

A version may leave names open. Its extents are some of the kernel's then: with `n = 1`, the extent `m` of the version
is what the kernel has as `m`, or as `n * m`.
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
    """Of which kernel a function is a version, for which sizes of the kernel's names, and why there is one."""

    of: str
    sizes: Mapping[str, int]
    reason: str

    def attribute(self) -> DictionaryAttr:
        """What the function says of itself."""
        sizes = DictionaryAttr({name: IntegerAttr(size, i64) for name, size in self.sizes.items()})
        return DictionaryAttr({"of": SymbolRefAttr(self.of), "sizes": sizes, "reason": StringAttr(self.reason)})

    def choice(self, kernel: FuncOp, version: FuncOp) -> Choice | None:
        """When the kernel does what `version`, its version, does for it, and with which extents.

        `None` where an extent of the kernel has no value for these sizes, no extent is a number then, or the version
        wants an extent that the kernel has not.
        """
        try:
            known = substitute(kernel_dims(kernel), self.sizes)
        except DimensionError:
            return None
        numbers = tuple((place, dim) for place, dim in enumerate(known) if isinstance(dim, int))
        places: dict[Dim, int] = {}
        equal = tuple(
            (place, first)
            for place, dim in enumerate(known)
            if not isinstance(dim, int) and (first := places.setdefault(dim, place)) != place
        )
        wanted = kernel_dims(version)
        if not numbers or not places.keys() >= set(wanted):
            return None
        return Choice(numbers, equal, tuple(places[dim] for dim in wanted))


class Choice(NamedTuple):
    """For which extents of a kernel, by their places among all, one of its versions is, and what it gets."""

    numbers: tuple[tuple[int, int], ...]
    """An extent, and the number that it is."""
    equal: tuple[tuple[int, int], ...]
    """Two extents that are equal."""
    passed: tuple[int, ...]
    """The extents that the version gets."""


def version_of(function: FuncOp) -> KernelVersion | None:
    """What a function says of the kernel that it is a version of; `None` for one that is none."""
    told = function.attributes.get(VERSION)
    if not isinstance(told, DictionaryAttr):
        return None
    of, sizes, reason = (told.data.get(field) for field in ("of", "sizes", "reason"))
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
