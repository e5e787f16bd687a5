"""Scheduling steps common to families: threads for outer loops, lanes for the innermost, tiles for transpositions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp, LoopKind, RowOp, StoreOp, Tail, ValueMap
from xrelay.dialects.loop.extents import extents_of, loop_of_index
from xrelay.dialects.loop.for_op import MAX_LANES
from xrelay.dialects.loop.schedule import DisableUnroll, Fuse, Parallelize, Reorder, Split, Unroll, Vectorize
from xrelay.dialects.shared.op_lists import all_ops, ops_in, ops_of
from xrelay.errors import ScheduleError
from xrelay.index_algebra.affine_bounds import stride
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal
from xrelay.lowering.topi_to_loop.schedules.cost_model import MAX_UNROLLED_VECTORS, MIN_LANES, rest_cost
from xrelay.lowering.topi_to_loop.schedules.cuts import cut_borders, cut_branches, why_no_lanes
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    expected_shape,
    loads_of,
    loop_of_variable,
    loops_of_kind,
    points,
    reduction_loops,
    steps_of,
)
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ITERATIONS_PER_THREAD, ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.shared_axis import SharedAxis, move_out
from xrelay.lowering.topi_to_loop.schedules.shared_indices import move_inside, repeating_loop, sharing_loop
from xrelay.passes.loop.nest_queries import linear_in, loops_of
from xrelay.passes.loop.primitives.vectorize import MAX_STRIDE, index_stride
from xrelay.target.cpus import MIN_PARALLEL_WORK


def parallelize_outer(
    draft: ScheduleDraft, loops: Sequence[str], work: int, *, pieces: Sequence[str] = ()
) -> str | None:
    """Fuses the outermost of `loops`, a perfect nest, until threads have enough iterations; makes the result parallel.

    `work` is the number of element operations inside all loops. `pieces` are loops over pieces of one row. They are
    distributed over threads only if there is no other loop. Returns the parallel loop, or None if one thread suffices.
    """
    threads = draft.target.threads
    if threads < 2 or not loops or (work < MIN_PARALLEL_WORK and not any(map(draft.is_dynamic, loops))):
        return None
    wanted = threads * ITERATIONS_PER_THREAD
    name, count, inside = loops[0], draft.extent(loops[0]), None
    for inner in loops[1:]:
        # A dynamic loop, such as that over a batch, may have few iterations.
        may_be_short = draft.is_dynamic(name) and not draft.is_dynamic(inner) and draft.least(name) < wanted
        if count >= wanted and (inner in pieces or not may_be_short):
            break
        try:
            (name,) = draft.do(Fuse(name, inner, f"{name}_{inner}"))
        except ScheduleError:
            inside = inner if draft.is_dynamic(inner) else None
            break
        count = draft.extent(name)
    if count < 2 or draft.attempt(Parallelize(name)) is not None:
        return None
    if inside is not None and draft.attempt(Parallelize(inside)) is None:
        draft.record_reason(f"{inside} is parallel too")
    iterations = "all" if draft.is_dynamic(name) else str(count)
    draft.record_reason(f"parallel over {iterations} iterations of {name}")
    return name


def vectorize_row(draft: ScheduleDraft, loop: str, lanes: int) -> list[str]:
    """Vectorises the innermost loop of a nest, split by the vector width if it is longer.

    Returns the loops that replace it, the outermost first; records the reason if vectorising is not possible.
    """
    extent = draft.extent(loop)
    if extent < MIN_LANES:
        draft.record_reason(f"{loop} has {extent} iterations, too few for lanes")
        return [loop]
    if (refused := why_no_lanes(draft, loop, lanes)) is not None:
        draft.record_reason(f"not vectorized: {refused}")
        return [loop]
    if not draft.is_longer(loop, lanes):
        draft.do(Vectorize(loop))
        draft.record_reason(f"{extent} lanes along {loop}")
        return [loop]
    outer, inner = draft.split(loop, lanes, inner="v")
    draft.do(Vectorize(inner))
    draft.record_reason(f"{lanes} lanes along {loop}")
    return [outer, inner]


def schedule_elementwise(draft: ScheduleDraft, name: str, shared: SharedAxis | None = None) -> None:
    """Schedules a block without reduction in its own nest: lanes inside, threads outside, over the axis `shared`."""
    block = draft.block(name)
    loops = loops_of_kind(block, IterKind.SPATIAL)
    if not loops:
        draft.record_reason(f"{name} is a single element")
        return
    if any(isinstance(op, RowOp) for op in block.body.block.ops):
        # An op on rows has no lanes, and every loop around it may be parallel.
        parallelize_outer(draft, loops, work_of(block))
        return
    cut_borders(draft, block, loops[-1])
    for part, own in cut_branches(draft, name, loops):
        _schedule_part(draft, part, own, shared)


def work_of(block: BlockOp) -> int:
    """Estimates the number of ops that all iterations of a block execute."""
    return points(block) * max(1, sum(steps_of(op) for op in all_ops(block)))


def _schedule_part(draft: ScheduleDraft, name: str, loops: list[str], axis: SharedAxis | None) -> None:
    """Schedules a block in the perfect nest `loops`: lanes inside, or a tile if an operand is transposed."""
    block = draft.block(name)
    work, repeated = work_of(block), repeating_loop(block, loops[:-1])
    shared = sharing_loop(block, loops[:-1]) if repeated is None else repeated
    axes, pieces = ((None, None), 0) if axis is None else (axis.loops_of(block), axis.pieces)
    rows = vectorize_row(draft, loops[-1], draft.lanes(block))
    if len(rows) == 1:
        rows = mask_lanes(draft, name, loops[-1])
    moved = None if shared is None else move_inside(draft, [*loops[:-1], *rows[:-1]], shared, rows[-1:])
    if moved is not None:
        loops, rows = moved, moved[-1:]
        if repeated is not None:
            draft.do(Unroll(repeated))
    elif len(rows) == 1 and (pieces_of := loop_of_pieces(block, loops)) is not None:
        loops = [*(loop for loop in loops[:-2] if loop != pieces_of), pieces_of, *loops[-2:]]
        draft.do(Reorder(tuple(loops)))
        draft.record_reason(f"iterations of {pieces_of} read the next piece of a row")
    elif len(rows) == 1 and _fills_pieces(draft.extent(loops[-1])):
        tiled = tile_transposed(draft, name, loops, transposed_along(draft.block(name), loops[-1]))
        loops = share_lines(draft, name, loops) if tiled == loops else tiled
        rows = loops[-1:]
    gather_lanes(draft, name, rows[-1])
    outer = move_out(draft, loops[:-1], axes, pieces)
    if outer != loops[:-1]:
        draft.do(Reorder(tuple(outer)))
    parallelize_outer(draft, [*outer, *rows[:-1]], work, pieces=rows[:-1])


def mask_lanes(draft: ScheduleDraft, name: str, row: str) -> list[str]:
    """Vectorises a row of dynamic length by masks if its lanes read different operands, as in a concatenation.

    LLVM takes less time for other rows with branches: static ones, and those in which a branch reads nothing, as in
    padding. Returns the loops that replace the row; the row itself if it is static or if masks are not legal.
    """
    block = draft.block(name)
    lanes = draft.lanes(block)
    branches = [op for op in block.body.block.ops if op.regions]
    if not draft.is_dynamic(row) or not any(all(ops_of(part, LoadOp) for part in op.regions) for op in branches):
        return [row]
    outer, inner = names = f"{row}_o", f"{row}_v"
    steps = Split(row, lanes, Tail.MASK, names), Vectorize(inner, "masked")
    trial = ScheduleDraft(draft.kernel, draft.target)
    if any(trial.attempt(step) is not None for step in steps):
        return [row]
    draft.do(*steps)
    draft.record_reason(f"{lanes} masked lanes along {row}")
    return [outer, inner]


def gather_lanes(draft: ScheduleDraft, name: str, row: str) -> None:
    """Vectorises a short row of static length that reads its operands at strides, lane by lane, and writes a vector.

    LLVM would unroll the row to scalar code, which takes it ten times as long to compile and twice as long to run.
    """
    loop, block = loops_of(draft.kernel)[row], draft.block(name)
    if loop.kind is not LoopKind.SERIAL or not MIN_LANES <= (loop.extent or 0) <= TRANSPOSED_ROW:
        return
    strides = [[index_stride(each, loop.index) for each in op.index] for op in ops_of(block.body, StoreOp)]
    if any(op.regions for op in block.body.block.ops) or any(each != [*[0] * (len(each) - 1), 1] for each in strides):
        return
    if draft.attempt(Vectorize(row, "any")) is None:
        draft.record_reason(f"{draft.extent(row)} gathered lanes along {row}")


def schedule_fold(draft: ScheduleDraft, name: str) -> None:
    """Schedules a reduction in its own nest, which accumulates in memory.

    If its innermost spatial loop can be vectorised, it moves inside the reduction, so that each step adds a vector.
    """
    block = draft.block(name)
    spatial, reduction = loops_of_kind(block, IterKind.SPATIAL), reduction_loops(block)
    if not spatial:
        draft.record_reason(f"{name} reduces to a single element")
        return
    if not draft.is_dynamic(spatial[-1]) and draft.extent(spatial[-1]) > MAX_LANES:
        spatial = _piece_of_row(draft, name, spatial, reduction)
    vectorize_fold(draft, name, spatial, reduction)
    parallelize_outer(draft, spatial[:-1], points(block))


def _piece_of_row(draft: ScheduleDraft, name: str, spatial: Sequence[str], reduction: Sequence[str]) -> list[str]:
    """Splits a row that is longer than the maximum number of lanes into pieces of a few vectors, if that is legal.

    Returns the loops that replace `spatial`.
    """
    *outer, row = spatial
    width = draft.lanes(draft.block(name)) * MAX_UNROLLED_VECTORS
    trial = ScheduleDraft(draft.kernel, draft.target)
    try:
        _, piece = trial.split(row, width)
    except ScheduleError:
        return list(spatial)
    if not vectorize_fold(trial, name, [piece], reduction):
        return list(spatial)
    return [*outer, *draft.split(row, width)]


def vectorize_fold(
    draft: ScheduleDraft, name: str, spatial: Sequence[str], reduction: Sequence[str], *, is_strided: bool = False
) -> bool:
    """Moves the innermost spatial loop inside the reduction and vectorises it, if that is legal.

    Rows longer than a vector become up to four unrolled vectors. With `is_strided`, lanes may read elements of a row
    that are a few apart. Otherwise the reduction stays innermost, and LLVM may vectorise the terms of one sum, or the
    row if its length is static.
    """
    row = spatial[-1]
    if draft.extent(row) < MIN_LANES:
        return False
    trial = ScheduleDraft(draft.kernel, draft.target)
    if reduction and trial.attempt(Reorder((*reduction, row))) is not None:
        return False
    lanes = draft.lanes(draft.block(name))
    refused = why_no_lanes(trial, row, lanes) if trial.is_dynamic(row) else trial.why_not_vectorized(row)
    is_strided = is_strided and refused is not None and _reads_at_strides(trial, name, row)
    if refused is not None and not is_strided:
        draft.record_reason(f"the reduction stays innermost: {refused}")
        schedule_terms(draft, name, reduction)
        return False
    if reduction:
        draft.do(Reorder((*reduction, row)))
    unroll_vectors(draft, (_vectorize_strided if is_strided else vectorize_row)(draft, row, lanes))
    return True


def _reads_at_strides(draft: ScheduleDraft, name: str, row: str) -> bool:
    """Whether iterations of a loop read elements of a row that are a few apart, whose vectors are shuffled together."""
    index, block = loops_of(draft.kernel)[row].index, draft.block(name)
    strides = [[index_stride(each, index) for each in op.index] for op in ops_of(block.body, LoadOp, StoreOp)]
    is_row = all(not any(outer) and step is not None and step in range(MAX_STRIDE + 1) for *outer, step in strides)
    return is_row and not any(op.regions for op in block.body.block.ops)


def _vectorize_strided(draft: ScheduleDraft, row: str, lanes: int) -> list[str]:
    """Vectorises a loop whose iterations read elements at strides; returns the loops that replace it."""
    rows = [row] if draft.extent(row) <= lanes else list(draft.split(row, lanes, inner="v"))
    draft.do(Vectorize(rows[-1], "any"))
    draft.record_reason(f"{lanes} lanes along {row}, read at strides")
    return rows


def unroll_vectors(draft: ScheduleDraft, loops: Sequence[str]) -> None:
    """Unrolls the loop over the vectors of a row if it is short, so that accumulators in them become registers.

    `loops` are the loops that `vectorize_row` returned.
    """
    if len(loops) > 1 and not draft.is_longer(loops[0], MAX_UNROLLED_VECTORS):
        draft.do(Unroll(loops[0]))


MAX_UNROLLED_TERMS: Final = 99
"""The number of terms up to which LLVM unrolls a loop before it would vectorise it."""


def keep_rolled(draft: ScheduleDraft, row: str, lanes: int) -> None:
    """Keeps LLVM from unrolling a loop over one to a few vectors of terms, which would become a chain of scalars."""
    if not draft.is_dynamic(row) and lanes <= draft.extent(row) <= MAX_UNROLLED_TERMS:
        draft.do(DisableUnroll(row))


def schedule_terms(draft: ScheduleDraft, name: str, reduction: Sequence[str]) -> None:
    """Fuses the reduction loops over terms that are contiguous in memory, and keeps a short row of them rolled.

    LLVM vectorises the terms. With one loop it reduces its vector of partial sums once instead of once per row.
    """
    if reduction:
        keep_rolled(draft, fuse_terms(draft, name, reduction)[-1], draft.lanes(draft.block(name)))


def fuse_terms(draft: ScheduleDraft, name: str, reduction: Sequence[str]) -> list[str]:
    """Fuses the reduction loops over terms that are contiguous in memory; returns the loops that replace them."""
    loops = list(reduction)
    while len(loops) > 1 and _side_by_side(draft.block(name), *loops[-2:]) and is_contiguous(draft, name, loops[-1]):
        *outer, loop, row = loops
        try:
            (row,) = draft.do(Fuse(loop, row, f"{loop}_{row}"))
        except ScheduleError:
            break
        loops = [*outer, row]
        draft.record_reason(f"{row}: terms contiguous")
    return loops


def is_contiguous(draft: ScheduleDraft, name: str, loop: str) -> bool:
    """Whether all loads of a block that use the index of a loop read neighbours in successive iterations."""
    index = loops_of(draft.kernel)[loop].index
    strides = [[index_stride(each, index) for each in load.index] for load in ops_of(draft.block(name).body, LoadOp)]
    return all(each == [*[0] * (len(each) - 1), 1] for each in strides if any(step != 0 for step in each))


def _side_by_side(block: BlockOp, outer: str, inner: str) -> bool:
    """Whether all accesses along both loops are to neighbouring dimensions, whose elements are one contiguous row."""
    positions = {loop_of_variable(block, position): position for position in range(len(block.kinds))}
    if outer not in positions or inner not in positions:
        return False
    pair = [block.variables[positions[loop]] for loop in (outer, inner)]
    index, width = [ValueMap.identity([variable]) for variable in pair], block.extents[positions[inner]]
    accesses = [op for kind in (LoadOp, StoreOp) for op in ops_of(block.body, kind)]
    return all(
        any(
            [op.index[first], op.index[first + 1]] == index and extents_of(op.memref)[first + 1] == width
            for first in range(len(op.index) - 1)
        )
        for op in accesses
        if not set(pair).isdisjoint(op.index_operands)
    )


def schedule_remaining(draft: ScheduleDraft, shared: SharedAxis | None = None) -> None:
    """Schedules each nest that the family has not scheduled; threads share the axis `shared` of an image, if given."""
    for block in draft.blocks():
        if draft.is_done(block.block_name):
            continue
        if block.is_reduction:
            schedule_fold(draft, block.block_name)
        else:
            schedule_elementwise(draft, block.block_name, shared)


TRANSPOSED_TILE, TRANSPOSED_ROW = 8, 16
"""The number of neighbours of a transposed operand to read at a time, and the length of a row to write: a cache line.

