"""Partial last tiles: strategies for loop iterations beyond a block's domain.

After a split by a factor that does not divide the extent, bindings of blocks exceed their domains: `%i = %io * 16 +
%ii` has 3 * 16 iterations over a domain of 40. The outer loop selects one of two strategies:

- peel: the loop is cut after its full tiles, and each of the new loops has a constant extent;
- mask: the loop stays whole and the statement gets a condition, an `scf.if` or a mask of vectors.

If the extent of a loop is a value, the number of full tiles is a value too, computed at the top of the kernel. The
partial tile keeps its size and has conditions on elements outside of the domain: lanes become masked, and register
tiles stay in registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from xrelay.dialects.loop import BlockOp, ForOp, LoopKind, Tail, ValueMap
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.extents import expression_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.op_making import copy
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.affine_bounds import bounds
from xrelay.index_algebra.linear_form import LinearForm
from xrelay.passes.loop.copied_rest import copy_rest
from xrelay.passes.loop.nest_edits import Names, compute, extent_value, substitute_index, take_body
from xrelay.passes.loop.nest_queries import (
    blocks_inside,
    box_of,
    domain_conditions,
    function_of,
    is_made_outside,
    is_nonnegative,
    linear_in,
)
from xrelay.passes.loop.partial_tiles import if_less, rows_of, tiles_of_rest
from xrelay.passes.loop.partial_vectors import begin_early, vectors_of_rest
from xrelay.passes.loop.whole_rest import whole_rest


class TailBounds(NamedTuple):
    """Bounds of a loop beyond which a variable of a block inside leaves its domain.

    In iterations below `full`, the variable is in its domain for all iterations of the inner loops; in iterations from
    `dead` on, it never is.
    """

    full: int
    dead: int


def handle_tails(body: Block, names: Names) -> None:
    """Cuts the loops in `body` whose tail is `peel`."""
    pending = [op for op in body.ops if isinstance(op, ForOp) and any(map(domain_conditions, blocks_inside(op)))]
    while pending:
        loop = pending.pop()
        inside: Iterable[Operation] | None = None
        if loop.tail is Tail.PEEL:
            inside = _peel(loop, names) if loop.extent is not None else _peel_dynamic(loop, names)
        pending += [op for op in (loop.body.block.ops if inside is None else inside) if isinstance(op, ForOp)]


# --- loops of constant extent


def _peel(loop: ForOp, names: Names) -> list[Operation] | None:
    """Cuts a loop after its full tiles and after its last iteration in the domain.

    Returns the ops one level inside, or None if the loop stays unchanged.

    Before → after, `%vi : spatial 40 = %io * 16 + %ii`:

    ```
    loop.for "io" %io to 3 {        loop.for "io" %io to 2 {
      loop.for "ii" %ii to 16 {       loop.for "ii" %ii to 16 { … %io * 16 + %ii … }
        …                           }
      }                             loop.for "ii_tail" %ii to 16 { … 32 + %ii … }
    }
    ```

    (the second loop is then cut to the 8 iterations in the domain).

    A parallel loop with one partial tile stays one loop, so that this tile runs in parallel too: see `_fork`. If the
    statements inside end at different positions, the loop is cut, and each partial tile runs between the new loops.
    """
    limits = [each for block in blocks_inside(loop) for each in _tail_bounds(loop, block)]
    if not limits:
        return None
    assert loop.extent is not None
    assert loop.parent is not None
    cuts = sorted({0, loop.extent, *(each.full for each in limits), *(each.dead for each in limits)})
    partial = {each.full for each in limits if each.full + 1 == each.dead}
    end_of_all = max(each.dead for each in limits)
    alive = [(first, last) for first, last in pairwise(cuts) if first < end_of_all]
    if loop.kind is LoopKind.PARALLEL and len(alive) == 2 and alive[1][0] in partial:
        full = alive[0][1]
        last = _tail(loop, ValueMap.constant(full), names)
        return [*_fork(loop, last, ValueMap.constant(full), full, full + 1), *last]
    loops = [loop, *(copy(loop) for _ in alive[1:])] if alive else []
    loop.parent.insert_ops_after(loops[1:], loop)
    inside: list[Operation] = []
    for each, (first, last) in zip(loops, alive, strict=True):
        if each is not loop:
            names.rename_nested(each, "tail")
        is_one = last - first == 1 and first in partial
        inside += _inline(each, first) if is_one else _restrict(each, first, last)
    if not loops:
        loop.detach()
        loop.erase()
    return inside


def _tail_bounds(loop: ForOp, block: BlockOp) -> Iterator[TailBounds]:
    """Yields the bounds at which `loop` drives the variables of `block` out of their domains.

    There are no bounds for a variable whose binding is not linear in the loop, or depends on a loop around it.
    """
    for binding, extent in domain_conditions(block, loop.index):
        number = extent.exprs[0]
        inside = {d for d, value in enumerate(binding.operands) if _runs_inside(loop, value)}
        step, rest = linear_in(binding, loop.index)
        is_linear = step > 0 and all(atom.used_dims() <= inside for atom, _ in rest.terms)
        if not isinstance(number, AffineConstantExpr) or not is_linear or loop.extent is None:
            continue
        low, high = bounds(rest.expr(), box_of(binding)) or (-1, -1)
        if low >= 0:
            ends = (min(max((number.value - 1 - end) // step + 1, 0), loop.extent) for end in (high, low))
            yield TailBounds(*ends)


def _runs_inside(loop: ForOp, value: SSAValue) -> bool:
    """Whether `value` is the index of a loop inside `loop`."""
    owner = value.block.parent_op() if isinstance(value, BlockArgument) else None
    return isinstance(owner, ForOp) and owner is not loop and loop.is_ancestor(owner)


def _restrict(loop: ForOp, first: int, last: int) -> list[Operation]:
    """Restricts a loop to its iterations from `first` to `last - 1`; returns the ops inside."""
    loop.extent_attr = IntegerAttr.from_index_int_value(last - first)
    if first:
        shifted = ValueMap.make([AffineDimExpr(0) + first], [loop.index])
        substitute_index(loop.index, shifted, loop.body.block)
    return list(loop.body.block.ops)


def _inline(loop: ForOp, iteration: int) -> list[Operation]:
    """Replaces a loop by one of its iterations; returns the ops of the iteration."""
    ops = take_body(loop, ValueMap.constant(iteration))
    _replace(loop, ops)
    return ops


# --- loops whose extent is a value


def _peel_dynamic(loop: ForOp, names: Names) -> list[Operation] | None:
    """Cuts a loop whose extent is a value into full tiles and a partial one, or smaller ones.

    `partial_tiles` and `partial_vectors` make the smaller ones. Returns the ops one level inside the loop, or None if
    the loop stays unchanged, so that all its tiles keep their conditions.

    Before → after, `%vi : spatial %n = %io * 16 + %ii`:

    ```
                                    %full = arith.divui %n, %c16
    loop.for "io" %io to %tiles {   loop.for "io" %io to %full {
      loop.for "ii" %ii to 16 {       loop.for "ii" %ii to 16 { … %io * 16 + %ii … }
        …                           }
      }                             %is_partial = arith.cmpi slt, %full, %tiles
    }                               scf.if %is_partial {
                                      loop.for "ii_tail" %ii to 16 { … (%n floordiv 16) * 16 + %ii … }
                                    }
    ```

    A parallel loop stays one loop that selects one of the two tiles: see `_fork`.
    """
    full = _full_tiles(loop) if loop.kind in (LoopKind.SERIAL, LoopKind.PARALLEL) else None
    if full is None:
        return None
    number, count = extent_value(function_of(loop), full, f"{loop.loop_name}_full"), loop.bound
    assert isinstance(number, SSAValue), "see _full_tiles"
    assert isinstance(count, SSAValue), "the extent is a value"
    last = _tail(loop, full, names)
    _keep_rolled(last)
    rows = rows_of(loop, last)
    tiles = whole = None
    if rows is not None:
        whole = whole_rest(loop, last, rows, full, names)
    if whole is None and (rows is None or not copy_rest(loop, last, rows, full, names)):
        tiles = vectors_of_rest(loop, last, full, names)
        if tiles is None and rows is not None:
            tiles = tiles_of_rest(loop, last, rows, full, names)
        if tiles is None and (row := begin_early(loop, last)) is not None:
            return _masked_or_early(loop, last, row.extent, row.size, number, count)
    rest, inside = tiles or whole or (last, last)
    if loop.kind is LoopKind.PARALLEL:
        return [*_fork(loop, rest, full, number, count), *inside]
    loop.operands[0] = number
    if tiles is None:
        test = CmpiOp(number, count, "slt")
        rest = [test, scf.IfOp(test, [], _region(rest))]
    assert loop.parent is not None
    loop.parent.insert_ops_after(rest, loop)
    return [*loop.body.block.ops, *inside]


def _masked_or_early(
    loop: ForOp, last: Sequence[Operation], extent: ValueMap, size: int, number: SSAValue, count: SSAValue
) -> list[Operation]:
    """Runs `last`, a partial tile with masks, instead of `loop` if the extent does not fill a tile of `size` elements.

    No tile of `loop`, which `begin_early` changed, leaves the domain if the extent fills one. `number` is the number of
    full tiles, and `count` that of all. Returns the ops one level inside. Before → after:

    ```
    loop.for "jo" %jo to %tiles {      scf.if %n < 32 {
      …                                  %is_partial = arith.cmpi slt, %full, %tiles
    }                                    scf.if %is_partial { … last … }
                                  →    } else {
                                         loop.for "jo" %jo to %tiles {
                                           …
    ```

    A parallel loop stays outside, and each iteration selects a tile.
    """
    tiles = list(loop.body.block.ops)
    if loop.kind is LoopKind.PARALLEL:
        for op in tiles:
            op.detach()
        loop.body.block.add_ops(if_less(extent, size, last, tiles))
    else:
        block, test = loop.parent, CmpiOp(number, count, "slt")
        assert block is not None
        block.insert_op_before(test, loop)
        loop.detach()
        block.insert_ops_after(if_less(extent, size, [scf.IfOp(test, [], _region(last))], [loop]), test)
    return [*tiles, *last]


def _keep_rolled(tile: Sequence[Operation]) -> None:
    """Keeps LLVM from unrolling loops around loops of a partial tile, which takes long and gains little: it runs once.

    Loops that the schedule unrolls, and innermost loops, stay as they are.
    """
    for loop in (each for op in tile for each in ops_of(op, ForOp)):
        if loop.kind is LoopKind.SERIAL and loop.extent is not None and len(ops_of(loop, ForOp)) > 1:
            loop.no_unroll = True


def _full_tiles(loop: ForOp) -> ValueMap | None:
    """The full tiles of a loop, equal for all statements inside; None unless at most one tile can be partial."""
    assert loop.dynamic_extent is not None
    count = expression_of(loop.dynamic_extent)
    found = {
        _full_tiles_of(loop, binding, extent)
        for block in blocks_inside(loop)
        for binding, extent in domain_conditions(block, loop.index)
    }
    full = found.pop() if len(found) == 1 else None
    if full is None or full == count or not full.operands or not all(map(is_made_outside, count.operands)):
        return None
    over = count.plus(full, -1)
    at_most_one = ValueMap((over.exprs[0] * -1 + 1,), over.operands)
    return full if all(map(is_nonnegative, (over, at_most_one, full))) else None


def _full_tiles_of(loop: ForOp, binding: ValueMap, extent: ValueMap) -> ValueMap | None:
    """The number of iterations of `loop` in which `binding` is always below `extent`; None if it is not linear.

    With `step * %io + rest`, `rest` at most `high`, it is `(extent - 1 - high) floordiv step + 1`.
    """
    dim, (step, form) = binding.operands.index(loop.index), linear_in(binding, loop.index)
    fixed = {d for d, value in enumerate(binding.operands) if is_made_outside(value)}
    outer = tuple(term for term in form.terms if term[0].used_dims() <= fixed)
    rest = tuple(term for term in form.terms if term not in outer)
    inner = bounds(LinearForm(rest, form.constant).expr(), box_of(binding))
    if step <= 0 or inner is None or any(dim in atom.used_dims() for atom, _ in rest):
        return None
    left = extent.plus(ValueMap.make([LinearForm(outer).expr()], binding.operands), -1)
    room = left.plus(step - 1 - inner[1])
    return ValueMap((room.exprs[0] // step,), room.operands).simplified()


# --- both


def _tail(loop: ForOp, iteration: ValueMap, names: Names) -> list[Operation]:
    """Returns a copy of the ops of one iteration of a loop, with new names."""
    partial = copy(loop)
    names.rename_nested(partial, "tail")
    return take_body(partial, iteration)


def _fork(loop: ForOp, last: Sequence[Operation], full: ValueMap, number: Extent, count: Extent) -> list[Operation]:
    """Makes a parallel loop of `count` tiles select full tiles or the partial tile `last`; returns the full tile's ops.

    `number` is the value of `full`, the number of full tiles. Before → after, `%vi : spatial 40 = %io * 16 + %ii`:

    ```
    loop.for "io" %io to 3 parallel {   loop.for "io" %io to 3 parallel {
      loop.for "ii" %ii to 16 {           %is_full = arith.cmpi slt, %io, 2
        … %io * 16 + %ii …                scf.if %is_full {
                                            %f = arith.minsi(%io, 1)
                                            loop.for "ii" %ii to 16 { … %f * 16 + %ii … }
                                          } else {
                                            loop.for "ii_tail" %ii to 16 { … 32 + %ii … }
    ```

    The minimum changes no value. It lets analyses of the ops inside see that the index is that of a full tile.
    """
    forked = ForOp(loop.loop_name, count, kind=loop.kind, no_unroll=loop.no_unroll)
    forked.location, forked.index.name_hint = loop.location, loop.index.name_hint
    before: list[Operation] = []
    ops: list[Operation] = []
    limit = number if isinstance(number, SSAValue) else compute(full, before)
    is_full = CmpiOp(forked.index, limit, "slt")
    within = arith.MinSIOp(forked.index, compute(full.plus(-1), ops))
    tiles = take_body(loop, ValueMap.identity([within.result]))
    choice = scf.IfOp(is_full, [], _region([*ops, within, *tiles]), _region(last))
    forked.body.block.add_ops([*before, is_full, choice])
    _replace(loop, [forked])
    return tiles


def _region(ops: Sequence[Operation]) -> Region:
    return Region(Block([*ops, scf.YieldOp()]))


def _replace(loop: ForOp, ops: Sequence[Operation]) -> None:
    assert loop.parent is not None
    loop.parent.insert_ops_before(ops, loop)
    loop.detach()
    loop.erase()
