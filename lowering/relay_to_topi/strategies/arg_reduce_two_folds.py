"""`relay.argmax` and `relay.argmin` of long rows: two folds, which are vectorised along the rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, i32
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.reduction import Reduction, fold
from xrelay.dialects.relay.ops.tensor.arg_reduce import ArgmaxOp, ArgminOp, ArgReduceOp
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.topi.build import Body, value_range
from xrelay.lowering.relay_to_topi.registry import implements

LONG_ROW = 32
"""The minimum row length for two folds, which are then faster than a sequential fold. Dynamic rows are long."""

NO_INDEX = (1 << 31) - 2
"""More than each index. The greatest integer would be the neutral element of a minimum: LLVM then replaces the minimum
by branches, and does not vectorise it."""


def _rows_are_short(op: Operation) -> str | None:
    """Returns why an op does not use two folds, or None if it does."""
    assert isinstance(op, ArgReduceOp)
    shape = shape_of_type(op.data.type)
    axes = op.reduced_axes(len(shape))
    if len(shape) - 1 not in axes:
        return "elements are contiguous along an axis that stays"
    count = prod(extent if isinstance(extent, int) else LONG_ROW for extent in (shape[axis] for axis in axes))
    return f"{count} elements are folded" if count < LONG_ROW else None


@implements(ArgmaxOp, "argmax.two_folds", priority=11, condition=_rows_are_short)
@implements(ArgminOp, "argmin.two_folds", priority=11, condition=_rows_are_short)
def build_two_folds(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds the extreme element of each row, then the least or greatest index of elements equal to it."""
    op, data, reduction = cast(ArgReduceOp, build.op), build.operand(0), Reduction.of(build)
    last, (least, most) = bool(op.select_last_index.value.data), value_range(element_of(data))
    if op.GREATEST:
        extreme = fold(build, "extreme", least, lambda b, acc, x: b.largest(acc, x))
    else:
        extreme = fold(build, "extreme", most, lambda b, acc, x: b.smallest(acc, x))
    missing = -1 if last else NO_INDEX

    def candidate(b: Body, at: list[AffineExpr]) -> SSAValue:
        value = b.read(data, *at)
        chosen = b.compare(value, "eq", b.read(extreme, *b.spatial))
        if isinstance(value.type, AnyFloat):
            # If an element is NaN, so is the extreme, which compares unequal to everything.
            chosen = b.logical_or(chosen, b.add(arith.CmpfOp(value, value, "uno")))
        return b.select(chosen, reduction.number(b), missing)

    def pick(b: Body, acc: SSAValue, x: SSAValue) -> SSAValue:
        return b.maximum(acc, x) if last else b.minimum(acc, x)

    return [fold(build, op.relay_name(), missing, pick, i32, candidate)]
