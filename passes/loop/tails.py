"""Partial last tiles: strategies for loop iterations beyond a block's domain.

A split by a factor that does not divide the extent makes bindings of blocks exceed their domains: `%i = %io * 16 + %ii`
with 3 * 16 iterations over a domain of 40. The outer loop selects one of three strategies:

- peel: the loop is cut after its full tiles, and each part gets loops of constant extent;
- mask: the loop stays whole and the statement gets a condition, an `scf.if` or a mask of vectors;
- overlap: the last tile starts earlier, so that it is full; some elements are computed twice.

If the extent of a loop is a value, the number of full tiles is a value too, computed at the top of the kernel. The
partial tile keeps its size and has conditions on elements outside of the domain: lanes become masked, and register
tiles stay in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, LoadOp, LoopKind, StoreOp, Tail, ValueMap
from xrelay.dialects.loop.extents import expression_of
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.op_making import copy
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.errors import ScheduleError
from xrelay.index_algebra.affine_bounds import LinearForm, bounds, linear_form
from xrelay.passes.loop.nest_edits import Names, compute, extent_value, prepend, substitute_index, take_body
from xrelay.passes.loop.nest_queries import (
    blocks_inside,
    box_of,
    domain_conditions,
    is_local,
    is_made_outside,
    is_nonnegative,
)


@dataclass(frozen=True)
class TailBounds:
    """Bounds of a loop beyond which a variable of a block inside leaves its domain.

    Before iteration `full` the variable is in its domain for all iterations of the inner loops, from iteration `dead`
    on for no iterations. The variable grows by `step` with each iteration; the last tile is full if it starts at
    `last_base`.
    """

    full: int
    dead: int
    step: int
    last_base: int


def tail_bounds(loop: ForOp, binding: ValueMap, extent: int) -> TailBounds | None:
    """Returns the bounds at which `loop` drives `binding` out of `[0, extent)`.

    Returns None if the binding does not grow linearly with the loop, or depends on a loop around it.
    """
    if loop.extent is None or loop.index not in binding.operands:
        return None
    dim = binding.operands.index(loop.index)
    inside = {d for d, value in enumerate(binding.operands) if _runs_inside(loop, value)}
    form = linear_form(binding.exprs[0], box_of(binding))
    step = sum(coefficient for atom, coefficient in form.terms if atom == AffineDimExpr(dim))
    rest = [(atom, coefficient) for atom, coefficient in form.terms if atom != AffineDimExpr(dim)]
    if step <= 0 or any(not atom.used_dims() <= inside for atom, _ in rest):
        return None
    low, high = bounds(LinearForm(tuple(rest), form.constant).expr(), box_of(binding)) or (-1, -1)
    if low < 0:
        return None
    full, dead = (min(max((extent - 1 - end) // step + 1, 0), loop.extent) for end in (high, low))
    return TailBounds(full, dead, step, extent - 1 - high)


def _runs_inside(loop: ForOp, value: SSAValue) -> bool:
    """Whether `value` is the index of a loop inside `loop`."""
    owner = value.block.parent_op() if isinstance(value, BlockArgument) else None
    return isinstance(owner, ForOp) and owner is not loop and loop.is_ancestor(owner)


def handle_tails(body: Block, names: Names) -> None:
    """Cuts or moves the loops in `body` by their tail strategies; raises `ScheduleError` if overlap is not possible.

    The remainder after a cut may be too short to move a tile back; it is then peeled.
    """
    pending = [(op, False) for op in body.ops if isinstance(op, ForOp) and _may_leave_domain(op)]
    while pending:
        loop, is_rest = pending.pop()
        if (inside := cut_dynamic(loop, names)) is not None:
            pending += [(op, is_rest or rest) for op, rest in inside]
            continue
        all_bounds = [(block, limits) for block in blocks_inside(loop) for limits in _all_tail_bounds(loop, block)]
        if loop.tail is Tail.OVERLAP and any(limits.full < limits.dead for _, limits in all_bounds):
            try:
                _overlap(loop, all_bounds)
                all_bounds = []
            except ScheduleError:
                if not is_rest:
                    raise
                loop.tail = Tail.PEEL
        if loop.tail is Tail.PEEL and all_bounds:
            pending += [(op, is_rest or rest) for op, rest in _cut(loop, [limits for _, limits in all_bounds], names)]
        else:
            pending += [(op, is_rest) for op in loop.body.block.ops if isinstance(op, ForOp)]


def _may_leave_domain(loop: ForOp) -> bool:
    return any(domain_conditions(block) for block in blocks_inside(loop))


def _all_tail_bounds(loop: ForOp, block: BlockOp) -> Iterator[TailBounds]:
    """Yields the bounds at which `loop` drives the variables of `block` out of their domains."""
    if loop.extent is None:
        return
    for binding, extent in domain_conditions(block, loop.index):
        number = extent.exprs[0]
        limits = tail_bounds(loop, binding, number.value) if isinstance(number, AffineConstantExpr) else None
        if limits is not None:
            yield limits


# --- peel


def _cut(loop: ForOp, all_bounds: Sequence[TailBounds], names: Names) -> list[tuple[ForOp, bool]]:
    """Cuts a loop after its full tiles and after its last iteration in the domain.

    Returns the loops one level inside, each with whether it belongs to the remainder.

    Before → after, `%vi : spatial 40 = %io * 16 + %ii`:

    ```
    loop.for "io" %io to 3 {        loop.for "io" %io to 2 {
      loop.for "ii" %ii to 16 {       loop.for "ii" %ii to 16 { … %io * 16 + %ii … }
        …                           }
      }                             loop.for "ii_tail" %ii to 16 { … 32 + %ii … }
    }
    ```

    (the second loop is then cut to 8 iterations, since the others are outside of the domain).

    A parallel loop with one partial tile stays one loop, so that this tile runs in parallel too: see `_fork`. If the
    statements inside end at different positions, the loop is cut, and each partial tile runs between the parts.
    """
    extent = loop.extent
    assert extent is not None
    assert loop.parent is not None
    cuts = sorted({0, extent, *(limits.full for limits in all_bounds), *(limits.dead for limits in all_bounds)})
    partial = {limits.full for limits in all_bounds if limits.full + 1 == limits.dead}
    end_of_all = max(limits.dead for limits in all_bounds)
    alive = [(first, last) for first, last in pairwise(cuts) if first < end_of_all]
    if loop.kind is LoopKind.PARALLEL and len(alive) == 2 and alive[1][0] in partial:
        return _fork(loop, alive[0][1], names)
    parts = [loop, *(copy(loop) for _ in alive[1:])] if alive else []
    if parts:
        loop.parent.insert_ops_after(parts[1:], loop)
    inside: list[tuple[ForOp, bool]] = []
    for part, (first, last) in zip(parts, alive, strict=True):
        if part is not loop:
            names.rename_nested(part, "tail")
        is_one = last - first == 1 and first in partial
        ops = _inline(part, first) if is_one else _restrict(part, first, last)
        inside += [(op, first > 0 or first in partial) for op in ops if isinstance(op, ForOp)]
    if not parts:
        loop.detach()
        loop.erase()
    return inside


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
    assert loop.parent is not None
    loop.parent.insert_ops_before(ops, loop)
    loop.detach()
    loop.erase()
    return ops


def _fork(loop: ForOp, full: int, names: Names) -> list[tuple[ForOp, bool]]:
    """Makes a parallel loop select full tiles or the partial tile; returns the loops inside like `_cut`.

    Before → after, `%vi : spatial 40 = %io * 16 + %ii`:

    ```
    loop.for "io" %io to 3 parallel {   loop.for "io" %io to 3 parallel {
      loop.for "ii" %ii to 16 {           %is_full = arith.cmpi slt, %io, 2
        … %io * 16 + %ii …                scf.if %is_full {
                                            %f = arith.minsi(%io, 1)
                                            loop.for "ii" %ii to 16 { … %f * 16 + %ii … }
                                          } else {
                                            loop.for "ii_tail" %ii to 16 { … 32 + %ii … }
    ```

    The minimum changes no value: it bounds the index, for analyses of the ops inside, to the full tiles.
    """
    rest = copy(loop)
    names.rename_nested(rest, "tail")
    forked = ForOp(loop.loop_name, full + 1, kind=loop.kind, no_unroll=loop.no_unroll)
    forked.location, forked.index.name_hint = loop.location, loop.index.name_hint
    limit, last = (arith.ConstantOp(IntegerAttr.from_index_int_value(number)) for number in (full, full - 1))
    is_full, within = CmpiOp(forked.index, limit, "slt"), arith.MinSIOp(forked.index, last)
    tiles = take_body(loop, ValueMap.identity([within.result]))
    tile = take_body(rest, ValueMap.constant(full))
    then, otherwise = (Region(Block([*ops, scf.YieldOp()])) for ops in ([last, within, *tiles], tile))
    forked.body.block.add_ops([limit, is_full, scf.IfOp(is_full, [], then, otherwise)])
    assert loop.parent is not None
    loop.parent.insert_op_before(forked, loop)
    loop.detach()
    loop.erase()
    return [(op, ops is tile) for ops in (tiles, tile) for op in ops if isinstance(op, ForOp)]


# --- overlap


def _overlap(loop: ForOp, all_bounds: Sequence[tuple[BlockOp, TailBounds]]) -> None:
    """Moves the last tile of a loop back until it is full.

    Before → after, `%vi : spatial 40 = %io * 16 + %ii`:

    ```
    loop.for "io" %io to 3 tail = overlap {   loop.for "io" %io to 3 {
      loop.for "ii" %ii to 16 {                 %base = arith.minsi(%io * 16, 24)
        … %io * 16 + %ii …                      loop.for "ii" %ii to 16 { … %base + %ii … }
    ```

    Raises `ScheduleError` if a second computation of an element would differ, if there is no full tile, or if the
    statements inside have tiles of different sizes.
    """
    _check_recomputable(loop)
    places = {(limits.step, limits.last_base) for _, limits in all_bounds}
    if len(places) != 1:
        raise _refusal(loop, f"tiles inside end at different places, (step, last base) are {sorted(places)}")
    ((step, last_base),) = places
    if last_base < 0:
        raise _refusal(loop, f"the domain is shorter than one tile by {-last_base}")
    ops: list[Operation] = []
    start = compute(ValueMap.make([AffineDimExpr(0) * step], [loop.index]), ops)
    limit = arith.ConstantOp(IntegerAttr.from_index_int_value(last_base))
    base = arith.MinSIOp(start, limit)
    replaced = [(user, _moved(loop, user, step, base.result)) for user in _users(loop, ops)]
    prepend(loop.body.block, [*ops, limit, base])
    for user, index in replaced:
        if isinstance(user, BlockOp):
            user.bindings = index
        else:
            user.index = index
    loop.tail = Tail.PEEL


def _users(loop: ForOp, new: Sequence[Operation]) -> list[BlockOp | LoadOp | StoreOp]:
    """The blocks and accesses whose expressions use a loop's index; other users must be in `new`."""
    users: list[BlockOp | LoadOp | StoreOp] = []
    for user in dict.fromkeys(use.operation for use in loop.index.uses):
        if isinstance(user, BlockOp | LoadOp | StoreOp):
            users.append(user)
        elif user not in new:
            raise _refusal(loop, f"'{user.name}' computes with its index")
    return users


