"""Reductions and pooling: the accumulators of a row or of a vector stay in registers during the fold.

Sums of very many floats are split into partial sums, because rounding errors grow with the number of terms.
"""

from __future__ import annotations

from itertools import takewhile
from math import prod
from typing import Final

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.utils import FastMathFlag

from xrelay.dialects.loop import BlockOp, IterKind, SchedulePrimitive
from xrelay.dialects.loop.for_op import MAX_LANES
from xrelay.dialects.loop.schedule import (
    CacheWrite,
    ComputeAt,
    DisableUnroll,
    PartialSums,
    Reorder,
    Rfactor,
    Split,
    Unroll,
    Vectorize,
)
from xrelay.dialects.topi.named.pool import Pool1dOp, Pool2dOp, Pool3dOp
from xrelay.dialects.topi.shapes import bit_width
from xrelay.errors import ScheduleError
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Proposal
from xrelay.lowering.topi_to_loop.schedules.common_steps import (
    MAX_UNROLLED_TERMS,
    fuse_terms,
    is_contiguous,
    keep_rolled,
    parallelize_outer,
    schedule_remaining,
    schedule_terms,
    unroll_vectors,
    vectorize_fold,
    vectorize_row,
)
from xrelay.lowering.topi_to_loop.schedules.cost_model import MAX_UNROLLED_VECTORS, folds_cost
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    expected_extent,
    is_expanded_from,
    is_row,
    loops_of_kind,
    points,
    readers_of,
    reads_pointwise,
    reduction_loops,
)
from xrelay.lowering.topi_to_loop.schedules.ordered import (
    is_scan,
    is_update,
    is_walk,
    schedule_scan,
    schedule_scatter,
    schedule_walk,
)
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.shared_indices import move_inside, sharing_loop
from xrelay.lowering.topi_to_loop.schedules.streamed_rows import fold_streamed_rows
from xrelay.passes.loop.nest_queries import enclosing_loops, reduces_over
from xrelay.passes.loop.primitives.accumulators import updates_of


def propose_reductions(view: KernelView) -> list[Proposal]:
    """Proposes a schedule for kernels with reductions: sums, means, maxima, and those of other families.

    ```
    for n, c: for y, x: t[n, c] += X[n, y, x, c]      →    parallel for n:
    for n, c: Y[n, c] = t[n, c] / 49                         for c_o:
                                                               acc[64] = 0
                                                               for y, x: for c in 4 × 16 lanes: acc[c] += X[…]
                                                               for c in lanes: Y[…] = acc[c] / 49
    ```
    """
    reductions = [block for block in view.blocks() if block.is_reduction]
    if not reductions:
        return []
    names = frozenset(block.block_name for block in reductions)
    return [Candidate(FOLD, "any reduction", lambda: folds_cost(view, reductions), _schedule_reductions, names)]


FOLD = "accumulators in registers"
"""The name of candidates that compute each row of results in registers."""


def _schedule_reductions(draft: ScheduleDraft) -> None:
    for block in [block for block in draft.blocks() if block.is_reduction]:
        if is_scan(block):
            schedule_scan(draft, block.block_name)
            draft.mark_done(block.block_name)
        elif is_update(block):
            schedule_scatter(draft, block.block_name)
            draft.mark_done(block.block_name)
        else:
            fold_at_consumer(draft, block.block_name)
    schedule_remaining(draft)


def consumer_of(draft: ScheduleDraft, name: str, *, read_elsewhere: bool = False) -> BlockOp | None:
    """Returns the block at whose tiles a reduction is computed: its only reader, if the points are equal, else a copy.

    With `read_elsewhere`, the result may also be read at other points, as by the phases of a transposed convolution.
    """
    block = draft.block(name)
    readers = readers_of(block, draft.blocks())
    if len(readers) == 1 and not draft.is_done(readers[0].block_name) and reads_pointwise(readers[0], block):
        return readers[0]
    if readers and not read_elsewhere:
        return None
    try:
        copy, *_ = draft.do(CacheWrite(name))
    except ScheduleError:
        return None
    return draft.block(copy)


def consumer_at_points(draft: ScheduleDraft, name: str, *, read_elsewhere: bool = False) -> BlockOp:
    """Like `consumer_of`; raises `ScheduleError` if the results are read at other points."""
    consumer = consumer_of(draft, name, read_elsewhere=read_elsewhere)
    if consumer is None:
        raise ScheduleError(f"the results of {name!r} are read at other points than their own")
    return consumer


