"""Cuts of loops at which a branch goes another way, so that the parts have lanes, or are plain transpositions."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from xdsl.dialects import scf
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.loop import BlockOp, ForOp, ValueMap
from xrelay.dialects.loop.extents import expression_of, in_loop_indices
from xrelay.dialects.loop.schedule import Cut, Reorder, Split
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.errors import ScheduleError
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.lowering.topi_to_loop.schedules.cost_model import MIN_LANES
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.passes.loop.index_conditions import limits_of
from xrelay.passes.loop.nest_queries import box_of, enclosing_loops, linear_in, loops_of

MAX_PARTS: Final = 4
"""The maximum number of parts of a nest: each part has a copy of the code."""


def why_no_lanes(draft: ScheduleDraft, loop: str, lanes: int) -> str | None:
    """Returns the reason why neither the loop nor pieces of it can be vectorised; None if one of them can.

    A piece may be vectorised even if the whole may not: `c mod 16` is linear within a block.
    """
    refused = None if draft.is_dynamic(loop) else draft.why_not_vectorized(loop)
    if not draft.is_longer(loop, lanes) or (refused is None and not draft.is_dynamic(loop)):
        return refused
    trial = ScheduleDraft(draft.kernel, draft.target)
    try:
        _, piece = trial.split(loop, lanes, inner="v")
    except ScheduleError as error:
        return error.message
    in_pieces = trial.why_not_vectorized(piece)
    return in_pieces if in_pieces is None or refused is None else refused


def cut_borders(draft: ScheduleDraft, block: BlockOp, row: str) -> None:
    """Cuts the ends off a row in which a branch goes another way, if the rest then has lanes and had none before.

    ```
    for j in 134: Y[j] = 0 <= j - 3 < 128 ? X[j - 3] : X[mirrored]   →   for j in 3: Y[j] = X[mirrored]
                                                                         for j in 128: Y[j + 3] = X[j]
                                                                         for j in 3: Y[j + 131] = X[mirrored]
    ```
    """
    borders, lanes = _borders(draft, block, row), draft.lanes(block)
    if borders is None or draft.extent(row) - borders.first - borders.last < MIN_LANES:
        return
    if why_no_lanes(draft, row, lanes) is None:
        return
    trial = ScheduleDraft(draft.kernel, draft.target)
    if trial.attempt(borders) is not None or why_no_lanes(trial, row, lanes) is not None:
        return
    # Blocks of the rest do not skip iterations beyond it, which the vectors of a longer row may have.
    if not trial.is_longer(row, lanes) or trial.attempt(Split(row, lanes)) is None:
        draft.do(borders)
        draft.record_reason(f"{borders.first} and {borders.last} iterations cut off {row}")


def _borders(draft: ScheduleDraft, block: BlockOp, row: str) -> Cut | None:
    """Returns the cut of a row between the iterations that meet and that fail the conditions of branches on its index.

    Only ends of static length count. Returns None without such ends.
    """
    loop, first, last = loops_of(draft.kernel)[row], 0, 0
    for limit in _limits(block):
        step, rest = linear_in(limit, loop.index)
        begin = ValueMap.make([rest.expr()], limit.operands)
        end = expression_of(loop.bound).plus(begin, -1).simplified()
        if step == 1 and isinstance(number := begin.simplified().exprs[0], AffineConstantExpr):
            first = max(first, 1 - number.value)
        elif step == -1 and isinstance(number := end.exprs[0], AffineConstantExpr):
            last = max(last, number.value)
    return Cut(row, first, last) if first or last else None


def cut_branches(draft: ScheduleDraft, name: str, loops: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Cuts an outer loop where a branch on its index goes another way, if the row then has another form in each part.

    ```
    for c in 24: for w: for v in 16:                 for c in 16: for w: for v in 16: Y[c, w, v] = X[c * 16 + v, w]
      Y[c, w, v] = c < 16 ? X[c * 16 + v, w]    →
                          : Z[c - 16, w, v]          for c in 8: for w: for v in 16: Y[c + 16, w, v] = Z[c, w, v]
    ```

    Returns the blocks of the parts, each with the loops of its nest; the block itself if nothing is cut. Only rows
    without lanes are cut: a vectorised row tests such a condition once.
    """
    cuts = list(_changes(draft, name, loops))
    row = loops[-1]
    if not 0 < len(cuts) < MAX_PARTS or why_no_lanes(draft, row, draft.lanes(draft.block(name))) is None:
        return [(name, list(loops))]
    loop, first = max(cuts)
    order = [loop, *(each for each in loops if each != loop)]
    if order != list(loops):
        draft.do(Reorder(tuple(order)))
    known = {block.block_name for block in draft.blocks()}
    draft.do(Cut(loop, first))
    draft.record_reason(f"cut at {loop} = {first}, because a branch goes another way")
    parts: list[tuple[str, list[str]]] = []
    for part in (*(each.block_name for each in draft.blocks() if each.block_name not in known), name):
        nest = [each.loop_name for each in enclosing_loops(draft.block(part))]
        own = [nest[order.index(each)] for each in loops]
        if own != nest:
            draft.do(Reorder(tuple(own)))
        parts += cut_branches(draft, part, own)
    return parts


def _changes(draft: ScheduleDraft, name: str, loops: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yields an outer loop and its first iteration in which a branch goes another way than before, for each branch."""
    *outer, _ = [loops_of(draft.kernel)[loop] for loop in loops]
    for limit in _limits(draft.block(name)):
        for loop in (each for each in outer if limit.operands == (each.index,)):
            first = _first_change(limit, loop)
            if first is not None and first < (loop.extent or 0):
                yield loop.loop_name, first


def _limits(block: BlockOp) -> Iterator[ValueMap]:
    """Yields the limits of the conditions of branches in a block, in terms of loop indices."""
    tests = [op.cond.owner for op in ops_of(block.body, scf.IfOp)]
    for limits in [limits_of(test) or () for test in tests if isinstance(test, CmpiOp)]:
        yield from map(in_loop_indices, limits)


def _first_change(limit: ValueMap, loop: ForOp) -> int | None:
    """Returns the first iteration with another sign of a limit than before, or the extent.

    The limit depends on the index of the loop alone. Returns None if it may change more than once.
    """
    terms = linear_form(limit.exprs[0], box_of(limit)).terms
    if len(terms) != 1 or not _is_monotonic(terms[0][0]):
        return None
    expr = limit.exprs[0]
    is_positive = expr.eval([0], []) > 0
    iterations = range(loop.extent or 0)
    return bisect_left(iterations, True, key=lambda iteration: (expr.eval([iteration], []) > 0) != is_positive)


def _is_monotonic(atom: AffineExpr) -> bool:
    """Whether an expression is an index, or a quotient of an index by a constant."""
    if isinstance(atom, AffineBinaryOpExpr) and atom.kind is AffineBinaryOpKind.FloorDiv:
        return isinstance(atom.lhs, AffineDimExpr) and isinstance(atom.rhs, AffineConstantExpr)
    return isinstance(atom, AffineDimExpr)
