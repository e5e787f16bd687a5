"""`loop-split-conditions`: splits unrolled loops into parts without conditions and iterations with conditions.

If a register tile tests for every element whether it is in the padding or beyond the last tile, it is not straight-line
code. Some of the loops on which such a condition depends are unrolled. An unrolled loop is cut, so that the condition
remains only in the iterations in which it is undecided. A condition that depends on other loops is tested once, before
the loops that do not change it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import ForOp, LoopKind, ValueMap
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.dialects.shared.op_making import copies, copy, make
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.affine_bounds import Interval, bounds
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.index_conditions import Limits, affine, answer_of, combined_answer, limits_of
from xrelay.passes.loop.nest_edits import (
    Names,
    compute,
    erase_empty_loops,
    erase_unused,
    substitute_index,
    take_body,
    take_branch,
)
from xrelay.passes.loop.nest_queries import box_of, enclosing_loops, is_made_outside, is_nonnegative, linear_in

MAX_PARTS: Final = 9
"""The largest number of parts of a loop; each part copies the body."""


MAX_CHOICES: Final = 2
"""The largest number of conditions tested before one nest; each doubles the code."""


_TRUE, _FALSE = IntegerAttr(1, i1), IntegerAttr(0, i1)


@dataclass(frozen=True)
class LoopSplitConditionsPass(XRelayPass):
    """Cuts unrolled loops where a condition inside changes, and hoists conditions out of loops that do not change them.

    Before → after, for a row of a padded convolution; `%ok` is false for the first `%w` only, `%row` for one `%y` only:

    ```
    loop.for "y" %y to 3 {                      loop.for "y" %y to 3 {
      loop.for "w" %w to 14 unrolled {            %row = … %y …
        %row, %ok = … %y …, … %w …                scf.if %row {
        %both = arith.andi %row, %ok                … %w = 0, tests %ok …
        %x = scf.if %both {…}             →         loop.for "w_inside" %w to 13 unrolled { … without a test … }
        …                                         } else {
      }                                             … the same loops without loads …
    }                                             }
                                                }
    ```

    With a dynamic extent `%n`, conditions such as `%o * 14 + %w < %n` are decided by a proof for all sizes.

    Left unchanged are conditions that differ between lanes or are in no unrolled loop, loops that would be cut into
    more than nine parts, and nests with more than two conditions.
    """

    name = "loop-split-conditions"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Splits conditions in every function of the module; all blocks must be lowered."""
        for function in op.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                split_conditions(function)


def split_conditions(function: FuncOp) -> None:
    """Splits conditions in one function, in place."""
    if not any(map(_is_unrolled, ops_of(function, CmpiOp))):
        return
    names, limits = Names(function), _LimitsOf()
    pending = deque(loop for loop in ops_of(function, ForOp) if loop.kind is LoopKind.UNROLLED)
    while pending:
        pending += _cut(pending.popleft(), names, limits)
    for most in range(MAX_CHOICES, 0, -1):
        chosen = [
            _choose(scope, choices[0], names)
            for scope, choices in _choices(function, limits).items()
            if len(choices) <= most
        ]
        if not any(chosen):
            break  # Scopes with at most this number of choices were handled before.
    _erase_empty(function)


class _LimitsOf(dict[CmpiOp, Limits | None]):
    """A cache of the limits of comparisons, since tracing an index to the loops is slow."""

    def __missing__(self, test: CmpiOp) -> Limits | None:
        self[test] = limits_of(test)
        return self[test]


# --- along unrolled loops


def _cut(loop: ForOp, names: Names, known: _LimitsOf) -> list[ForOp]:
    """Cuts an unrolled loop into parts with constant conditions; returns the loops in copies of its body."""
    extent = loop.extent
    if loop.kind is not LoopKind.UNROLLED or extent is None or extent < 2 or loop.parent is None:
        return []
    tests = ops_of(loop, CmpiOp)
    queried = {
        test: limits
        for test in tests
        if (limits := known[test]) and any(loop.index in limit.operands for limit in limits)
    }
    if not queried:
        return []
    answers = {limits: _answers(limits, loop, extent) for limits in queried.values()}
    parts: list[tuple[int, int]] = []
    for each, run in groupby(range(extent), lambda iteration: [found[iteration] for found in answers.values()]):
        iterations = list(run)
        open_ones = [(iteration, iteration + 1) for iteration in iterations]
        parts += open_ones if None in each else [(iterations[0], iterations[-1] + 1)]
    if len(parts) > MAX_PARTS:
        return []
    for test in tests:
        known.pop(test, None)
    return _part(loop, parts, [answers.get(queried.get(test, ())) for test in tests], names)


