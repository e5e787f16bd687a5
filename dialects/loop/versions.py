"""Versions of a kernel for certain sizes of its names: functions of their own, chosen at run time.

```
func.func private @k_n1(…) attributes {loop.version = {of = @k, sizes = {n = 1 : i64}, reason = "…"}, …}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, SymbolRefAttr, i64
from xdsl.dialects.func import FuncOp

from xrelay.dialects.attribute_names import VERSION
from xrelay.dialects.loop.signature import kernel_dims
from xrelay.errors import DimensionError
from xrelay.index_algebra.dims import evaluate


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

    def extents(self, kernel: FuncOp) -> tuple[int, ...] | None:
        """The values of the kernel's `index` arguments for these sizes; `None` where one has none."""
        try:
            return tuple(evaluate(dim, self.sizes) for dim in kernel_dims(kernel))
        except DimensionError:
            return None


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