def _moved(loop: ForOp, user: BlockOp | LoadOp | StoreOp, step: int, base: SSAValue) -> ValueMap:
    """The expressions of `user` with `base * k` for `index * (k * step)`."""
    value = user.bindings if isinstance(user, BlockOp) else user.index
    operands = (*value.operands, base)
    dim = operands.index(loop.index)
    exprs: list[AffineExpr] = []
    for expr in value.exprs:
        form = linear_form(expr)
        factor = sum(coefficient for atom, coefficient in form.terms if atom == AffineDimExpr(dim))
        rest = tuple(term for term in form.terms if term[0] != AffineDimExpr(dim))
        if factor % step or any(dim in atom.used_dims() for atom, _ in rest):
            raise _refusal(loop, f"an index inside moves by {factor}, which is no multiple of the tile's {step}")
        moved = LinearForm(((AffineDimExpr(len(operands) - 1), factor // step),))
        exprs.append(LinearForm(rest, form.constant).plus(moved).expr())
    return ValueMap.make(exprs, operands)


def _check_recomputable(loop: ForOp) -> None:
    """Checks that elements may be computed twice: no op inside reads results of an earlier iteration."""
    blocks = blocks_inside(loop)
    written = {buffer for block in blocks for buffer in block.writes}
    for block in blocks:
        loaded = {op.memref for op in ops_of(block.body, LoadOp)}
        for buffer in loaded & written:
            if buffer in block.writes:
                _check_accumulation(loop, block, is_local(buffer))
            elif not is_local(buffer):
                raise _refusal(loop, f"block {block.block_name!r} reads a buffer that another block inside writes")


def _check_accumulation(loop: ForOp, block: BlockOp, local: bool) -> None:
    """Checks that a block that loads its output does a whole reduction, including its init, in each iteration."""
    positions = [p for p, kind in enumerate(block.kinds) if kind is not IterKind.SPATIAL]
    reducing = block.bindings.select(positions).operands
    if not reducing or not all(_runs_inside(loop, value) for value in reducing):
        raise _refusal(loop, f"block {block.block_name!r} would add to some elements twice")
    if loop.kind is LoopKind.PARALLEL and not local:
        raise _refusal(loop, f"two threads would accumulate the same elements in block {block.block_name!r}")


def _refusal(loop: ForOp, reason: str) -> ScheduleError:
    return ScheduleError(
        f"loop {loop.loop_name!r} cannot have tail = overlap: {reason}",
        location=location_of(loop),
        help="use peel or mask",
    )


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
    ops = (_fork_dynamic if loop.kind is LoopKind.PARALLEL else _cut_serial)(loop, tiles, last)
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


def _cut_serial(loop: ForOp, tiles: Tiles, last: Sequence[Operation]) -> list[Operation]:
    """Restricts a serial loop to its full tiles and inserts the partial tile after it; returns the full tile's ops."""
    full, count = _values(loop, tiles)
    loop.operands[0] = full
    test = CmpiOp(full, count, "slt")
    choice = scf.IfOp(test, [], Region(Block([*last, scf.YieldOp()])))
    assert loop.parent is not None
    loop.parent.insert_ops_after([test, choice], loop)
    return list(loop.body.block.ops)


def _fork_dynamic(loop: ForOp, tiles: Tiles, last: Sequence[Operation]) -> list[Operation]:
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