def fold_at_consumer(draft: ScheduleDraft, name: str, *, read_elsewhere: bool = False) -> bool:
    """Computes a reduction at the rows of its consumer with local accumulators; returns whether that was possible.

    With `read_elsewhere`, the consumer is a copy if the result is read at other points.
    """
    if fold_streamed_rows(draft, name):
        return True
    has_parts = share_terms(draft, name, _piece_count(draft, draft.block(name)))
    if not has_parts and _fold_in_lanes(draft, name):
        return True
    consumer = consumer_of(draft, name, read_elsewhere=has_parts or read_elsewhere)
    if consumer is None:
        return False
    if is_walk(draft.block(name)):
        return schedule_walk(draft, name, consumer)
    loops = loops_of_kind(consumer, IterKind.SPATIAL)
    work = points(draft.block(name))
    if not loops:
        _fuse_long_fold(draft, name)
        return False
    if has_parts and len(loops) == 1:
        return _fold_parts(draft, name, consumer, loops[0], work)
    if _fold_sharing(draft, name, consumer):
        return True
    is_open = draft.is_dynamic(loops[-1])
    if len(loops) == 1 or is_open or draft.extent(loops[-1]) > MAX_LANES:
        loops = [*loops[:-1], *_split_row(draft, consumer, loops[-1])]
    at, block = loops[-2], draft.block(name)
    spatial, reduction = loops_of_kind(block, IterKind.SPATIAL), reduction_loops(block)
    if draft.attempt(ComputeAt(name, at)) is not None:
        return False
    tile = [loop for loop in spatial if draft.extent(loop) > 1]
    if tile:
        vectorize_fold(draft, name, tile, reduction, is_strided=is_open)
    else:
        schedule_terms(draft, name, reduction)
    rows = vectorize_row(draft, loops[-1], draft.lanes(consumer))
    unroll_vectors(draft, rows if len(rows) > 1 or not is_open else _vectorize_counts(draft, consumer, *rows))
    parallelize_outer(draft, loops[:-1], work)
    draft.record_reason(f"{name} accumulates in registers at {at}")
    draft.mark_done(name, consumer.block_name)
    return True


def _fuse_long_fold(draft: ScheduleDraft, name: str) -> None:
    """Fuses the loops over the terms of a single minimum or maximum of very many numbers.

    ```
    for k in 512: for l in 512: acc = max(acc, X[k, l])   →   for k_l in 262144, not unrolled: acc = max(acc, X[…])
    ```

    LLVM then combines the lanes of its vectors once instead of once per row. It folds several vectors at once, so to
    unroll the loop as well would only make the code longer. With fewer terms the time is the same.
    """
    block, reduction = draft.block(name), reduction_loops(draft.block(name))
    updates = updates_of(block) or []
    is_extreme = all(isinstance(each.combine, arith.MaximumfOp | arith.MinimumfOp) for each in updates)
    if not updates or not is_extreme or points(block) <= LONG_FOLD or any(map(draft.is_dynamic, reduction)):
        return
    row = fuse_terms(draft, name, reduction)[-1]
    if len(reduction) > 1 and draft.extent(row) > MAX_UNROLLED_TERMS:
        draft.do(DisableUnroll(row))


def _vectorize_counts(draft: ScheduleDraft, consumer: BlockOp, row: str) -> list[str]:
    """Vectorises a row of dynamic length whose results depend on its index, such as means of padded windows.

    LLVM vectorises static rows. Returns the loops that replace the row; the row itself if that is not legal, or if its
    elements are not neighbours in memory.
    """
    block, lanes = draft.block(consumer.block_name), draft.lanes(consumer)
    if not is_row(block, block.spatial[-1]) or any(op.regions for op in block.body.block.ops):
        return [row]
    outer, inner = names = f"{row}_o", f"{row}_v"
    steps = Split(row, lanes, names=names), Vectorize(inner, "any")
    trial = ScheduleDraft(draft.kernel, draft.target)
    if any(trial.attempt(step) is not None for step in steps):
        return [row]
    draft.do(*steps)
    draft.record_reason(f"{lanes} lanes along {row}")
    return [outer, inner]


def _fold_parts(draft: ScheduleDraft, name: str, consumer: BlockOp, parts: str, work: int) -> bool:
    """Computes the parts of a single result; returns whether that was possible."""
    if draft.attempt(ComputeAt(name, parts)) is not None:
        return False
    parallelize_outer(draft, [parts], work)
    draft.mark_done(name, consumer.block_name)
    return True


