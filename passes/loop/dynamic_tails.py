"""Partial last tiles of loops whose extent is a value: full tiles without conditions, then one tile with conditions.

The number of full tiles is then a value too, computed at the top of the kernel. The partial tile keeps its size and has
conditions on elements outside of the domain: lanes become masked, and register tiles stay in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import ForOp, LoopKind, Tail, ValueMap
from xrelay.dialects.loop.extents import expression_of
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.affine_bounds import LinearForm, bounds, linear_form
from xrelay.passes.loop.nest_edits import Names, compute, extent_value, take_body
from xrelay.passes.loop.nest_queries import blocks_inside, box_of, domain_conditions, is_made_outside, is_nonnegative


@dataclass(frozen=True)
class Tiles:
    """The number of full tiles of a loop, and of all tiles; they differ by at most one."""

    full: ValueMap
    all: ValueMap


def cut_dynamic(loop: ForOp, names: Names) -> list[tuple[ForOp, bool]] | None:
    """Cuts a loop whose extent is a value into full tiles and a partial one.

    Returns the ops one level inside the loop, each with whether it belongs to the partial tile. Returns None if the
    loop stays unchanged, so that all its tiles keep their conditions.

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

    A parallel loop stays one loop that selects one of the two tiles, so that the partial tile runs in parallel too:

    ```
    loop.for "io" %io to %tiles parallel {
      %is_full = arith.cmpi slt, %io, %full
      scf.if %is_full {
        %f = arith.minsi(%io, %full - 1)     // changes no value, but bounds the index
        loop.for "ii" %ii to 16 { … %f * 16 + %ii … }
      } else {
        loop.for "ii_tail" %ii to 16 { … (%n floordiv 16) * 16 + %ii … }
    ```
    """
    if loop.extent is not None or loop.tail is not Tail.PEEL or loop.kind not in (LoopKind.SERIAL, LoopKind.PARALLEL):
        return None
    tiles = _tiles(loop)
    if tiles is None:
        return None
    partial = loop.clone()
    names.rename_nested(partial, "tail")
    last = take_body(partial, tiles.full)
    ops = (_fork if loop.kind is LoopKind.PARALLEL else _cut)(loop, tiles, last)
    return [(op, ops is last) for ops in (ops, last) for op in ops if isinstance(op, ForOp)]


def _tiles(loop: ForOp) -> Tiles | None:
    """The full tiles of a loop, equal for all statements inside; None unless at most one tile can be partial."""
    assert loop.dynamic_extent is not None
    count = expression_of(loop.dynamic_extent)
    found = {
        _full_tiles(loop, binding, extent)
        for block in blocks_inside(loop)
        for binding, extent in domain_conditions(block, loop.index)
    }
    full = found.pop() if len(found) == 1 else None
    if full is None or not all(map(is_made_outside, count.operands)):
        return None
    over = count.plus(full, -1)
    at_most_one = ValueMap((over.exprs[0] * -1 + 1,), over.operands)
    if (
        full == count
        or not full.operands
        or not is_nonnegative(over)
        or not is_nonnegative(at_most_one)
        or not is_nonnegative(full)
    ):
        return None
    return Tiles(full, count)


def _full_tiles(loop: ForOp, binding: ValueMap, extent: ValueMap) -> ValueMap | None:
    """The number of iterations of `loop` in which `binding` is always below `extent`; None if it is not linear.

    With `step * %io + rest`, `rest` at most `high`, it is `(extent - 1 - high) floordiv step + 1`.
    """
    dim = binding.operands.index(loop.index)
    form = linear_form(binding.exprs[0], box_of(binding))
    step = sum(coefficient for atom, coefficient in form.terms if atom == AffineDimExpr(dim))
    fixed = {d for d, value in enumerate(binding.operands) if is_made_outside(value)}
    outer = [term for term in form.terms if term[0].used_dims() <= fixed]
    rest = [term for term in form.terms if term not in outer and term[0] != AffineDimExpr(dim)]
    inner = bounds(LinearForm(tuple(rest), form.constant).expr(), box_of(binding))
    if step <= 0 or inner is None or any(dim in atom.used_dims() for atom, _ in rest):
        return None
    left = extent.plus(ValueMap.make([LinearForm(tuple(outer)).expr()], binding.operands), -1)
    room = left.plus(step - 1 - inner[1])
    return ValueMap((room.exprs[0] // step,), room.operands).simplified()


def _cut(loop: ForOp, tiles: Tiles, last: Sequence[Operation]) -> list[Operation]:
    """Restricts a serial loop to its full tiles and inserts the partial tile after it; returns the full tile's ops."""
    full, count = _values(loop, tiles)
    loop.operands[0] = full
    test = CmpiOp(full, count, "slt")
    choice = scf.IfOp(test, [], Region(Block([*last, scf.YieldOp()])))
    assert loop.parent is not None
    loop.parent.insert_ops_after([test, choice], loop)
    return list(loop.body.block.ops)


def _fork(loop: ForOp, tiles: Tiles, last: Sequence[Operation]) -> list[Operation]:
    """Makes a parallel loop select the full or the partial tile; returns the ops of the full tile."""
    full, count = _values(loop, tiles)
    forked = ForOp(loop.loop_name, count, kind=loop.kind, no_unroll=loop.no_unroll)
    forked.location, forked.index.name_hint = loop.location, loop.index.name_hint
    ops: list[Operation] = []
    highest = compute(tiles.full.plus(-1), ops)
    is_full, within = CmpiOp(forked.index, full, "slt"), arith.MinSIOp(forked.index, highest)
    tile = take_body(loop, ValueMap.identity([within.result]))
    then, otherwise = (Region(Block([*branch, scf.YieldOp()])) for branch in ([*ops, within, *tile], last))
    forked.body.block.add_ops([is_full, scf.IfOp(is_full, [], then, otherwise)])
    assert loop.parent is not None
    loop.parent.insert_op_before(forked, loop)
    loop.detach()
    loop.erase()
    return tile


def _values(loop: ForOp, tiles: Tiles) -> tuple[SSAValue, SSAValue]:
    """The numbers of full tiles and of all tiles, as values at the top of the kernel."""
    kernel = loop.parent_op()
    while not isinstance(kernel, FuncOp):
        assert kernel is not None, "loops whose tails are handled stand in a function"
        kernel = kernel.parent_op()
    full, count = extent_value(kernel, tiles.full, f"{loop.loop_name}_full"), loop.bound
    assert isinstance(full, SSAValue), "see _tiles"
    assert isinstance(count, SSAValue), "the loop has a value for its extent"
    return full, count
