"""Narrows the rows of local buffers in partial tiles.

The buffer of a partial tile has the extents of a full tile. A vector of five lanes in rows of 32 elements is aligned,
so LLVM loads eight, and the other three were never written. If their bits happen to be denormal numbers, a CPU takes a
hundred times as long for a product. In rows of five elements no load reads beyond the row.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, StoreOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import loop_of_index
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.loop.nest_edits import alloc_like
from xrelay.passes.loop.nest_queries import is_local, range_of


def narrow_rows(function: func.FuncOp) -> None:
    """Removes the unused ends of rows from local buffers with vectors whose number of lanes is no power of two."""
    for op in ops_of(function, memref.AllocOp):
        users = [use.operation for use in op.memref.uses]
        accesses = [user for user in users if isinstance(user, LoadOp | StoreOp)]
        columns = _columns(accesses) if is_local(op.memref) and len(accesses) == len(users) else None
        type_ = memref_type(op.memref)
        *outer, row = type_.get_shape() or (DYNAMIC_INDEX,)
        if columns is not None and columns < row and DYNAMIC_INDEX not in outer:
            narrow = alloc_like(type_, [*outer, columns])
            narrow.memref.name_hint = op.memref.name_hint
            op.memref.replace_all_uses_with(narrow.memref)
            assert op.parent is not None
            op.parent.insert_op_before(narrow, op)
            op.detach()
            op.erase()


def _columns(accesses: Sequence[LoadOp | StoreOp]) -> int | None:
    """Returns the number of used elements in a row; None if it is unknown, or if all vectors are powers of two."""
    ranges = [range_of(op.index[-1]) for op in accesses if len(op.index)]
    known = [each for each in ranges if each is not None]
    if not known or len(known) < len(accesses) or not any(map(_has_odd_vector, accesses)):
        return None
    return max(high for _, high in known) + 1


def _has_odd_vector(access: LoadOp | StoreOp) -> bool:
    """Whether the number of lanes of an access is no power of two."""
    loops = [loop for value in access.index[-1].operands if (loop := loop_of_index(value)) is not None]
    return any(_lanes(loop).bit_count() > 1 for loop in loops)


def _lanes(loop: ForOp) -> int:
    return loop.extent or 1 if loop.kind is LoopKind.VECTORIZED else 1
