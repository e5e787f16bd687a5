"""Bounds of the extents of intermediate buffers, as dimensions over the names that `@main` binds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from xrelay.errors import DimensionError
from xrelay.index_algebra.dims import MAX_EXTENT, Dim, greatest, least, quotient

_SUMS = (arith.AddiOp, arith.MuliOp, arith.MaxSIOp, arith.MaxUIOp)
_QUOTIENTS = (arith.DivUIOp, arith.DivSIOp, arith.FloorDivSIOp)
_MINIMA = (arith.MinSIOp, arith.MinUIOp)
_EVERY = MAX_EXTENT // 2
"""Integer bounds from this value on are dropped: every extent has them."""
_SGE = 5
"""The number of the predicate `sge`."""


class ExtentBounds:
    """Finds upper bounds of nonnegative `index` values, such as extents.

    A value that an op computes from data, such as the number of nonzero elements, has the bound that is asserted of it.
    """

    def __init__(self, names: Mapping[SSAValue, Dim]):
        """`names` maps the values of names to dimensions."""
        self._known: dict[SSAValue, Dim | None] = dict(names)

    def of(self, value: SSAValue) -> Dim | None:
        """The bound of `value`, or `None`."""
        pending, begun = [value], set[SSAValue]()
        while pending:
            last = pending[-1]
            parts = () if last in self._known else _parts(last)
            missing = [part for part in parts if part not in self._known and part not in begun]
            begun.add(last)
            if missing:
                pending += missing
                continue
            pending.pop()
            if last not in self._known:
                self._known[last] = _bound(last, [self._known.get(part) for part in parts])
        return self._known[value]


def _parts(value: SSAValue) -> tuple[SSAValue, ...]:
    """The values whose bounds determine the bound of `value`."""
    if isinstance(value.owner, (*_SUMS, *_QUOTIENTS, *_MINIMA, arith.SubiOp)):
        return tuple(value.owner.operands)
    return tuple(_asserted(value))


def _asserted(value: SSAValue) -> list[SSAValue]:
    """The values that are asserted to be at least `value`."""
    compares = [use.operation for use in value.uses if use.index == 1]
    return [
        op.operands[0]
        for op in compares
        if isinstance(op, arith.CmpiOp)
        and op.predicate.value.data == _SGE
        and any(isinstance(use.operation, cf.AssertOp) for use in op.result.uses)
    ]


def _bound(value: SSAValue, parts: Sequence[Dim | None]) -> Dim | None:
    """The bound of a value, computed from the bounds of its parts."""
    op = value.owner
    known = [part for part in parts if part is not None]
    if isinstance(op, arith.ConstantOp):
        return op.value.value.data if isinstance(op.value, IntegerAttr) else None
    if isinstance(op, (*_SUMS, *_QUOTIENTS, arith.SubiOp)):
        try:
            return _combined(op, *known) if len(known) == 2 else None
        except DimensionError:
            return None  # the dimension would nest more quotients than `Dim` allows
    limits = [part for part in known if not isinstance(part, int) or part < _EVERY]
    return reduce(least, limits) if limits else None


def _combined(op: Operation, lhs: Dim, rhs: Dim) -> Dim | None:
    match op:
        case arith.AddiOp():
            return lhs + rhs
        case arith.MuliOp():
            return lhs * rhs if all(not isinstance(each, int) or each >= 0 for each in (lhs, rhs)) else None
        case arith.SubiOp():
            return lhs - rhs if isinstance(rhs, int) else lhs
        case arith.MaxSIOp() | arith.MaxUIOp():
            return greatest(lhs, rhs)
        case _:
            return quotient(lhs, rhs) if isinstance(rhs, int) and rhs > 0 else lhs