Lines whose distance is a power of two compete for the eight ways of one set of the L1 cache, so eight lines are written
at a time.
"""

_PIECE = 8
"""The number of elements that are read one by one and written as one vector.

LLVM does not vectorise straight-line code of scalars, which would have 8 x 8 loads and as many stores.
"""

_COPIED = 6
"""The maximum number of ops in a block that only moves elements."""


def _fills_pieces(extent: int) -> bool:
    """Whether a row is one piece, or at least as long as a line."""
    return extent == _PIECE or extent >= TRANSPOSED_ROW


def transposed_along(block: BlockOp, row: str) -> str | None:
    """Returns the loop along which a load is contiguous for at least a tile, unless it is the innermost loop."""
    loops = {variable: _loop_of_steps(block, position) for position, variable in enumerate(block.variables)}
    for load in ops_in(block.body):
        if not isinstance(load, LoadOp) or (expected_shape(load.memref) or [0])[-1] < TRANSPOSED_TILE:
            continue
        along = [loop for v in _contiguous(load.index[-1]) if (loop := loops.get(v)) is not None]
        if len(along) == 1 and row not in along and any(loops.get(v) == row for v in load.index_operands):
            return along[0]
    return None


def loop_of_pieces(block: BlockOp, loops: Sequence[str]) -> str | None:
    """Returns the loop whose iterations read the next pieces of rows, if `loops` ends with the rows and their elements.

    ```
    for c: for h: for w: for i in 16: Y[c, h, w, i] = X[h, w, 16 c + i]   →   for h: for c: for w: for i in 16: …
    ```

    Neighbouring pieces are then read soon after each other, while the TLB has the pages of the rows.
    """
    own = {loop_of_variable(block, position): position for position in range(len(block.kinds))}
    if loops[-1] not in own or not isinstance(extent := block.extents[own[loops[-1]]], int):
        return None
    outer = {block.variables[own[loop]]: loop for loop in loops[:-2] if loop in own}
    for last in (load.index[-1] for load in loads_of(block) if len(load.index) > 0):
        steps = {v: stride(last.exprs[0], position) for position, v in enumerate(last.operands)}
        if steps.get(block.variables[own[loops[-1]]]) == 1:
            found = [loop for variable, loop in outer.items() if steps.get(variable) == extent]
            if found:
                return found[0]
    return None


def share_lines(draft: ScheduleDraft, name: str, loops: list[str]) -> list[str]:
    """Moves a loop that reads the other elements of blocks just outside of the row, which reads one of each block.

    ```
    for c: for h: for w: Y[c, h, w] = X[c // 16, h, w // 2, c mod 16]   →   for h: for c: for w: …
    ```

    The cache lines of a row are then read for all channels before those of the next row. Returns the order of loops.
    """
    *outer, row = loops
    other = loop_of_blocks(draft.block(name), row)
    if other not in outer[:-1]:
        return loops
    order = [*(each for each in outer if each != other), other, row]
    draft.do(Reorder(tuple(order)))
    draft.record_reason(f"iterations of {other} read the same lines")
    return order


def loop_of_blocks(block: BlockOp, row: str) -> str | None:
    """Returns the loop whose iterations read the elements of a block of the last axis, unless it is the row."""
    loops = {variable: _loop_of_steps(block, position) for position, variable in enumerate(block.variables)}
    for load in loads_of(block):
        last = load.index[-1] if len(load.index) > 0 else None
        if last is None or not any(loops.get(v) == row for v in load.index_operands):
            continue
        expr = last.exprs[0]
        if not isinstance(expr, AffineBinaryOpExpr) or expr.kind is not AffineBinaryOpKind.Mod:
            continue
        along = [loops.get(v) for position, v in enumerate(last.operands) if stride(expr.lhs, position) == 1]
        if len(along) == 1 and along[0] != row:
            return along[0]
    return None


def _contiguous(last: ValueMap) -> Sequence[SSAValue]:
    """Returns the operand of a load's last index, or of several, as in `64 * head + element`, those of step 1."""
    several = [v for position, v in enumerate(last.operands) if stride(last.exprs[0], position) == 1]
    return last.operands if len(last.operands) == 1 else several


