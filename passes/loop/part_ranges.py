"""Where in a whole the parts of it lie, for telling that two of them do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import islice
from typing import Final

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import BlockArgument, SSAValue, Use
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.attribute_names import DIM
from xrelay.dialects.loop import PartOp, ValueMap
from xrelay.dialects.loop.extents import expression_of
from xrelay.dialects.loop.part_op import strides_of
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.affine_products import factors_of, times
from xrelay.index_algebra.value_map import Space

MANY: Final = 100
"""So many uses of a value are looked at for one that tells that it is an extent."""


def are_apart(one: SSAValue, other: SSAValue) -> bool:
    """Whether two parts of one buffer surely have no element in common."""
    first, second = _Path(one), _Path(other)
    while (common := first.meets(second)) is None:
        if not (first.goes_on() | second.goes_on()):
            return False
    if common in (one, other):
        return False
    begin, end = _range(one, first.offsets[common])
    start, stop = _range(other, second.offsets[common])
    return _is_at_most(end, start) or _is_at_most(stop, begin)


class _Path:
    """The buffers that a value is a part of, the nearest first, with the number of its first element in each."""

    def __init__(self, value: SSAValue):
        self._last, self.offsets = value, {value: ValueMap.constant(0)}

    def goes_on(self) -> bool:
        """Adds the next buffer; whether there is one."""
        op = self._last.owner
        if not isinstance(op, PartOp):
            return False
        self.offsets[op.source] = self.offsets[self._last].plus(expression_of(op.offset))
        self._last = op.source
        return True

    def meets(self, other: _Path) -> SSAValue | None:
        """The buffer that both paths have come to."""
        return next(
            (last for last in (self._last, other._last) if last in self.offsets and last in other.offsets), None
        )


def _range(part: SSAValue, begin: ValueMap) -> tuple[ValueMap, ValueMap]:
    """The first element of a part, and the one behind its last."""
    type = SSAValue.get(part, type=MemRefType).type
    if strides := strides_of(type):
        return begin, begin.plus(_span(part, strides))
    return begin, begin.plus(reduce(_product, _extents(part), ValueMap.constant(1)))


def _extents(part: SSAValue) -> list[ValueMap]:
    shape = SSAValue.get(part, type=MemRefType).type.get_shape()
    sizes = iter(part.owner.sizes if isinstance(part.owner, PartOp) else ())
    return [expression_of(next(sizes) if size == DYNAMIC_INDEX else size) for size in shape]


def _span(part: SSAValue, strides: Sequence[int]) -> ValueMap:
    """No less than the elements from the first of a part at strides to the one behind its last."""
    spans = ValueMap.constant(0)
    for extent, stride in zip(_extents(part), strides, strict=True):
        spans = spans.plus(extent, stride)
    return spans


def _product(lhs: ValueMap, rhs: ValueMap) -> ValueMap:
    space = Space(lhs.operands)
    (left,), (right,) = space.lift(lhs), space.lift(rhs)
    return ValueMap.make([times(left, right)], space.values)


def _is_at_most(lhs: ValueMap, rhs: ValueMap) -> bool:
    """Whether one number is at most the other: their difference is a sum of products of extents."""
    difference = rhs.plus(lhs, -1)
    form = linear_form(difference.exprs[0])
    return form.constant >= 0 and all(
        coefficient >= 0 and all(_is_extent(difference.operands, factor) for factor in factors_of(atom))
        for atom, coefficient in form.terms
    )


def _is_extent(operands: Sequence[SSAValue], factor: object) -> bool:
    """Whether a factor is the size of a name or the extent of a buffer, and so not negative."""
    if not isinstance(factor, AffineDimExpr):
        return False
    value = operands[factor.position]
    return _is_size_of_name(value) or any(_says_extents(use) for use in islice(value.uses, MANY))


def _is_size_of_name(value: SSAValue) -> bool:
    if not isinstance(value, BlockArgument) or not isinstance(function := value.block.parent_op(), func.FuncOp):
        return False
    attributes = function.arg_attrs
    return attributes is not None and DIM in attributes.data[value.index].data


def _says_extents(use: Use) -> bool:
    """Whether the operand is an extent: of a buffer, of the place in the arena that it got, or of a part."""
    op = use.operation
    if isinstance(op, memref.AllocOp):
        return True
    # Before the sizes come the arena or the whole, and the place in it.
    return isinstance(op, memref.ViewOp | PartOp) and use.index >= 2
