"""The rows after the full tiles of a loop whose extent is a value, computed without a condition for each row.

A register tile with a condition for each row branches at each row in each iteration of its sum, and LLVM takes ten
times as long for it. Instead, the rest is computed in one to three tiles of a third of the rows. Such a tile has eight
to ten sums, enough for two multiply-adds per cycle with a latency of four cycles. The last one begins so early that all
its rows are in the domain, so some rows are computed twice. Domains of fewer rows are computed row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.extents import expression_of, loop_of_index
from xrelay.dialects.shared.attribute_names import IN_PLACE
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.op_lists import all_ops, ops_in, ops_of
from xrelay.dialects.shared.op_making import copies
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.value_map import join_maps
from xrelay.passes.loop.nest_edits import Names, compute, extent_value, simplified
from xrelay.passes.loop.nest_queries import blocks_inside, domain_conditions, function_of, is_nonnegative, linear_in

MIN_ROWS = 5
"""The minimum number of rows of a tile for which there are tiles of fewer rows."""


class Row(NamedTuple):
    """A variable of a block in a partial tile, its extent, and the only loop that drives it out of its domain."""

    position: int
    extent: ValueMap
    loop: ForOp


Rows = Mapping[BlockOp, Row]
"""The rows of the blocks in a partial tile."""


def rows_of(loop: ForOp, last: Sequence[Operation]) -> Rows | None:
    """Returns the rows of the blocks in `last`, the partial tile of `loop`.

    None if a block has none, unless all rows share what it computes in a buffer of the tile.
    """
    pairs = list(zip(blocks_inside(loop), blocks_in(last), strict=True))
    rows = {copied: row for block, copied in pairs if (row := _row(loop, block, copied)) is not None}
    is_whole = all(copied in rows or _is_shared(loop, block, copied, last, rows) for block, copied in pairs)
    return rows if is_whole and len({row.extent for row in rows.values()}) == 1 else None


def _is_shared(loop: ForOp, block: BlockOp, copied: BlockOp, last: Sequence[Operation], rows: Rows) -> bool:
    """Whether a tile computes a block once for all rows, because the block reads no row: it may unpack a weight."""
    depends = any(loop.index in op.operands for op in (block, *all_ops(block)))
    is_inside = any(row.loop.is_ancestor(copied) for row in rows.values())
    return not depends and not is_inside and allocated_buffers(last).issuperset(copied.writes)


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
    """Moves `last`, the partial tile of `loop`, into loops over tiles of a third of the rows, and over single rows.

    Returns the new ops, and those one level inside. `full` is the number of full tiles. Before → after, for 6 rows:

    ```
    loop.for "ii" %ii to 6 unrolled {                      scf.if %n < 2 {
      loop.block "sum" (%v : spatial %n =                    loop.for "io_rows" %r to %n - %full * 6 { … 1 row … }
                        %ii + %full * 6, …) {              } else {
        %x = loop.load %X[%v, %k]                            loop.for "io_few" %t to (%n - %full * 6 + 1) floordiv 2 {
        … loop.store …, %acc[%v - %full * 6]        →          %first = arith.minsi(%full * 6 + %t * 2, %n - 2)
                                                               loop.for "ii" %ii to 2 unrolled {
                                                                 loop.block "sum" (%v : spatial ? = %first + %ii, …) {
                                                                   %x = loop.load %X[%v, %k]
                                                                   … loop.store …, %acc[%ii]
    ```

    Rows that may not be computed twice, or that have no sums, are left to tiles of one row. Returns None, and changes
    nothing, if no block's rows are unrolled, or they are not apart in the buffers of the tile.
    """
    if not any(row.loop.kind is LoopKind.UNROLLED for row in rows.values()) or not _are_apart(loop, last, rows):
        return None
    *_, (_, extent, inner) = rows.values()
    size, function, name = inner.extent, function_of(loop), loop.loop_name
    assert size is not None, "see _row"
    start = ValueMap((full.exprs[0] * size,), full.operands)
    if size < MIN_ROWS or not allocated_buffers(last) or not may_repeat(function, last):
        return [single_rows(name, last, rows, start, names, function)], last
    few, singles = -(-(size - 1) // 3), copies(last, {})
    for each in singles:
        names.rename_nested(each, "row")
    single = single_rows(name, singles, copied_rows(rows, last, singles), start, names, function)
    small = _early_tiles(f"{name}_few", last, rows, start, few, names, function)
    return if_less(extent, few, [single], [small]), [*last, *singles]


def if_less(extent: ValueMap, count: int, less: Sequence[Operation], other: Sequence[Operation]) -> list[Operation]:
    """Runs the ops `less` if the extent is less than `count`, and the ops `other` if not."""
    tests: list[Operation] = []
    tests.append(test := CmpiOp(compute(extent, tests), compute(ValueMap.constant(count), tests), "slt"))
    return [*tests, scf.IfOp(test, [], _region(less), _region(other))]


def _early_tiles(
    name: str, ops: Sequence[Operation], rows: Rows, start: ValueMap, count: int, names: Names, function: FuncOp
) -> ForOp:
    """A loop over tiles of `count` rows from `start` on. The last one begins so early that all its rows exist."""
    *_, (_, extent, _) = rows.values()
    left, name = extent.plus(start, -1).plus(count - 1), names.loop(name)
    tiles = extent_value(function, ValueMap((left.exprs[0] // count,), left.operands), f"{name}_extent")
    around = ForOp(name, tiles, no_unroll=True)
    before: list[Operation] = []
    first = compute(start.plus(ValueMap.identity([around.index]), count), before)
    before.append(within := arith.MinSIOp(first, compute(extent.plus(-count), before)))
    _start_at(ValueMap.identity([within.result]), rows, count, allocated_buffers(ops))
    around.body.block.add_ops([*before, *ops])
    return around


def single_rows(
    name: str, ops: Sequence[Operation], rows: Rows, start: ValueMap, names: Names, function: FuncOp
) -> ForOp:
    """A loop over the rows from `start` on, one at a time, with the ops of a partial tile."""
    *_, (_, extent, _) = rows.values()
    name = names.loop(f"{name}_rows")
    around = ForOp(name, extent_value(function, extent.plus(start, -1), f"{name}_extent"), no_unroll=True)
    around.body.block.add_ops(ops)
    _start_at(start.plus(ValueMap.identity([around.index])), rows, 1, allocated_buffers(ops))
    return around


def _start_at(first: ValueMap, rows: Rows, count: int, own: AbstractSet[SSAValue]) -> None:
    """Makes a tile with the buffers `own` compute `count` rows from `first` on, which are in the domain."""
    for block, row in rows.items():
        variable, bindings = block.variables[row.position], block.bindings
        for op in ops_of(block.body, LoadOp, StoreOp):
            if op.memref in own:
                op.index = simplified(op.index.substitute({variable: bindings[row.position]}))
        binding = first.plus(ValueMap.identity([row.loop.index]))
        block.bindings = join_maps([binding if k == row.position else bindings[k] for k, _ in enumerate(block.kinds)])
        block.set_extents([DYNAMIC if k == row.position else each for k, each in enumerate(block.extents)])
        row.loop.extent_attr = IntegerAttr.from_index_int_value(count)


def copied_rows(rows: Rows, ops: Sequence[Operation], copied: Sequence[Operation]) -> Rows:
    """Returns the rows of the blocks in `copied`, a copy of `ops`."""
    loops = dict(zip(loops_in(ops), loops_in(copied), strict=True))
    blocks = dict(zip(blocks_in(ops), blocks_in(copied), strict=True))
    return {blocks[block]: Row(row.position, row.extent, loops[row.loop]) for block, row in rows.items()}


def _are_apart(loop: ForOp, last: Sequence[Operation], rows: Rows) -> bool:
    """Whether each row of a partial tile has its own elements in the buffers that the tile allocates.

    It has if one index of each access is the index of the loop over the rows. No other access may use this index, nor
    that of `loop`, except through the variable of a block.
    """
    indices = {loop.index: allocated_buffers([loop])} | {
        row.loop.index: allocated_buffers(last) for row in rows.values()
    }
    for index, own in indices.items():
        users = [use.operation for use in index.uses]
        if not all(isinstance(op, BlockOp) or (isinstance(op, LoadOp | StoreOp) and op.memref in own) for op in users):
            return False
    shared = {buffer for block in blocks_in(last) if block not in rows for buffer in block.writes}
    own = allocated_buffers(last) - shared
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


def may_repeat(function: FuncOp, last: Sequence[Operation]) -> bool:
    """Whether the blocks of a tile may run twice for a row: they do not read what the tile stores to memory.

    Nor do two blocks store to the same buffer, as the start and the terms of a sum do.
    """
    own, blocks = allocated_buffers(last), blocks_in(last)
    written = [buffer for block in blocks for buffer in block.writes if buffer not in own]
    shared = function.attributes.get(IN_PLACE)
    numbers = shared.get_values() if is_attribute(shared, DenseArrayBase[IntegerType]) else ()
    results = {*written, *(function.body.block.args[number] for number in numbers)}
    loaded = [op.memref for block in blocks for op in ops_of(block.body, LoadOp)]
    return len(set(written)) == len(written) and results.isdisjoint(loaded)


def allocated_buffers(ops: Iterable[Operation]) -> set[SSAValue]:
    """Returns the buffers that ops, or ops inside of them, allocate."""
    return {op.memref for each in ops for op in ops_of(each, memref.AllocOp)}


def blocks_in(ops: Iterable[Operation]) -> list[BlockOp]:
    """Returns the blocks in `ops`, in the order of the text."""
    return [block for op in ops for block in blocks_inside(op)]


def loops_in(ops: Sequence[Operation]) -> list[ForOp]:
    """Returns the loops in `ops`, and `ops` that are loops, in the order of the text."""
    return [loop for op in ops for loop in ops_of(op, ForOp)]


def _region(ops: Sequence[Operation]) -> Region:
    return Region(Block([*ops, scf.YieldOp()]))