def _answers(limits: Limits, loop: ForOp, extent: int) -> list[bool | None]:
    """The result of a comparison in each iteration, from ranges, and from proofs about extents that are values."""
    ranges = [_ranges(limit, loop, extent) for limit in limits]
    answers = list(map(combined_answer, zip(*ranges, strict=True)))
    undecided = [iteration for iteration, answer in enumerate(answers) if answer is None]
    if not undecided or not any(map(is_made_outside, limits[0].operands + limits[-1].operands)):
        return answers
    for limit in limits:
        undecided = _positive_in(limit, loop, undecided)
    return [True if iteration in undecided else answer for iteration, answer in enumerate(answers)]


def _positive_in(limit: ValueMap, loop: ForOp, iterations: Sequence[int]) -> Sequence[int]:
    """The iterations, of an ascending sequence, in which an expression is proven to be positive.

    A linear expression is positive from an iteration on, or up to one, so few iterations need a proof.
    """
    step, _ = linear_in(limit, loop.index)

    def is_positive(iteration: int) -> bool:
        return is_nonnegative(limit.substitute({loop.index: ValueMap.constant(iteration)}).plus(-1))

    if step == 0:
        return iterations if not iterations or is_positive(iterations[0]) else ()
    if step < 0:
        return iterations[: bisect_left(iterations, True, key=lambda each: not is_positive(each))]
    return iterations[bisect_left(iterations, True, key=is_positive) :]


def _ranges(limit: ValueMap, loop: ForOp, extent: int) -> list[Interval | None]:
    """The range of an expression in each iteration; unknown if it is not linear in the loop's index."""
    step, rest = linear_in(limit, loop.index)
    dims = {d for d, value in enumerate(limit.operands) if value is loop.index}
    known = bounds(rest.expr(), box_of(limit))
    if known is None or any(atom.used_dims() & dims for atom, _ in rest.terms):
        return [None] * extent
    return [(known[0] + step * iteration, known[1] + step * iteration) for iteration in range(extent)]


def _part(
    loop: ForOp, parts: Sequence[tuple[int, int]], answers: Sequence[Sequence[bool | None] | None], names: Names
) -> list[ForOp]:
    """Replaces a loop by its parts, inlining parts of one iteration; returns the loops inside the copies.

    `answers` has the results of each comparison in `loop` by iteration, or None if it is not queried.
    """
    assert loop.parent is not None
    inside: list[ForOp] = []
    others = [copy(loop) for _ in parts[1:]]
    loop.parent.insert_ops_after(others, loop)
    for part, (first, end) in zip((loop, *others), parts, strict=True):
        for test, found in zip(ops_of(part, CmpiOp), answers, strict=True):
            if found is not None and (answer := found[first]) is not None:
                _replace_by_constant([test], answer=answer)
        if part is not loop:
            names.rename_nested(part, "part")
            inside += [each for each in ops_of(part, ForOp) if each is not part]
        if end - first > 1:
            part.extent_attr = IntegerAttr.from_index_int_value(end - first)
            substitute_index(part.index, ValueMap.make([AffineDimExpr(0) + first], [part.index]), part.body.block)
        else:
            assert part.parent is not None
            part.parent.insert_ops_before(take_body(part, ValueMap.constant(first)), part)
            part.detach()
            part.erase()
    return inside


# --- outside of them


def _is_unrolled(test: CmpiOp) -> bool:
    """Whether a loop around a comparison is unrolled."""
    return any(loop.kind is LoopKind.UNROLLED for loop in enclosing_loops(test))


def _choices(function: FuncOp, known: _LimitsOf) -> dict[Block, list[list[CmpiOp]]]:
    """Groups equal undecided comparisons in unrolled loops by the outermost block that can test them once."""
    found: defaultdict[Block, defaultdict[Limits, list[CmpiOp]]] = defaultdict(lambda: defaultdict(list))
    wanted: set[tuple[Block, Limits]] = set()
    for test in ops_of(function, CmpiOp):
        limits = known[test]
        if limits is None or answer_of(limits) is not None:
            continue
        scope, is_unrolled = _scope(test, [value for limit in limits for value in limit.operands])
        if scope is not None:
            found[scope][limits].append(test)
            wanted |= {(scope, limits)} if is_unrolled else set()
    chosen = {
        scope: [tests for limits, tests in choices.items() if (scope, limits) in wanted]
        for scope, choices in found.items()
    }
    return {scope: choices for scope, choices in chosen.items() if choices}


