"""The rows after the full tiles of an instruction on tiles, in a loop whose extent is a value.

An instruction computes a tile of few rows as fast as a full one, but it reads all rows of its data. So the rows of the
rest are copied, and a full tile of the copy is computed. Its other rows repeat the last row, and are not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import prod
from typing import Final, NamedTuple

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.loop import DYNAMIC, LOCAL, BlockOp, ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.extents import loop_of_index
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.index_algebra.value_map import join_maps
from xrelay.passes.loop.memory.buffer_size import element_size
from xrelay.passes.loop.nest_edits import Names, compute, copy_nest, list_buffers, simplified
from xrelay.passes.loop.nest_queries import STACK_BYTES, blocks_inside, enclosing_loops, function_of
from xrelay.passes.loop.partial_tiles import Row, Rows, allocated_buffers, loops_in

MAX_BYTES: Final = STACK_BYTES // 4 * 3
"""The maximum size of a copy, which is on the stack, as are the sums of the tiles."""


class RestData(NamedTuple):
    """A read of data by the sums of a partial tile."""

    load: LoadOp
    places: tuple[ValueMap, ...]
    """The index in each dimension, in terms of the loops around the sums."""
    along: int
    """The dimension of the rows."""
    shape: tuple[int, ...]
    """The shape of the copy: one element for a dimension in which the tile reads only one."""
    root: Operation
    """The outermost loop around the tile on which the data do not depend."""

    @property
    def type_of_copy(self) -> MemRefType:
        """The type of the copy, a local buffer."""
        return buffer_type(self.load.buffer_type.element_type, self.shape, space=StringAttr(LOCAL))


def copy_rest(loop: ForOp, last: Sequence[Operation], rows: Rows, full: ValueMap, names: Names) -> bool:
    """Makes the sums of `last`, the partial tile of `loop`, those of a full tile of copied rows.

    Returns False, and changes nothing, if no instruction on tiles computes them, or if their data cannot be copied.
    `full` is the number of full tiles. Before → after, for 16 rows:

    ```
                                              %rest = memref.alloc() : memref<16x64xi8>
                                              scf.if %full * 16 < %n {
                                                loop.for "rest_0" %r to 16 {
                                                  %row = arith.minsi(%full * 16 + %r, %n - 1)
                                                  loop.for "rest_1" %c to 64 { … %X[%row, %c] … %rest[%r, %c] … }
                                                }
                                              }
    loop.for "k" %k to 16 tensorized {        loop.for "k" %k to 16 tensorized {
      loop.for "i" %i to 16 unrolled {          loop.for "i" %i to 16 unrolled {
        loop.block "sum" (%v : spatial %n =       loop.block "sum" (%v : spatial ? =
                          %i + %full * 16, …) {                     %i + %full * 16, …) {
          %x = loop.load %X[%v, …]         →        %x = loop.load %rest[%v - %full * 16, …]
    ```

    The rows are copied before the outermost loop on which they do not depend. That loop must not store to the data, and
    the copy must fit on the stack.
    """
    sums = sums_on_tiles(rows)
    data = _data_of(loop, sums[0], rows[sums[0]], last) if len(sums) == 1 else None
    if data is None or not allocated_buffers(last).issuperset(sums[0].writes):
        return False
    row = rows[sums[0]]
    start = ValueMap((full.exprs[0] * data.shape[data.along],), full.operands)
    copied = _copy(data, start, row.extent, names)
    _read(sums[0], data, copied, ValueMap.identity([sums[0].variables[row.position]]).plus(start, -1))
    compute_whole_tile(rows, sums[0])
    return True


def sums_on_tiles(rows: Rows) -> list[BlockOp]:
    """Returns the blocks that an instruction on tiles computes."""
    return [each for each in rows if any(loop.kind is LoopKind.TENSORIZED for loop in enclosing_loops(each))]


def compute_whole_tile(rows: Rows, sums: BlockOp) -> None:
    """Makes a partial tile compute all its sums, also those of rows outside of the domain."""
    for block in rows:
        if set(block.writes) <= set(sums.writes):
            position = rows[block].position
            block.set_extents([DYNAMIC if k == position else each for k, each in enumerate(block.extents)])


def _data_of(loop: ForOp, block: BlockOp, row: Row, last: Sequence[Operation]) -> RestData | None:
    """Returns the read of `block` that depends on its row; None unless there is one, of rows that may be copied."""
    variable, size = block.variables[row.position], row.loop.extent or 0
    loads = [each for each in ops_of(block.body, LoadOp) if variable in each.index_operands]
    found = [each for each in loads if each.memref not in allocated_buffers(last)]
    if len(found) != 1:
        return None
    (load,), bindings = found, block.bindings
    dimensions = range(len(load.index))
    along = [k for k in dimensions if variable in load.index[k].operands]
    if len(along) != 1 or load.index[along[0]] != ValueMap.identity([variable]):
        return None
    index = simplified(load.index.substitute({each: bindings[k] for k, each in enumerate(block.variables)}))
    inside = {each.index for each in loops_in(last)}
    fixed = [inside.isdisjoint(index[k].operands) for k in dimensions]
    if any(not fixed[k] and not inside.issuperset(index[k].operands) for k in dimensions if k != along[0]):
        return None
    extents = load.buffer_type.get_shape()
    shape = [size if k == along[0] else 1 if fixed[k] else extents[k] for k in dimensions]
    root = _root(loop, {each for k in dimensions if fixed[k] for each in index[k].operands})
    if DYNAMIC_INDEX in shape or any(each.memref is load.memref for each in ops_of(root, StoreOp)):
        return None
    data = RestData(load, tuple(index[k] for k in dimensions), along[0], tuple(shape), root)
    return data if prod(shape) * (element_size(load.buffer_type.element_type) or 1) <= MAX_BYTES else None


def _root(loop: ForOp, used: AbstractSet[SSAValue]) -> Operation:
    """Returns the outermost op around `loop`, or `loop`, that is inside of the loops with the indices `used`."""
    root: Operation = loop
    around = {each for each in map(loop_of_index, used) if each is not None}
    while (parent := root.parent_op()) is not None and parent not in around and parent is not function_of(loop):
        root = parent
    return root


def _copy(data: RestData, start: ValueMap, extent: ValueMap, names: Names) -> SSAValue:
    """Copies the rows from `start` on, if there are any; returns the copy."""
    alloc = memref.AllocOp([], [], data.type_of_copy)
    alloc.memref.name_hint = name = names.block("rest")
    loops = [names.loop(f"{name}_{k}") for k, _ in enumerate(data.shape)]
    nest = copy_nest(name, loops, data.shape, {data.load.memref: alloc.memref})
    (block,), around = blocks_inside(nest), ops_of(nest, ForOp)[data.along]
    ops: list[Operation] = []
    first = compute(start.plus(ValueMap.identity([around.index])), ops)
    ops.append(row := arith.MinSIOp(first, compute(extent.plus(-1), ops)))
    assert around.body.block.first_op is not None
    around.body.block.insert_ops_before(ops, around.body.block.first_op)
    (load,) = ops_of(block.body, LoadOp)
    load.index = join_maps([_source(data, k, load.index[k], row.result) for k, _ in enumerate(data.shape)])
    test: list[Operation] = []
    test.append(is_partial := CmpiOp(compute(start, test), compute(extent, test), "slt"))
    guarded = scf.IfOp(is_partial, [], Region(Block([nest, scf.YieldOp()])))
    assert data.root.parent is not None
    data.root.parent.insert_ops_before([alloc, *test, guarded], data.root)
    return alloc.memref


def _source(data: RestData, dimension: int, own: ValueMap, row: SSAValue) -> ValueMap:
    """Returns the index in the data of element `own` of the copy."""
    if dimension == data.along:
        return ValueMap.identity([row])
    return own if data.shape[dimension] == data.load.buffer_type.get_shape()[dimension] else data.places[dimension]


def _read(block: BlockOp, data: RestData, copied: SSAValue, row: ValueMap) -> None:
    """Makes a block read a copy of its data at `row`."""
    load, zero = data.load, ValueMap.constant(0)
    shape = load.buffer_type.get_shape()
    index = [load.index[k] if extent == shape[k] else zero for k, extent in enumerate(data.shape)]
    index[data.along] = row
    load.operands[0] = copied
    load.index = join_maps(index)
    list_buffers(block)
