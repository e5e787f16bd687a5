"""Ranges of index values in a kernel: intervals of loop indices and block variables, bounds of accesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, OpResult, SSAValue

from xrelay.dialects.loop.block_op import DYNAMIC, BlockOp
from xrelay.dialects.loop.for_op import ForOp
from xrelay.index_algebra.affine_bounds import Interval, bounds
from xrelay.index_algebra.value_map import ValueMap

MAX_CHOICES = 6
"""Up to so many variables in an index all combinations of domains and bindings are tried for its bounds."""


def loop_of_index(value: SSAValue) -> ForOp | None:
    """The loop whose index `value` is; `None` for any other value."""
    if isinstance(value, BlockArgument) and isinstance(owner := value.block.parent_op(), ForOp):
        return owner
    return None


def interval_of(value: SSAValue) -> Interval | None:
    """The values that an index can have: a loop index, a block variable or a constant; `None` if not known."""
    if isinstance(value, OpResult):
        if isinstance(value.op, arith.ConstantOp) and isinstance(value.op.value, IntegerAttr):
            return value.op.value.value.data, value.op.value.value.data
        return None
    if not isinstance(value, BlockArgument):
        return None
    owner = value.block.parent_op()
    if isinstance(owner, ForOp):
        return None if owner.extent is None else (0, owner.extent - 1)
    position = _position(value, owner) if isinstance(owner, BlockOp) else None
    if not isinstance(owner, BlockOp) or position is None:
        return None
    extent = owner.extents[position]
    return None if extent == DYNAMIC else (0, extent - 1)


def _position(value: BlockArgument, block: BlockOp) -> int | None:
    """Which variable of the block its argument is; `None` where the block is malformed, which it reports itself."""
    count, bindings = len(block.kinds), block.bindings_attr.data
    if not count == len(block.extents) == len(bindings.results) or bindings.num_dims != len(block.binding_operands):
        return None
    positions = range(count) if value.block is block.body.first_block else block.spatial
    return positions[value.index] if value.index < len(positions) else None


def binding_of(value: SSAValue) -> ValueMap | None:
    """The binding of a block variable; `None` for any other value."""
    if not isinstance(value, BlockArgument) or not isinstance(owner := value.block.parent_op(), BlockOp):
        return None
    position = _position(value, owner)
    return None if position is None else owner.bindings[position]


def in_loop_indices(index: ValueMap) -> ValueMap:
    """`index` with block variables replaced by their bindings."""
    bindings = {value: binding for value in index.operands if (binding := binding_of(value)) is not None}
    return index.substitute(bindings).simplified()


def out_of_range(index: ValueMap, shape: Sequence[int]) -> Iterator[tuple[int, Interval]]:
    """The positions at which `index` leaves a buffer of this shape, with the interval that it takes there.

    Intervals follow from the domains of the block's variables and from their bindings: in `%v - %io * 16` with
    `%v = %io * 16 + %ii` the binding tells, in `%v + %w - %io * 16` with `%w` cut off by its domain the binding of the
    one and the domain of the other. Each choice is tried until one shows that all is well. Nothing is said about
    dimensions and indices that are known only at run time, and code that never runs.
    """
    for position, size in enumerate(shape):
        interval = _interval_in(index[position], size) if size >= 0 else None
        if interval is not None and interval[0] <= interval[1] and not _is_inside(interval, size):
            yield position, interval


def _interval_in(expression: ValueMap, size: int) -> Interval | None:
    """The values of one expression: the first interval found that is inside `[0, size)`, else the tightest."""
    bindings = [(value, binding) for value in expression.operands if (binding := binding_of(value)) is not None]
    result: Interval | None = None
    for chosen in _choices(bindings):
        candidate = expression.substitute(dict(chosen)).simplified() if chosen else expression
        box = [interval_of(value) for value in candidate.operands]
        result = _tighter(result, bounds(candidate.exprs[0], box))
        if result is not None and _is_inside(result, size):
            break
    return result


def _is_inside(interval: Interval, size: int) -> bool:
    return interval[0] >= 0 and interval[1] < size


def _choices(bindings: Sequence[tuple[SSAValue, ValueMap]]) -> Iterator[tuple[tuple[SSAValue, ValueMap], ...]]:
    """The subsets of a few bindings; of many only the empty one, those of one less than all, and all."""
    count = len(bindings)
    sizes = range(count + 1) if count <= MAX_CHOICES else sorted({0, count - 1, count})
    return chain.from_iterable(combinations(bindings, size) for size in sizes)


def _tighter(left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return right if left is None else left
    return max(left[0], right[0]), min(left[1], right[1])
