"""Tiles for nests that read an operand across its cache lines, as a transposition does."""

from __future__ import annotations

from xrelay.dialects.loop import BlockOp, LoadOp
from xrelay.dialects.loop.schedule import Reorder, Split, Unroll
from xrelay.dialects.shared.op_lists import all_ops, ops_in
from xrelay.lowering.topi_to_loop.schedules.expected_sizes import expected_shape
from xrelay.lowering.topi_to_loop.schedules.kernel_view import loop_of_variable
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft

TRANSPOSED_TILE, TRANSPOSED_ROW = 8, 16
"""The number of neighbours of a transposed operand to read at a time, and the length of a row to write: a cache line.

Lines a power of two apart compete for the same eight ways of a set of the L1 cache, so eight lines are written at once.
"""

_PIECE = 8
"""The length of a row that is written by straight-line code, which LLVM turns into vector loads, shuffles and stores.

For 8 x 16 elements whose lines are unknown distances apart LLVM does so too, but compiles for 2 s instead of 0.2, and
the result is slower: 82 us instead of 74 for 64 channels of 56 x 56 on a Zen 4, 95 instead of 77 for 512 x 384.
"""

_COPIED = 6
"""The maximum number of ops in a block that only moves elements."""


def transposed_along(block: BlockOp, row: str) -> str | None:
    """Returns the loop along which a load is contiguous for whole cache lines, unless it is the innermost loop."""
    loops = {variable: loop_of_variable(block, position) for position, variable in enumerate(block.variables)}
    for load in ops_in(block.body):
        if not isinstance(load, LoadOp) or (expected_shape(load.memref) or [0])[-1] < TRANSPOSED_ROW:
            continue
        along = [loop for v in load.index[-1].operands if (loop := loops.get(v)) is not None]
        if len(along) == 1 and row not in along and any(loops.get(v) == row for v in load.index_operands):
            return along[0]
    return None


def tile_transposed(draft: ScheduleDraft, name: str, loops: list[str], other: str | None) -> list[str]:
    """Tiles a transposition so that each line of the operand is read once, and pieces of a few rows are written.

    ```
    for i: for j: Y[i, j] = X[j, i]   →   for i_o: for j_o: for i_i in 8: for j_i in 16: Y[i, j] = X[j, i]
    ```

    `other` is the loop along which a load is contiguous. Returns the loops that replace `loops`; the same loops if
    `other` is not among the outer ones.
    """
    *outer, row = loops
    if other not in outer:
        return loops
    inner: list[str] = []
    for loop, tile in ((other, TRANSPOSED_TILE), (row, TRANSPOSED_ROW)):
        position, longer = outer.index(loop) if loop in outer else len(outer), draft.is_longer(loop, tile)
        outer[position : position + 1] = [f"{loop}_o"] if longer else []
        inner.append(f"{loop}_i" if longer else loop)
        if longer:
            draft.do(Split(loop, tile, names=(f"{loop}_o", f"{loop}_i")))
    draft.do(Reorder((*outer, *inner)))
    draft.because(f"tiles of {draft.extent(inner[0])} x {draft.extent(inner[1])}, since a read is transposed")
    return [*outer, *_in_straight_pieces(draft, name, *inner)]


def _in_straight_pieces(draft: ScheduleDraft, name: str, other: str, row: str) -> list[str]:
    """Writes a tile that only moves elements as two halves of straight-line code.

    ```
    for i_i in 8: for j_i in 16: …   →   for j_h in 2: unrolled i_i in 8: unrolled j_p in 8: …
    ```

    Returns the loops of the tile.
    """
    if draft.extent(row) != TRANSPOSED_ROW or len(list(all_ops(draft.block(name)))) > _COPIED:
        return [other, row]
    half, piece = f"{row}_h", f"{row}_p"
    draft.do(Split(row, _PIECE, names=(half, piece)), Reorder((half, other, piece)), Unroll(other), Unroll(piece))
    return [half, other, piece]
