"""Loads that the first lane of a partial row executes, so that vectors without active lanes may execute them, too.

A tile of rows after the last full tile has masks on its lanes, and vectors after the first one may have no active lane:

    scf.if (%full < %tiles) {                                   %full = %n floordiv 32, %tiles = %n ceildiv 32
      loop.for "v" %v to 2 { loop.for "l" %l to 16 vectorized {
        scf.if (%full * 32 + %v * 16 + %l < %n) {
          %x = loop.load %X[%i]                                 the lane 0 of %v = 0 reads this element
          %y = loop.load %Y[%full * 32 + %v * 16 + %l]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr

from xrelay.dialects.loop import ForOp, LoadOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.passes.loop.index_conditions import affine, positive_where
from xrelay.passes.loop.nest_queries import is_nonnegative


def runs_in_first_lane(load: LoadOp) -> bool:
    """Whether a load has a condition, and the first lane of the first vector is certain to load the same element.

    The indices of loops directly around the condition are 0 in this lane, if the condition depends on them. Conditions
    around these loops have to imply that the condition of the load holds. Rows of dynamic length keep their branches:
    LLVM would keep an address for each row of the full tile in a register, and spill its sums.
    """
    test = load.parent_op()
    if memref_type(load.memref).get_shape()[-1:] == (DYNAMIC_INDEX,):
        return False
    if not isinstance(test, scf.IfOp) or load.parent_region() is not test.true_region:
        return False
    limits = positive_where(test.cond.owner, holds=True) if isinstance(test.cond.owner, arith.CmpiOp) else ()
    loops = list(_loops_around(test))
    if len(limits) != 1 or not loops:
        return False
    zeros = {loop.index: ValueMap.constant(0) for loop in loops if loop.index in limits[0].operands}
    values = [*load.index.operands, *(extent for loop in loops for extent in loop.operands)]
    if not zeros or _depends_on(values, zeros):
        return False
    first = limits[0].substitute(zeros).simplified()
    return any(is_nonnegative(first.plus(known, -1).simplified()) for known in _positive_around(loops[-1]))


def _loops_around(op: Operation) -> Iterator[ForOp]:
    """Yields the loops around an op, from the inside, up to the first op of another kind."""
    around = op.parent_op()
    while isinstance(around, ForOp):
        yield around
        around = around.parent_op()


def _depends_on(values: Sequence[SSAValue], indices: dict[SSAValue, ValueMap]) -> bool:
    """Whether one of the values is one of the indices, or computed from one."""
    pending, known = list(values), set(values)
    while pending:
        value = pending.pop()
        if value in indices:
            return True
        below = value.owner.operands if isinstance(value.owner, Operation) else ()
        pending += [each for each in below if each not in known]
        known.update(below)
    return False


def _positive_around(op: Operation) -> Iterator[ValueMap]:
    """Yields expressions that are positive whenever an op runs, by the conditions around it."""
    inner, around = op, op.parent_op()
    while around is not None:
        test = around.cond.owner if isinstance(around, scf.IfOp) else None
        if isinstance(test, arith.CmpiOp) and inner.parent_region() is around.regions[0]:
            yield from positive_where(test, holds=True)
            if (rest := _rest_of_tiles(test)) is not None:
                yield rest
        inner, around = around, around.parent_op()


def _rest_of_tiles(test: arith.CmpiOp) -> ValueMap | None:
    """Returns `n - n floordiv c * c` for the comparison `n floordiv c < n ceildiv c`; None for others."""
    full, tiles = affine(test.lhs), affine(test.rhs)
    quotients = [expr for expr in (full.exprs[0], tiles.exprs[0]) if isinstance(expr, AffineBinaryOpExpr)]
    if test.predicate.value.data != _LESS or [each.kind for each in quotients] != [AffineBinaryOpKind.FloorDiv] * 2:
        return None
    (count, size), (rounded, other) = [(each.lhs, each.rhs) for each in quotients]
    whole = ValueMap((count,), full.operands)
    over = ValueMap((rounded,), tiles.operands).plus(whole, -1).simplified().exprs[0]
    if not isinstance(size, AffineConstantExpr) or size != other or over != AffineConstantExpr(size.value - 1):
        return None
    return whole.plus(full, -size.value)


_LESS = 2
"""The predicate `slt` of `arith.cmpi`."""
