"""Ranges of index values in a kernel: intervals of loop indices and block variables, bounds of accesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, OpResult, SSAValue

from xrelay.dialects.loop.block_op import DYNAMIC, BlockOp, Extent
from xrelay.dialects.loop.extents import MAX_EXTENT, expression_of, is_index_argument
from xrelay.dialects.loop.for_op import ForOp
from xrelay.index_algebra.affine_bounds import Interval, bounds
from xrelay.index_algebra.value_map import ValueMap

MAX_CHOICES = 6
"""Indices with up to this many variables are bounded by all combinations of domains and bindings."""


def loop_of_index(value: SSAValue) -> ForOp | None:
    """The loop with index `value`, or `None`."""
    if isinstance(value, BlockArgument) and isinstance(owner := value.block.parent_op(), ForOp):
        return owner
    return None


def interval_of(value: SSAValue) -> Interval | None:
    """An interval that contains an index: like `exact_interval_of`, but with bounds for extents that are values.

    An `index` argument of a kernel is in `[0, MAX_EXTENT]`. `None` if nothing is known.
    """
    exact = exact_interval_of(value)
    if exact is not None or type(value) is not BlockArgument:
        return exact
    if is_index_argument(value):
        return 0, MAX_EXTENT
    extent = _extent_of(value)
    if not isinstance(extent, SSAValue):
        return None
    known = range_of(expression_of(extent))
    return None if known is None else (0, max(known[1], 1) - 1)


def range_of(index: ValueMap) -> Interval | None:
    """An interval that contains the one expression of `index`; `None` if unknown."""
    return bounds(index.exprs[0], [interval_of(value) for value in index.operands])


def exact_interval_of(value: SSAValue) -> Interval | None:
    """The exact range of a loop index, a block variable or a constant; `None` if an extent is not a number."""
    # Exact types, here and below: this runs for every index, and `isinstance` of an abstract class is ten times slower.
    if type(value) is OpResult:
        if type(value.op) is arith.ConstantOp and isinstance(value.op.value, IntegerAttr):
            return value.op.value.value.data, value.op.value.value.data
        return None
    extent = _extent_of(value) if type(value) is BlockArgument else None
    return (0, extent - 1) if isinstance(extent, int) and extent != DYNAMIC else None


def _extent_of(value: BlockArgument) -> Extent | None:
    """The extent of a loop index or a block variable."""
    owner = value.block.parent_op()
    if type(owner) is ForOp:
        return owner.dynamic_extent if owner.extent is None else owner.extent
    position = _position(value, owner) if type(owner) is BlockOp else None
    return owner.extents[position] if type(owner) is BlockOp and position is not None else None


def _position(value: BlockArgument, block: BlockOp) -> int | None:
    """The variable of the block for an argument; `None` if the block is malformed, which its verifier reports."""
    if not block.is_consistent:
        return None
    positions = range(len(block.kinds)) if value.block is block.body.first_block else block.spatial
    return positions[value.index] if value.index < len(positions) else None


def binding_of(value: SSAValue) -> ValueMap | None:
    """The binding of a block variable, or `None` for other values."""
    if not isinstance(value, BlockArgument) or not isinstance(owner := value.block.parent_op(), BlockOp):
        return None
    position = _position(value, owner)
    return None if position is None else owner.bindings[position]


def in_loop_indices(index: ValueMap) -> ValueMap:
    """`index` with block variables replaced by their bindings."""
    bindings = {value: binding for value in index.operands if (binding := binding_of(value)) is not None}
    return index.substitute(bindings).simplified()


def out_of_range(index: ValueMap, shape: Sequence[int]) -> Iterator[tuple[int, Interval]]:
    """Yields the positions at which `index` exceeds a buffer of this shape, with the interval of the index.

    Intervals follow from the domains of the block's variables and from their bindings: `%v - %io * 16` with `%v = %io *
    16 + %ii` needs the binding; `%v + %w - %io * 16` with `%w` limited by its domain needs the binding of the one and
    the domain of the other. Combinations are tried until one proves that the index is in bounds. Dimensions and indices
    known only at run time, and code that never runs, are not reported.
    """
    for position, size in enumerate(shape):
        interval = _interval_in(index[position], size) if size >= 0 else None
        if interval is not None and interval[0] <= interval[1] and not _is_inside(interval, size):
            yield position, interval


def _interval_in(expression: ValueMap, size: int) -> Interval | None:
    """The range of one expression: the first interval found that is in `[0, size)`, else the tightest."""
    bindings = [(value, binding) for value in expression.operands if (binding := binding_of(value)) is not None]
    result: Interval | None = None
    for chosen in _choices(bindings):
        candidate = expression.substitute(dict(chosen)).simplified() if chosen else expression
        box = [exact_interval_of(value) for value in candidate.operands]
        result = _tighter(result, bounds(candidate.exprs[0], box))
        if result is not None and _is_inside(result, size):
            break
    return result


def _is_inside(interval: Interval, size: int) -> bool:
    return interval[0] >= 0 and interval[1] < size


def _choices(bindings: Sequence[tuple[SSAValue, ValueMap]]) -> Iterator[tuple[tuple[SSAValue, ValueMap], ...]]:
    """All subsets of a few bindings; of many bindings only the empty one, those without one binding, and all."""
    count = len(bindings)
    sizes = range(count + 1) if count <= MAX_CHOICES else sorted({0, count - 1, count})
    return chain.from_iterable(combinations(bindings, size) for size in sizes)


def _tighter(left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return right if left is None else left
    return max(left[0], right[0]), min(left[1], right[1])