def _fold_sharing(draft: ScheduleDraft, name: str, consumer: BlockOp) -> bool:
    """Computes the sums of a few iterations at once that share indices, such as channels; returns whether it does.

    ```
    for c: for i: for k: acc += X[c, at[i, k]]     →    for c_o: for i:
    for c: for i: Y[c, i] = acc                           for k: for c_i in 8, unrolled: acc[c_i] += X[c, at[i, k]]
                                                          for c_i in 8: Y[c, i] = acc[c_i]
    ```
    """
    block = draft.block(name)
    spatial, reduction, work = loops_of_kind(block, IterKind.SPATIAL), reduction_loops(block), points(block)
    loops = loops_of_kind(consumer, IterKind.SPATIAL)
    own = sharing_loop(block, spatial[:-1])
    if own is None or not reduction or len(loops) != len(spatial):
        return False
    trial = ScheduleDraft(draft.kernel, draft.target)
    moved = move_inside(trial, loops, loops[spatial.index(own)], [])
    if moved is None:
        return False
    *outer, inner = moved
    steps = ComputeAt(name, outer[-1]), Reorder((*reduction, own)), Unroll(own)
    if any(trial.attempt(step) is not None for step in steps):
        return False
    draft.do(*trial.schedule.primitives)
    parallelize_outer(draft, outer, work)
    draft.record_reason(f"{name} accumulates in registers for {inner}, whose iterations share indices")
    draft.mark_done(name, consumer.block_name)
    return True


def _fold_in_lanes(draft: ScheduleDraft, name: str) -> bool:
    """Gives each lane its own result in a fold over rows that are apart in memory; returns whether it does.

    ```
    for i: for k: for l in 64: s[i] += X[k, i, l]   →   for i: for k: for l_i in 64 lanes: p[l_i] += X[k, i, l_i]
                                                          for l_i in 64: s[i] += p[l_i]
    ```

    LLVM would combine the lanes of each row. Rows of a dynamic length have masks, if the target has them. Rows of a
    static length that is no multiple of a vector are left unchanged.
    """
    trial = ScheduleDraft(draft.kernel, draft.target)
    block, total = trial.block(name), f"{name}_total"
    *outer, row = fuse_terms(trial, name, reduction_loops(block)) or [""]
    if not outer or not is_regrouped(block) or not is_contiguous(trial, name, row):
        return False
    lanes, work, is_masked = trial.lanes(block), points(block), trial.is_dynamic(row)
    if not (vectors := _vectors_of_lanes(trial, row, lanes)):
        return False
    try:
        inside, lane = trial.split(row, lanes * vectors)
        trial.do(Rfactor(name, lane))
        consumer = consumer_at_points(trial, total)
        around = loops_of_kind(consumer, IterKind.SPATIAL)
        trial.do(*(ComputeAt(each, around[-1]) for each in (total, name)))
        if vectors == 1:
            keep_rolled(trial, reduction_loops(trial.block(total))[-1], lanes)
    except (ScheduleError, IndexError):
        return False
    if is_masked:
        steps = Reorder((*outer, inside, lane)), Vectorize(lane, "masked")
        if any(trial.attempt(step) is not None for step in steps):
            return False
    elif not vectorize_fold(trial, name, [lane], [*outer, inside]):
        return False
    draft.do(*trial.schedule.primitives)
    parallelize_outer(draft, around, work)
    draft.record_reason(f"{name} accumulates in {lanes * vectors} lanes of {row}")
    draft.mark_done(name, total, consumer.block_name)
    return True


def _vectors_of_lanes(draft: ScheduleDraft, row: str, lanes: int) -> int:
    """Returns the number of vectors in a row of lanes: one for a dynamic row, if the target has masks.

    Returns 0 if whole vectors do not fill the row, or if there are no masks.
    """
    if draft.is_dynamic(row):
        return int(draft.target.masks)
    return next((count for count in (MAX_UNROLLED_VECTORS, 1) if draft.extent(row) % (lanes * count) == 0), 0)


