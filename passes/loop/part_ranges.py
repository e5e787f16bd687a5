"""Ranges of the parts of a buffer, and whether they may overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from itertools import combinations, islice, pairwise, product
from typing import Final

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import BlockArgument, SSAValue, Use
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import SubviewOp, ValueMap
from xrelay.dialects.loop.extents import expression_of
from xrelay.dialects.loop.subview_op import strides_of
from xrelay.dialects.shared.attribute_names import DIM
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.affine_products import factors_of, times
from xrelay.index_algebra.linear_form import LinearForm
from xrelay.index_algebra.value_map import Space

MANY: Final = 100
"""The largest number of uses of a value that are searched for a use as an extent."""


def whole_of(value: SSAValue) -> SSAValue:
    """The outermost buffer that a value is a part of, or the value itself."""
    while isinstance(op := value.owner, SubviewOp):
        value = op.source
    return value


def overlapping_parts(parts: Sequence[SSAValue]) -> set[int]:
    """The positions of the `parts` of one buffer that may have an element in common with another of them.

    Ranges of constant size at constant distances from each other are sorted. Other ranges are compared in pairs, unless
    each part ends before the next one begins.
    """
    if any(not isinstance(part.owner, SubviewOp) for part in parts):
        return set(range(len(parts)))
    ranges = [_range(part) for part in parts]
    groups: defaultdict[ValueMap, list[tuple[int, int, int]]] = defaultdict(list)
    alone: list[int] = []
    for number, (begin, end) in enumerate(ranges):
        if (size := _constant(end.plus(begin, -1))) is None:
            alone.append(number)
        else:
            base, first = _without_constant(begin)
            groups[base].append((first, first + size, number))
    if len(alone) + len(groups) > 1 and all(_is_at_most(one[1], other[0]) for one, other in pairwise(ranges)):
        return set()
    found = {number for group in groups.values() for number in _overlapping_intervals(group)}
    sets = [*([number] for number in alone), *([number for *_, number in group] for group in groups.values())]
    for these, those in combinations(sets, 2):
        for one, other in product(these, those):
            if not _are_apart(ranges[one], ranges[other]):
                found |= {one, other}
    return found


def _overlapping_intervals(intervals: Sequence[tuple[int, int, int]]) -> set[int]:
    """The last fields of intervals, as (begin, end, number), that overlap another interval."""
    found: set[int] = set()
    last, reach = -1, 0
    for begin, end, number in sorted(intervals):
        if last >= 0 and begin < reach:
            found |= {last, number}
        if last < 0 or end > reach:
            last, reach = number, end
    return found


def _are_apart(one: tuple[ValueMap, ValueMap], other: tuple[ValueMap, ValueMap]) -> bool:
    return _is_at_most(one[1], other[0]) or _is_at_most(other[1], one[0])


def _constant(number: ValueMap) -> int | None:
    form = linear_form(number.exprs[0])
    return None if form.terms else form.constant


def _without_constant(number: ValueMap) -> tuple[ValueMap, int]:
    """The terms of a sum, and its constant."""
    form = linear_form(number.exprs[0])
    return ValueMap.make([LinearForm(form.terms).expr()], number.operands), form.constant


def _begin(value: SSAValue) -> ValueMap:
    """The first element of a part in its outermost buffer."""
    begin = ValueMap.constant(0)
    while isinstance(op := value.owner, SubviewOp):
        begin, value = begin.plus(expression_of(op.offset)), op.source
    return begin


def _range(part: SSAValue) -> tuple[ValueMap, ValueMap]:
    """The first element of a part in its outermost buffer, and the element after its last."""
    begin, type = _begin(part), SSAValue.get(part, type=MemRefType).type
    if strides := strides_of(type):
        return begin, begin.plus(_span(part, strides))
    return begin, begin.plus(reduce(_product, _extents(part), ValueMap.constant(1)))


def _extents(part: SSAValue) -> list[ValueMap]:
    shape = SSAValue.get(part, type=MemRefType).type.get_shape()
    sizes = iter(part.owner.sizes if isinstance(part.owner, SubviewOp) else ())
    return [expression_of(next(sizes) if size == DYNAMIC_INDEX else size) for size in shape]


def _span(part: SSAValue, strides: Sequence[int]) -> ValueMap:
    """An upper bound of the distance from the first element of a strided part to the element after its last."""
    spans = ValueMap.constant(0)
    for extent, stride in zip(_extents(part), strides, strict=True):
        spans = spans.plus(extent, stride)
    return spans


def _product(lhs: ValueMap, rhs: ValueMap) -> ValueMap:
    space = Space(lhs.operands)
    (left,), (right,) = space.lift(lhs), space.lift(rhs)
    return ValueMap.make([times(left, right)], space.values)


def _is_at_most(lhs: ValueMap, rhs: ValueMap) -> bool:
    """Whether `lhs` is at most `rhs`: their difference is a sum of products of extents."""
    difference = rhs.plus(lhs, -1)
    form = linear_form(difference.exprs[0])
    return form.constant >= 0 and all(
        coefficient >= 0 and all(_is_extent(difference.operands, factor) for factor in factors_of(atom))
        for atom, coefficient in form.terms
    )


def _is_extent(operands: Sequence[SSAValue], factor: object) -> bool:
    """Whether a factor is the size of a name or the extent of a buffer, and therefore nonnegative."""
    if not isinstance(factor, AffineDimExpr):
        return False
    value = operands[factor.position]
    return _is_size_of_name(value) or any(_names_extents(use) for use in islice(value.uses, MANY))


def _is_size_of_name(value: SSAValue) -> bool:
    if not isinstance(value, BlockArgument) or not isinstance(function := value.block.parent_op(), func.FuncOp):
        return False
    attributes = function.arg_attrs
    return attributes is not None and DIM in attributes.data[value.index].data


def _names_extents(use: Use) -> bool:
    """Whether the operand is an extent: of an allocation, a view or a part."""
    op = use.operation
    if isinstance(op, memref.AllocOp):
        return True
    # The sizes follow the arena or the whole, and the offset in it.
    return isinstance(op, memref.ViewOp | SubviewOp) and use.index >= 2
