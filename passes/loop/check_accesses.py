"""`loop-check-accesses`: adds run-time checks to accesses that are not proven to be in bounds.

The compiler guards the accesses that it makes. Other programs may access a buffer under a condition or at a computed
index; these accesses are proven here or checked at run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.loop import CheckedIndexOp, LoadOp, RowOp, SortOp, StoreOp, SuppressOp, ValueMap
from xrelay.dialects.loop.extents import exact_interval_of, expression_of, extents_of
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import bounds
from xrelay.index_algebra.value_map import join_maps
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.index_conditions import affine, positive_where
from xrelay.passes.loop.nest_edits import compute
from xrelay.passes.loop.nest_queries import box_of, is_nonnegative, is_within, require_lowered_blocks

INDEX_LIMIT: Final = 1 << 62
"""The limit below which indices do not overflow, since they are computed in 64 bits."""


@dataclass(frozen=True)
class LoopCheckAccessesPass(XRelayPass):
    """Checks each index of a load or store that may be out of bounds, by ranges of loops and by conditions.

    In a branch of an `scf.if`, the comparisons that hold in the branch count as bounds, also those in a conjunction.

    Before → after:

    ```
    %x = loop.load %X[%i + %k] : memref<8xf32>  →  %j = arith.addi %i, %k : index
                                                   %c = loop.checked_index %j of 8
                                                   %x = loop.load %X[%c] : memref<8xf32>
    ```

    The row indices of `loop.sort` and `loop.suppress` are checked likewise. Raises `LoweringError` for buffers with
    unknown extents, and for indices that may need more than 64 bits.
    """

    name = "loop-check-accesses"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Checks the accesses of every function of the module. Raises `LoweringError` for a `loop.block`."""
        require_lowered_blocks(op, self.name)
        for function in op.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                check_accesses(function)


def check_accesses(function: FuncOp) -> None:
    """Checks the accesses of one function, in place."""
    for op in ops_of(function, arith.AddiOp, arith.SubiOp, arith.MuliOp):
        if isinstance(op.result.type, IndexType):
            _require_small(op, affine(op.result))
    for access in ops_of(function, LoadOp, StoreOp):
        index, extents = access.index, extents_of(access.memref)
        checked = [_checked(access, index[axis], extent) for axis, extent in enumerate(extents)]
        if any(new is not None for new in checked):
            access.index = join_maps([index[axis] if new is None else new for axis, new in enumerate(checked)])
    for row in ops_of(function, SortOp, SuppressOp):
        for place, extent in _row_extents(row):
            new = _checked(row, ValueMap.identity((row.operands[place],)), extent)
            if new is not None:
                row.operands[place] = new.operands[0]


def _row_extents(row: RowOp) -> Iterator[tuple[int, int | SSAValue | None]]:
    """Yields the operands that are row indices, each with the number of rows along its dimension."""
    if isinstance(row, SortOp):
        extents = list(extents_of(row.source))
        del extents[row.axis.value.data]
        return enumerate(extents, start=1)
    assert isinstance(row, SuppressOp), "there are no other ops on rows"
    return enumerate(extents_of(row.order)[:2])


def _checked(op: Operation, index: ValueMap, extent: int | SSAValue | None) -> ValueMap | None:
    """Returns the index with a check before `op`, or None if the index is in bounds."""
    if extent is None:
        raise LoweringError(f"the buffer that {op.name} accesses has an unknown extent", location=location_of(op))
    if _is_inside(op, index, expression_of(extent)):
        return None
    ops: list[Operation] = []
    value = compute(index, ops)
    check = CheckedIndexOp(value, extent)
    assert op.parent is not None, "accesses are in blocks"
    op.parent.insert_ops_before([*ops, check], op)
    return ValueMap.identity((check.result,))


def _is_inside(op: Operation, index: ValueMap, extent: ValueMap) -> bool:
    """Whether the index of an access is in `[0, extent)` wherever `op` runs."""
    if (known := _checked_extent(index)) is not None and known == extent:
        return True
    _require_small(op, index)
    index = index.substitute({value: affine(value) for value in index.operands if isinstance(value, OpResult)})
    if bounds(index.exprs[0], box_of(index)) is None:
        return False
    not_below, not_above = is_within(index, extent)
    if not_below and not_above:
        return True
    limits = _limits(op)
    room = extent.plus(index, -1).plus(-1)
    return (not_below or _follows(index, limits)) and (not_above or _follows(room, limits))


def _follows(value: ValueMap, limits: Sequence[ValueMap]) -> bool:
    """Whether `value` is 0 or more, given that each of `limits` is positive."""
    return any(is_nonnegative(value.plus(limit, -1).plus(1)) for limit in limits)


def _checked_extent(index: ValueMap) -> ValueMap | None:
    """The extent of the `loop.checked_index` that defines an index; `None` for any other index."""
    if len(index.operands) != 1 or index != ValueMap.identity(index.operands):
        return None
    owner = index.operands[0].owner
    if not isinstance(owner, CheckedIndexOp):
        return None
    return expression_of(owner.size if owner.dynamic_size is None else owner.dynamic_size)


def _require_small(op: Operation, index: ValueMap) -> None:
    """Raises `LoweringError` if a part of an index that `op` computes or uses may need more than 64 bits.

    Extents that are values are those of buffers in memory, and so are small enough.
    """
    box = [exact_interval_of(value) for value in index.operands]
    for part in index.exprs[0].dfs():
        known = bounds(part, box)
        if known is not None and not -INDEX_LIMIT < known[0] <= known[1] < INDEX_LIMIT:
            message = f"an index of {op.name} may run from {known[0]} to {known[1]}"
            raise LoweringError(message, location=location_of(op), help="keep indices below 2 ** 62")


# --- conditions


def _limits(op: Operation) -> list[ValueMap]:
    """Expressions that are positive whenever `op` runs, derived from the conditions of enclosing branches."""
    found: list[ValueMap] = []
    inner, around = op, op.parent_op()
    while around is not None and not isinstance(around, FuncOp):
        if isinstance(around, scf.IfOp):
            holds = inner.parent_region() is around.true_region
            for test, true in _tests(around.cond, holds=holds):
                found += positive_where(test, holds=true)
        inner, around = around, around.parent_op()
    return found


def _tests(condition: SSAValue, *, holds: bool) -> Iterator[tuple[arith.CmpiOp, bool]]:
    """Yields the comparisons implied by `condition` being true or false, each with its result."""
    pending = [(condition, holds)]
    while pending:
        value, true = pending.pop()
        owner = value.owner
        if isinstance(owner, arith.CmpiOp):
            yield owner, true
        elif isinstance(owner, arith.AndIOp if true else arith.OrIOp):
            pending += ((operand, true) for operand in owner.operands)
        elif isinstance(owner, arith.XOrIOp) and _is_true(owner.rhs):
            pending.append((owner.lhs, not true))


def _is_true(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr) and owner.value.value.data != 0