def _piece_count(draft: ScheduleDraft, block: BlockOp) -> int:
    """Returns the number of pieces of rows of the results of `block`, which threads can share."""
    extents = [expected_extent(block.extents[position]) for position in block.spatial] or [1]
    return prod(extents[:-1]) * -(-extents[-1] // (draft.lanes(block) * MAX_UNROLLED_VECTORS))


MAX_PARTS: Final = 32
"""The maximum number of parts of a reduction, which balances uneven threads."""

PART_WORK: Final = 1 << 18
"""The minimum number of terms in a part: in lanes they take about 20 microseconds, the time of waking a thread."""


def share_terms(draft: ScheduleDraft, name: str, pieces: int) -> bool:
    """Makes a long reduction compute parts that threads can share, if its results have fewer `pieces` than threads.

    ```
    for k in 10000000: acc += X[k]   →   for k_shares in 32: for k in 312500: P[k_shares] += X[…]
                                         for k_shares in 32: acc += P[k_shares]
    ```

    Returns whether there are parts. A loop whose extent is a value, or has no divisor of this size, is not split. Sums
    of floats are split if their order is free.
    """
    block, threads = draft.block(name), draft.target.threads
    most = min(MAX_PARTS, points(block) // PART_WORK)
    if threads < 2 or pieces >= threads or most < 2 or not is_regrouped(block):
        return False
    for loop in reduction_loops(block):
        extent = 1 if draft.is_dynamic(loop) else draft.extent(loop)
        parts = next((number for number in range(most, 1, -1) if extent % number == 0), None)
        if parts is None:
            continue
        axis = f"{loop}_shares" if parts < extent else loop
        steps = [Split(loop, extent // parts, names=(axis, loop))] if parts < extent else []
        trial = ScheduleDraft(draft.kernel, draft.target)
        if all(trial.attempt(step) is None for step in (*steps, Rfactor(name, axis))):
            if _is_long_sum(block):
                draft.long_sums.add(name)
            draft.do(*steps, Rfactor(name, axis))
            draft.record_reason(f"{name} has {parts} parts along {loop}")
            return True
    return False


def is_regrouped(block: BlockOp) -> bool:
    """Whether the terms of a block may be combined in any order, with equal results or by a flag of each operation."""
    for each in updates_of(block) or []:
        flags = each.combine.properties.get("fastmath")
        exact = isinstance(each.combine, arith.MaximumfOp | arith.MinimumfOp) or not isinstance(each.element, AnyFloat)
        if not exact and not (isinstance(flags, arith.FastMathFlagsAttr) and FastMathFlag.REASSOC in flags.data):
            return False
    return True


def _split_row(draft: ScheduleDraft, consumer: BlockOp, row: str) -> list[str]:
    """Splits a loop into pieces of a few vectors, or into one piece of the whole extent; returns the two loops."""
    width = draft.lanes(consumer) * MAX_UNROLLED_VECTORS
    return list(draft.split(row, width if draft.is_longer(row, width) else draft.extent(row)))


def propose_pool(view: KernelView) -> list[Proposal]:
    """Proposes a schedule for kernels with a pooling window.

    ```
    for n, co, h, w, ci: for y, x: t[…] = max(t[…], X[…])   →   parallel for n_co_h: for w:
                                                                  acc = -inf
                                                                  for y, x: for ci in lanes: acc[ci] = max(…)
                                                                  for ci in lanes: Y[…] = acc[ci]
    ```

    With plain N×C×H×W images, lanes run along the columns if the stride is 1, and each plane is padded before its
    windows are read, so that the padded plane stays in a cache. Maxima of windows along the columns alone read images
    without padding.
    """
    windows = [
        block
        for block in view.blocks()
        if block.is_reduction and any(is_expanded_from(block, op) for op in (Pool1dOp, Pool2dOp, Pool3dOp))
    ]
    if not windows:
        return []
    names = [block.block_name for block in windows]

    def apply(draft: ScheduleDraft) -> None:
        for name in names:
            block = draft.block(name)
            loops = loops_of_kind(block, IterKind.SPATIAL)
            is_open = any(map(draft.is_dynamic, loops[-1:]))
            if is_open and any(op.regions for op in block.body.block.ops):
                # LLVM unrolls the taps and vectorises the row, with masks for taps outside of the image.
                parallelize_outer(draft, loops[:-1], points(block))
                draft.mark_done(name)
                continue
            # Windows along the columns read the maxima of rows at other points. LLVM keeps the maxima in registers if
            # the row has a static length.
            fold_at_consumer(draft, name, read_elsewhere=is_open)
            _pad_planes(draft, name)
        schedule_remaining(draft)

    return [Candidate(FOLD, "a pooling window", lambda: folds_cost(view, windows), apply, frozenset(names))]


PLANE_AXES: Final = 2
"""The number of axes before those of an image: batch and channels."""


def _pad_planes(draft: ScheduleDraft, name: str) -> None:
    """Pads an image plane by plane where its windows are reduced.

    ```
    for c: for h, w: pad[c, h, w] = …                    for c:
    for c: for h: for w: acc = …; Y[c, h, w] = acc   →     for h, w: pad[h, w] = …
                                                           for h: for w: acc = …; Y[c, h, w] = acc
    ```

    LLVM vectorises the copy of a row between its borders.
    """
    block = draft.block(name)
    bindings, axes = block.bindings, block.spatial[PLANE_AXES:]
    image = {operand for position in axes for operand in bindings[position].operands}
    taps = set(reduction_loops(block))
    outside = list(
        takewhile(lambda loop: loop.index not in image and loop.loop_name not in taps, enclosing_loops(block))
    )
    producers = [each for each in draft.blocks() if block in readers_of(each, [block]) and not each.is_reduction]
    for pad in producers if outside else []:
        if draft.attempt(ComputeAt(pad.block_name, outside[-1].loop_name)) is None:
            draft.record_reason(f"{pad.block_name} is computed for each plane of {outside[-1].loop_name}")
            draft.mark_done(pad.block_name)


LONG_FOLD: Final = 1 << 16
"""Sums with more terms are split into partial sums, and loops of other folds with more terms are fused."""

PART: Final = 1 << 12
"""The maximum number of terms in a partial sum."""


def split_long_sums(draft: ScheduleDraft) -> None:
    """Splits the reduction loops of long sums of floats that a family has scheduled.

    ```
    acc[4, 8] = 0                    →    acc[4, 8] = 0
    for k in 1000000:                     for k_parts in 250:
      for i in 4: for j in 8 lanes:         part[4, 8] = 0
        acc[i, j] += A[i, k] * B[k, j]      for k in 4000: for i in 4: for j in 8 lanes: part[i, j] += …
                                            for i in 4: for j in 8 lanes: acc[i, j] += part[i, j]
    ```

    One f32 accumulator for a million positive terms has a relative error of about 1e-4. The tile of accumulators stays
    in registers in the innermost loop. A sum with a dynamic number of terms keeps one accumulator.
    """
    for block in draft.blocks():
        if block.block_name not in draft.long_sums and not _is_long_sum(block):
            continue
        steps = _steps(block)
        trial = ScheduleDraft(draft.kernel, draft.target)
        refused = [reason for step in steps if (reason := trial.attempt(step)) is not None]
        if refused:
            draft.record_reason(f"{block.block_name} is not split into partial sums: {refused[0]}")
        elif steps:
            draft.do(*steps)
            draft.record_reason(f"{block.block_name} is split into partial sums")


def _is_long_sum(block: BlockOp) -> bool:
    """Whether a block sums more than `LONG_FOLD` terms in floats of at most 32 bits."""
    terms = [extent for extent, kind in zip(block.extents, block.kinds, strict=True) if kind is IterKind.REDUCE]
    if prod(extent for extent in terms if isinstance(extent, int)) <= LONG_FOLD:
        return False
    updates = updates_of(block) or []
    is_sum = all(isinstance(update.combine, arith.AddfOp) and bit_width(update.element) <= 32 for update in updates)
    return bool(updates) and is_sum


def _steps(block: BlockOp) -> list[SchedulePrimitive]:
    """Returns the steps that split a sum into partial sums of at most `PART` terms."""
    terms = 1
    for loop in reversed([loop for loop in enclosing_loops(block) if reduces_over(block, loop)]):
        if loop.extent is None:
            return []
        if terms * loop.extent > PART:
            return partial_sum_steps(block.block_name, loop.loop_name, loop.extent, PART // terms)
        terms *= loop.extent
    return []


def partial_sum_steps(name: str, loop: str, extent: int, most: int) -> list[SchedulePrimitive]:
    """Returns the steps by which every `most` iterations of a loop, or somewhat fewer, have a partial sum."""
    if most == 1:
        return [PartialSums(name, loop)]
    divisors = (factor for factor in range(most, most // 4, -1) if extent % factor == 0)
    factor = next(divisors, -(-extent // -(-extent // most)))
    parts = f"{loop}_parts"
    return [Split(loop, factor, names=(parts, loop)), PartialSums(name, parts)]