def _loop_of_steps(block: BlockOp, position: int) -> str | None:
    """Returns the loop whose index is the value of a variable, or differs from it by a constant."""
    binding = block.bindings[position]
    loop = loop_of_index(binding.operands[0]) if len(binding.operands) == 1 else None
    if loop is None:
        return None
    step, rest = linear_in(binding, loop.index)
    return loop.loop_name if step == 1 and not rest.terms else None


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
    outer, other = _fuse_lines(draft, name, outer, other)
    inner: list[str] = []
    for loop, tile in ((other, TRANSPOSED_TILE), (row, TRANSPOSED_ROW)):
        position, tiles = outer.index(loop) if loop in outer else len(outer), list[str]()
        if draft.is_longer(loop, tile):
            *tiles, loop = draft.split(loop, tile)
        outer[position : position + 1] = tiles
        inner.append(loop)
    draft.do(Reorder((*outer, *inner)))
    draft.record_reason(
        f"tiles of {draft.extent(inner[0])} x {draft.extent(inner[1])}, because an operand is transposed"
    )
    return [*outer, *_in_straight_pieces(draft, name, *inner)]


def _fuse_lines(draft: ScheduleDraft, name: str, outer: list[str], other: str) -> tuple[list[str], str]:
    """Fuses a loop with the one around it if their elements are contiguous, and only the fused loop has full tiles.

    Returns the outer loops and the loop that replaces `other`: the rows of an image become one long row.
    """
    position = outer.index(other)
    around = outer[position - 1] if position > 0 else other
    if around == other or any(map(draft.is_dynamic, (around, other))):
        return outer, other
    row, image = draft.extent(other), draft.extent(around) * draft.extent(other)
    if row % TRANSPOSED_TILE == 0 or image % TRANSPOSED_TILE or not _side_by_side(draft.block(name), around, other):
        return outer, other
    fused = f"{around}_{other}"
    if draft.attempt(Fuse(around, other, fused)) is not None:
        return outer, other
    return [*outer[: position - 1], fused, *outer[position + 1 :]], fused


