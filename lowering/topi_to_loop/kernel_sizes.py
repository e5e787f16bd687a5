"""Propagates the sizes of named dimensions from the graph function to the extent arguments of kernels.

```
func.func @main(…, %n: index) attributes {relay.sizes = {n = array<i64: 1, 128, 8>}} {
  func.call @k(%x, %y, %n, %m) : …                        // %m is 2 * n + 1
}
func.func private @k(…, %n: index {loop.size = array<i64: 1, 128, 8>},
                        %extent: index {loop.size = array<i64: 3, 257, 17>})
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.dialects.func import CallOp, FuncOp

from xrelay.dialects.loop.signature import dim_arguments, kernel_dims
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.relay.core.size_hints import SizeHint, size_hints
from xrelay.dialects.shared.attribute_names import SIZE
from xrelay.errors import DimensionError
from xrelay.index_algebra.dims import MAX_EXTENT, DimExpr, evaluate
from xrelay.index_algebra.shape_environment import ShapeEnvironment
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs

UNKNOWN = -1

Size: TypeAlias = tuple[int, int, int]
"""Minimum, maximum and usual value."""


def propagate_sizes(functions: Iterable[FuncOp], kernels: Mapping[str, FuncOp]) -> None:
    """Sets the sizes of the extents of `kernels` that hold for all calls in `functions`."""
    found: dict[str, list[Size]] = {}
    for function in functions:
        hints = size_hints(function)
        environment = ShapeEnvironment()
        for fact in (fact for name, hint in hints.items() for fact in hint.facts(name)):
            environment.add(fact)
        for op in walk_ops(function):
            kernel = kernels.get(op.callee.string_value()) if isinstance(op, CallOp) else None
            if kernel is not None and (dims := kernel_dims(kernel)):
                sizes = [_size(dim, hints, environment) for dim in dims]
                name = kernel.sym_name.data
                found[name] = _joined(found[name], sizes) if name in found else sizes
    versions = versions_by_kernel(kernels.values())
    for name, sizes in found.items():
        # If a version is for the usual size and that is 1, the kernel itself is for all larger sizes.
        others = [(least, most, UNKNOWN if usual == 1 else usual) for least, most, usual in sizes]
        _set_sizes(kernels[name], others if name in versions else sizes)


def _size(dim: DimExpr, hints: Mapping[str, SizeHint], environment: ShapeEnvironment) -> Size:
    if dim.names.isdisjoint(hints):
        return UNKNOWN, UNKNOWN, UNKNOWN
    low, high = environment.interval(dim)
    within = [UNKNOWN if end is None or not 0 <= end <= MAX_EXTENT else end for end in (low, high)]
    return within[0], within[1], _usual(dim, hints)


def _usual(dim: DimExpr, hints: Mapping[str, SizeHint]) -> int:
    if not dim.names <= hints.keys():
        return UNKNOWN
    try:
        return evaluate(dim, {name: hint.usual for name, hint in hints.items()})
    except DimensionError:
        return UNKNOWN


def _joined(first: Sequence[Size], second: Sequence[Size]) -> list[Size]:
    """Returns the sizes that hold for both."""
    joined: list[Size] = []
    for one, other in zip(first, second, strict=True):
        greatest = UNKNOWN if UNKNOWN in (one[1], other[1]) else max(one[1], other[1])
        joined.append((min(one[0], other[0]), greatest, one[2] if one[2] == other[2] else UNKNOWN))
    return joined


def _set_sizes(kernel: FuncOp, sizes: Sequence[Size]) -> None:
    attrs = argument_attrs(kernel)
    first = len(attrs) - len(dim_arguments(kernel))
    for attributes, size in zip(attrs[first:], sizes, strict=True):
        if size != (UNKNOWN, UNKNOWN, UNKNOWN):
            attributes[SIZE] = DenseArrayBase.from_list(i64, size)
    set_argument_attrs(kernel, attrs)
