"""The rows after the full tiles of a loop whose extent is a value, computed without a condition for each row.

A register tile with a condition for each row branches at each row in each iteration of its sum, and LLVM takes ten
times as long for it. Instead, the rest is computed in tiles of a third of the rows. Such a tile has eight to ten sums,
enough for two multiply-adds per cycle with a latency of four cycles, so it takes no longer than a single row, whose few
sums wait for each other. In the last tile, rows beyond the domain sum up the last row once more. A loop over the rows
in the domain stores the results, so that each of them is computed and stored once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.extents import expression_of, loop_of_index
from xrelay.dialects.shared.op_lists import block_of, ops_in, ops_of
from xrelay.dialects.shared.op_making import copy
from xrelay.index_algebra.value_map import join_maps
from xrelay.passes.loop.nest_edits import (
    Names,
    alloc_like,
    compute,
    erase_empty_loops,
    erase_unused,
    extent_value,
    list_buffers,
    prepend,
    simplified,
)
from xrelay.passes.loop.nest_queries import blocks_inside, domain_conditions, function_of, is_nonnegative, linear_in


class Row(NamedTuple):
    """A variable of a block in a partial tile, its extent, and the only loop that drives it out of its domain."""

    position: int
    extent: ValueMap
    loop: ForOp


Rows = Mapping[BlockOp, Row]
"""The rows of the blocks in a partial tile."""


def rows_of(loop: ForOp, last: Sequence[Operation]) -> Rows | None:
    """Returns the rows of all blocks in `last`, the partial tile of `loop`; None if a block has none."""
    pairs = zip(blocks_inside(loop), _blocks(last), strict=True)
    rows = {copied: row for block, copied in pairs if (row := _row(loop, block, copied)) is not None}
    is_whole = len(rows) == len(_blocks(last)) and len({row.extent for row in rows.values()}) == 1
    return rows if is_whole else None


def _row(loop: ForOp, block: BlockOp, copied: BlockOp) -> Row | None:
    """The variable of `copied`, a copy of `block` in the partial tile of `loop`, that may leave its domain.

    There must be one, and the tile must have an element in its domain: it runs if there are more tiles than full ones.
    """
    assert loop.dynamic_extent is not None
    found = [p for p, _ in enumerate(block.kinds) if loop.index in block.bindings[p].operands]
    if len(found) != 1 or found[0] not in block.spatial or len(domain_conditions(block, loop.index)) != 1:
        return None
    (position,) = found
    binding, extent = copied.bindings[position], expression_of(block.extents[position])
    inner = [each for value in binding.operands if (each := loop_of_index(value)) is not None]
    step, _ = linear_in(block.bindings[position], loop.index)
    tiles = ValueMap(((extent.exprs[0] + (step - 1)) // step,), extent.operands).simplified()
    is_tile = len(inner) == 1 and inner[0].extent == step
    if not is_tile or tiles != expression_of(loop.dynamic_extent) or not is_nonnegative(binding):
        return None
    return Row(position, extent, inner[0]) if linear_in(binding, inner[0].index)[0] == 1 else None


def tiles_of_rest(
    loop: ForOp, last: list[Operation], rows: Rows, full: ValueMap, names: Names
) -> tuple[list[Operation], list[Operation]] | None:
    """Moves `last`, the partial tile of `loop`, into a loop over tiles of a third of the rows.

    Returns the new ops, and those one level inside. `full` is the number of full tiles. Before → after, for 6 rows:

    ```
                                            loop.for "io_rest" %t to (%n - %full * 6 + 1) floordiv 2 {
                                              %left = %n - %full * 6 - %t * 2
    loop.for "ii" %ii to 6 unrolled {         loop.for "ii" %ii to 2 unrolled {
                                                %over = arith.minsi(%left - 1 - %ii, 0)
      loop.block "sum" (%v : spatial            loop.block "sum" (%v : spatial
          %n = %full * 6 + %ii, …) {                ? = %full * 6 + %t * 2 + %ii + %over, …) {
        %x = loop.load %X[%v, %k]                 %x = loop.load %X[%v, %k]
        … %acc[%v - %full * 6]          →         … %acc[%ii]
    …                                         …
                                              loop.for "i_copy" %c to 2 unrolled { … %row[%c] = %acc[%c] … }
    loop.for "i" %i to 6 unrolled {           loop.for "i" %i to arith.minsi(%left, 2) {
      loop.block "y" (%v : spatial              loop.block "y" (%v : spatial
          %n = %full * 6 + %i) {                    ? = %full * 6 + %t * 2 + %i) {
        %a = loop.load %acc[                      %a = loop.load %row[%i]
            %v - %full * 6]                       loop.store …, %Y[%v]
        loop.store …, %Y[%v]
    ```

    `%acc` stays in registers, since only constant rows of it are accessed. Returns None, and changes nothing, if the
    rows are not unrolled, or not apart in the buffers of the tile, or if results cannot be read from copies.
    """
    own, loops = _allocated_buffers(last), {row.loop: None for row in rows.values()}
    copied = _copied_loads(rows, own)
    if copied is None or not all(each.kind is LoopKind.UNROLLED for each in loops) or not _are_apart(loop, last, rows):
        return None
    *_, (_, extent, inner) = rows.values()
    size = inner.extent
    assert size is not None, "see _row"
    for block, row in rows.items():
        _index_by_loop(block, row, own)
    begin, function = ValueMap((full.exprs[0] * size,), full.operands), function_of(loop)
    rest, name = extent.plus(begin, -1), f"{loop.loop_name}_rest"
    if len(copied) == len(loops):
        count = extent_value(function, rest, name)
        assert isinstance(count, SSAValue), "the extent is a value"
        _store_rows(rows, begin, count, copied, names)
        return last, last
    few = _rows_of_small_tile(size)
    tiles = rest.plus(few - 1)
    count = extent_value(function, ValueMap((tiles.exprs[0] // few,), tiles.operands), name)
    small = ForOp(names.loop(name), count, no_unroll=True)
    start = begin.plus(ValueMap.identity([small.index]), few)
    before: list[Operation] = []
    left = compute(extent.plus(start, -1), before)
    before.append(inside := arith.MinSIOp(left, compute(ValueMap.constant(few), before)))
    small.body.block.add_ops([*before, *last])
    for each in loops:
        each.extent_attr = IntegerAttr.from_index_int_value(few)
    _clamp_rows({block: row for block, row in rows.items() if row.loop not in copied}, start, left)
    _store_rows({block: row for block, row in rows.items() if row.loop in copied}, start, inside.result, copied, names)
    return [small], list(small.body.block.ops)


def _rows_of_small_tile(size: int) -> int:
    """The number of rows of a small tile: at most three are left of a tile of `size` rows, with two or more rows."""
    return max(min(2, size - 1), -(-(size - 1) // 3))


def _copied_loads(rows: Rows, own: AbstractSet[SSAValue]) -> dict[ForOp, list[LoadOp]] | None:
    """The loops over rows that store results to buffers not in `own`, with their loads of elements of other loops.

    Returns None if a loop stores such elements, or loads them conditionally or at a computed index.
    """
    loops = {row.loop: None for row in rows.values()}
    accesses = {each: [op for op in ops_of(each, LoadOp, StoreOp) if op.memref in own] for each in loops}
    found: dict[ForOp, list[LoadOp]] = {}
    for each in {row.loop: None for block, row in rows.items() if not set(block.writes) <= own}:
        others = {op.memref for other in loops if other is not each for op in accesses[other]}
        loads = [op for op in accesses[each] if op.memref in others]
        if not all(map(_is_plain_load, loads)):
            return None
        found[each] = [op for op in loads if isinstance(op, LoadOp)]
    return found


def _is_plain_load(op: Operation) -> bool:
    """Whether an op in a block is a load without a condition, indexed by variables of the block."""
    if not isinstance(op, LoadOp) or not isinstance(block := op.parent_op(), BlockOp):
        return False
    return all(value in block.variables or block_of(value) is not op.parent for value in op.index_operands)


def _index_by_loop(block: BlockOp, row: Row, own: AbstractSet[SSAValue]) -> None:
    """Replaces the variable of rows by its binding in accesses of buffers of the tile."""
    variable, bindings = block.variables[row.position], block.bindings
    for op in ops_of(block.body, LoadOp, StoreOp):
        if op.memref in own:
            op.index = simplified(op.index.substitute({variable: bindings[row.position]}))


def _read_copies(loop: ForOp, loads: Sequence[LoadOp], names: Names) -> None:
    """Makes `loads` in `loop` read copies of their buffers, made by a copy of the loop before it."""
    if not loads:
        return
    targets = {op.memref: alloc_like(op.buffer_type, op.buffer_type.get_shape()) for op in loads}
    made = copy(loop)
    names.rename_nested(made, "copy")
    for block in blocks_inside(made):
        _copy_elements(block, targets)
    erase_empty_loops(made)
    assert loop.parent is not None
    loop.parent.insert_ops_before([*targets.values(), made], loop)
    for op in loads:
        op.operands[0] = targets[op.memref].memref
    for block in blocks_inside(loop):
        list_buffers(block)


def _copy_elements(block: BlockOp, targets: Mapping[SSAValue, memref.AllocOp]) -> None:
    """Makes a block copy the elements that it loads from the keys of `targets`, and nothing else."""
    loads = [op for op in ops_of(block.body, LoadOp) if op.memref in targets]
    for op in reversed(list(block.body.block.ops)):
        if op not in loads:
            op.detach()
            op.erase()
    for op in loads:
        block.body.block.add_op(StoreOp(op.result, targets[op.memref].memref, op.index))
    list_buffers(block)
    if not loads:
        block.detach()
        block.erase()


def _store_rows(
    rows: Rows, first: ValueMap, count: SSAValue, copied: Mapping[ForOp, Sequence[LoadOp]], names: Names
) -> None:
    """Makes loops over rows that store results run over the `count` rows from `first` on."""
    for block, row in rows.items():
        _start_at(first, block, row)
    for loop in {row.loop: None for row in rows.values()}:
        _read_copies(loop, copied[loop], names)
        loop.kind, loop.extent_attr, loop.no_unroll_attr = LoopKind.SERIAL, None, UnitAttr()
        loop.operands = (count,)


def _clamp_rows(rows: Rows, first: ValueMap, left: SSAValue) -> None:
    """Makes rows begin at `first`. If fewer than the tile has are `left`, the others equal the last one."""
    distances = {row.loop: _distance_to_last(row.loop, left) for row in rows.values()}
    for block, row in rows.items():
        is_used = bool(block.variables[row.position].uses)
        _start_at(first.plus(ValueMap.identity(distances[row.loop].results)) if is_used else first, block, row)
    for distance in distances.values():
        erase_unused(distance)


def _distance_to_last(loop: ForOp, left: SSAValue) -> arith.MinSIOp:
    """The distance from a row of a tile back to the last of the `left` rows, or 0 for a row before it."""
    ops: list[Operation] = []
    after = compute(ValueMap.identity([left]).plus(ValueMap.identity([loop.index]), -1).plus(-1), ops)
    ops.append(distance := arith.MinSIOp(after, compute(ValueMap.constant(0), ops)))
    prepend(loop.body.block, ops)
    return distance


def _start_at(first: ValueMap, block: BlockOp, row: Row) -> None:
    """Makes the rows of a block begin at `first`; they are in the domain."""
    bindings = block.bindings
    binding = first.plus(ValueMap.identity([row.loop.index]))
    block.bindings = join_maps([binding if k == row.position else bindings[k] for k, _ in enumerate(block.kinds)])
    block.set_extents([DYNAMIC if k == row.position else each for k, each in enumerate(block.extents)])


def _are_apart(loop: ForOp, last: Sequence[Operation], rows: Rows) -> bool:
    """Whether each row of a partial tile has its own elements in the buffers that the tile allocates.

    It has if one index of each access is the index of the loop over the rows. No other access may use this index, nor
    that of `loop`, except through the variable of a block.
    """
    indices = {loop.index: _allocated_buffers([loop])} | {
        row.loop.index: _allocated_buffers(last) for row in rows.values()
    }
    for index, own in indices.items():
        users = [use.operation for use in index.uses]
        if not all(isinstance(op, BlockOp) or (isinstance(op, LoadOp | StoreOp) and op.memref in own) for op in users):
            return False
    own = _allocated_buffers(last)
    inside = [(block, row, op) for block, row in rows.items() for op in ops_in(block.body)]
    return all(_is_own_row(block, row, op, own) for block, row, op in inside)


def _is_own_row(block: BlockOp, row: Row, op: Operation, own: AbstractSet[SSAValue]) -> bool:
    """Whether an op of a block accesses no buffer of `own`, or an element for its row only."""
    if own.isdisjoint(op.operands):
        return True
    if not isinstance(op, LoadOp | StoreOp):
        return False
    index = simplified(op.index.substitute({v: block.bindings[k] for k, v in enumerate(block.variables)}))
    along = [k for k, _ in enumerate(index.exprs) if row.loop.index in index[k].operands]
    row_index = ValueMap.identity([row.loop.index])
    return len(along) == 1 and index[along[0]] == row_index and op.buffer_type.get_shape()[along[0]] == row.loop.extent


def _allocated_buffers(ops: Iterable[Operation]) -> set[SSAValue]:
    return {op.memref for each in ops for op in ops_of(each, memref.AllocOp)}


def _blocks(ops: Iterable[Operation]) -> list[BlockOp]:
    return [block for op in ops for block in blocks_inside(op)]