def _in_straight_pieces(draft: ScheduleDraft, name: str, other: str, row: str) -> list[str]:
    """Unrolls a tile that only moves elements to straight-line code with a vector for each row, in halves of a line.

    ```
    for i_i in 8: for j_i in 16: …   →   for j_h in 2: unrolled i_i in 8: for j_p in 8 lanes: …
    ```

    Returns the loops of the tile.
    """
    if not _fills_pieces(draft.extent(row)) or len(list(all_ops(draft.block(name)))) > _COPIED:
        return [other, row]
    halves = list[str]()
    if draft.extent(row) > _PIECE:
        *halves, row = draft.split(row, _PIECE, outer="h", inner="p")
    draft.do(Reorder((*halves, other, row)), Unroll(other))
    if draft.attempt(Vectorize(row, "any")) is not None:
        draft.do(Unroll(row))
    return [*halves, other, row]


def propose_injective(view: KernelView) -> list[Proposal]:
    """Proposes the schedule for kernels without reductions. Each result has a nest of its own.

    ```
    for n, c, h, w:  →  parallel for n_c_h:
                          for w_o: for w_v in 16 lanes:
    ```
    """
    if any(block.is_reduction for block in view.blocks()):
        return []
    cost = partial(rest_cost, view)
    return [Candidate("each nest alone", "no reduction", cost, schedule_remaining, decisions=lambda: None)]