def _scope(test: CmpiOp, values: Sequence[SSAValue]) -> tuple[Block | None, bool]:
    """The outermost block in a loop where all `values` are known, and whether an unrolled loop lies between."""
    blocks = {value.owner if isinstance(value.owner, Block) else value.owner.parent for value in values}
    block, is_unrolled = test.parent, False
    while block is not None and block not in blocks:
        owner = block.parent_op()
        is_unrolled = is_unrolled or (isinstance(owner, ForOp) and owner.kind is LoopKind.UNROLLED)
        block = None if owner is None else owner.parent
    inside = block is not None and not isinstance(block.parent_op(), FuncOp)
    return (block if inside else None), is_unrolled


def _choose(scope: Block, tests: Sequence[CmpiOp], names: Names) -> bool:
    """Tests the condition once in `scope`, with a copy of the ops around `tests` for each result, or returns False."""
    chosen = _ops_around(scope, tests)
    while any(isinstance(op, memref.AllocOp) for each in chosen for op in all_ops(each)):
        # The buffer of a tile is allocated once: the condition moves into the loop that allocates it.
        if len(chosen) > 1 or not isinstance(chosen[0], ForOp) or chosen[0].kind is LoopKind.UNROLLED:
            return False
        scope = chosen[0].body.block
        chosen = _ops_around(scope, tests)
    ops: list[Operation] = []
    left, right = (compute(affine(side), ops) for side in (tests[0].lhs, tests[0].rhs))
    condition = CmpiOp(left, right, tests[0].predicate.value.data)
    copied = copies(chosen, {})
    for op in copied:
        names.rename_nested(op, "else")
    pairs = zip(_all_of(chosen), _all_of(copied), strict=True)
    queried = set[Operation](tests)
    others = [copy for op, copy in pairs if op in queried]
    scope.insert_ops_before([*ops, condition], chosen[0])
    for op in chosen:
        op.detach()
    then, otherwise = (Region(Block([*each, scf.YieldOp()])) for each in (chosen, copied))
    scope.insert_ops_after([scf.IfOp(condition, [], then, otherwise)], condition)
    _replace_by_constant(tests, answer=True)
    _replace_by_constant(others, answer=False)
    return True


def _all_of(ops: Sequence[Operation]) -> list[Operation]:
    return [inner for op in ops for inner in all_ops(op)]


def _ops_around(scope: Block, tests: Sequence[CmpiOp]) -> list[Operation]:
    """The ops of a block from the first that contains one of `tests` to the last that contains one or uses results."""
    found = list(scope.ops)
    places = {op: place for place, op in enumerate(found)}
    held = [places[holder] for test in tests if (holder := scope.find_ancestor_op_in_block(test)) is not None]
    first = place = min(held)
    last = max(held)
    while place <= last:
        uses = (use.operation for result in found[place].results for use in result.uses)
        users = (places[user] for op in uses if (user := scope.find_ancestor_op_in_block(op)) is not None)
        last = max([last, *users])
        place += 1
    return found[first : last + 1]


def _replace_by_constant(tests: Sequence[Operation], *, answer: bool) -> None:
    """Replaces comparisons by the constant `answer`, and branches on them by the branch that runs."""
    for test in tests:
        for use in list(test.results[0].uses):
            if isinstance(use.operation, scf.IfOp):
                take_branch(use.operation, answer=answer)
        if test.results[0].uses:
            known = make(arith.ConstantOp, result_types=(i1,), properties={"value": _TRUE if answer else _FALSE})
            assert test.parent is not None, "it is in a loop"
            test.parent.insert_op_before(known, test)
            test.results[0].replace_all_uses_with(known.result)
        erase_unused(test)


def _erase_empty(function: FuncOp) -> None:
    """Erases loops without ops, and else regions without ops."""
    erase_empty_loops(function)
    for op in ops_of(function, scf.IfOp):
        if not op.results and _only_yields(op.false_region):
            op.false_region.detach_block(0)


def _only_yields(region: Region) -> bool:
    return bool(region.blocks) and isinstance(region.block.first_op, scf.YieldOp)
