"""An estimate of the work of a parallel loop with dynamic extents, computed directly before the loop.

It counts operations on elements: arithmetic, functions, and accesses to buffers that are not on the stack, each times
its lanes and the trip counts of the loops around it. The estimate is compared only with `MIN_PARALLEL_WORK`, so every
number is clamped to that, and nothing overflows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from xdsl.dialects import arith, math, memref, scf, vector
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Block, Operation, OpResult, SSAValue

from xrelay.dialects.shared.levels import level_of_class
from xrelay.lowering.to_llvm.addressing import constant_index
from xrelay.passes.infra.conversion import ConversionRewriter
from xrelay.target.parallel_work import MIN_PARALLEL_WORK

Amount: TypeAlias = "int | SSAValue"
"""A number from 0 to `MIN_PARALLEL_WORK`, static or as an index value."""

INDEX = IndexType()

_ACCESSES = (memref.LoadOp, memref.StoreOp, vector.LoadOp, vector.StoreOp, vector.MaskedLoadOp, vector.MaskedStoreOp)
_INSTRUCTIONS = (
    math.AbsFOp,
    math.CeilOp,
    math.CopySignOp,
    math.FloorOp,
    math.FmaOp,
    math.RoundEvenOp,
    math.SqrtOp,
    math.TruncOp,
)
"""Functions for which a CPU has an instruction; others are polynomials or calls."""

_FUNCTION_WORK = 8
"""The number of operations that a function counts as."""

_MAX_DEPTH = 8
"""The maximum depth of index arithmetic from values outside the loop to the trip count of an inner loop."""


class WorkEstimate:
    """Computes the work of a parallel loop before the loop."""

    def __init__(self, loop: scf.ParallelOp, rewriter: ConversionRewriter):
        """Initialises the estimate; `rewriter` inserts before `loop`."""
        self._loop, self._rewriter = loop, rewriter

    def work(self, iterations: SSAValue) -> SSAValue | None:
        """Returns the work of so many iterations; None if it is static, or depends on values computed in the loop."""
        count = constant_index(iterations)
        inside = self._of_block(self._loop.body.block)
        if inside is None:
            return None
        work = self._product(self._cut_off(iterations if count is None else count), inside)
        return None if isinstance(work, int) else work

    # --- counted ops

    def _of_block(self, block: Block) -> Amount | None:
        """Returns the work of one execution of a block; loops in it are few and shallow."""
        return self._sum([self._of_op(op) for op in block.ops])

    def _of_op(self, op: Operation) -> Amount | None:
        if not op.regions:
            return _elements(op)
        if isinstance(op, scf.ForOp):
            trips, inside = self._trips(op), self._of_block(op.body.block)
            return None if trips is None or inside is None else self._product(trips, inside)
        if isinstance(op, scf.IfOp):
            return self._sum([self._of_block(region.block) for region in op.regions if region.blocks])
        return None

    def _trips(self, loop: scf.ForOp) -> Amount | None:
        """Returns the trip count of a loop; None if it depends on values computed inside the parallel loop."""
        if constant_index(loop.lb) != 0 or constant_index(loop.step) != 1:
            return None
        upper = self._outside(loop.ub, 0)
        return None if upper is None else self._cut_off(upper)

    # --- values before the loop

    def _outside(self, value: SSAValue, depth: int) -> Amount | None:
        """Computes a value before the parallel loop; of a minimum, one operand that is available there suffices."""
        number = constant_index(value)
        if number is not None:
            return number
        owner = value.owner
        place = owner if isinstance(owner, Operation) else owner.parent_op()
        if place is None or not self._loop.is_ancestor(place):
            return value
        if not isinstance(value, OpResult) or not isinstance(owner, Operation) or depth == _MAX_DEPTH:
            return None
        parts = [self._outside(operand, depth + 1) for operand in owner.operands]
        known = [part for part in parts if part is not None]
        if isinstance(owner, arith.MinSIOp | arith.MinUIOp) and len(known) == 1:
            return known[0]
        if owner.dialect_name() != arith.Arith.name or value.type != INDEX or len(known) < len(parts):
            return None
        copy = owner.clone(dict(zip(owner.operands, map(self._value, known), strict=True)))
        return self._rewriter.insert(copy).results[0]

    # --- clamped sums and products

    def _cut_off(self, value: Amount) -> Amount:
        if isinstance(value, int):
            return max(0, min(value, MIN_PARALLEL_WORK))
        return self._rewriter.insert(arith.MinUIOp(value, self._constant(MIN_PARALLEL_WORK))).result

    def _product(self, left: Amount, right: Amount) -> Amount:
        if isinstance(left, int) and isinstance(right, int):
            return self._cut_off(left * right)
        if isinstance(left, int):
            left, right = right, left
        if right == 1 or isinstance(left, int):
            return left
        return self._cut_off(self._rewriter.insert(arith.MuliOp(left, self._value(right))).result)

    def _sum(self, parts: Sequence[Amount | None]) -> Amount | None:
        if None in parts:
            return None
        total: Amount = self._cut_off(sum(part for part in parts if isinstance(part, int)))
        for part in parts:
            if part is not None and not isinstance(part, int):
                total = part if total == 0 else self._add(part, total)
        return total

    def _add(self, left: SSAValue, right: Amount) -> Amount:
        return self._cut_off(self._rewriter.insert(arith.AddiOp(left, self._value(right))).result)

    def _value(self, amount: Amount) -> SSAValue:
        return self._constant(amount) if isinstance(amount, int) else amount

    def _constant(self, number: int) -> SSAValue:
        return self._rewriter.insert(arith.ConstantOp.from_int_and_width(number, INDEX)).result


def _elements(op: Operation) -> int:
    """Returns the number of elements that an op computes or moves."""
    weight = _weight(type(op))
    if weight is None:
        return 0 if memref.AllocaOp in {type(operand.owner) for operand in op.operands} else _lanes(op)
    if not weight or {result.type for result in op.results} <= {INDEX}:
        return 0
    return _lanes(op) * weight


@cache
def _weight(kind: type[Operation]) -> int | None:
    """Returns the cost per element of ops of a class; None for an access to memory."""
    if issubclass(kind, _ACCESSES):
        return None
    if level_of_class(kind) not in (arith.Arith.name, math.Math.name) or issubclass(kind, arith.ConstantOp):
        return 0
    return _FUNCTION_WORK if level_of_class(kind) == math.Math.name and not issubclass(kind, _INSTRUCTIONS) else 1


def _lanes(op: Operation) -> int:
    types = [value.type for value in (*op.results, *op.operands)]
    return max([type.element_count() for type in types if isinstance(type, VectorType)], default=1)
