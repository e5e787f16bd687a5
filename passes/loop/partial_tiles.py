"""Partial register tiles of a loop whose extent is a value, without a condition for each row.

A partial tile with a condition for each row of registers branches at each row in each iteration of its sum. Instead,
the rows beyond the domain repeat the last row in the domain. They are never stored to memory, because the block that
stores the tile keeps its conditions. Few rows should not take the time of a whole tile, so the last rows are computed
in one to three tiles of a third of the rows. Such a tile has eight to ten sums, enough for two multiply-adds per cycle
with a latency of four cycles.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.extents import expression_of, loop_of_index
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.index_algebra.value_map import join_maps
from xrelay.passes.loop.nest_edits import Names, compute, prepend
from xrelay.passes.loop.nest_queries import (
    blocks_inside,
    domain_conditions,
    is_local,
    is_nonnegative,
    is_within,
    linear_in,
)

MIN_ROWS = 5
"""The minimum number of rows of a tile whose rest is computed in tiles of fewer rows."""


def without_conditions(
    loop: ForOp, last: list[Operation], full: ValueMap, names: Names
) -> tuple[list[Operation], list[Operation]]:
    """Removes conditions from `last`, the partial tile of `loop`; returns the new ops, and those one level inside.

    `full` is the number of full tiles. Before → after, for a tile of 6 rows:

    ```
    loop.for "ii" %ii to 6 unrolled {                      %tiles = (%n - %full * 6 + 1) floordiv 2
      loop.block "sum" (%v : spatial %n = %ii + …, …) {    loop.for "io_few" %t to %tiles unroll = disable {
        %x = loop.load %X[%v, %k]                     →      loop.for "ii" %ii to 2 unrolled {
        … loop.store …, %acc[%v - …, …]                        loop.block "sum" (%v : spatial ? = %ii + %t * 2 + …, …) {
                                                                 %w = arith.minsi(%v, %n - 1)
                                                                 %x = loop.load %X[%w, %k]
                                                                 … loop.store …, %acc[%v - %t * 2 - …, …]
    ```

    The tile is unchanged if a condition does not depend on one unrolled loop, or if all blocks store to memory. It
    stays whole if another block depends on `loop`.
    """
    blocks = [block for op in last for block in blocks_inside(op)]
    limited: dict[BlockOp, _Row] = {}
    others = False
    for block, copied in zip(blocks_inside(loop), blocks, strict=True):
        if domain_conditions(block, loop.index):
            if (row := _row(loop, block, copied)) is None:
                return last, last
            limited[copied] = row
        elif loop.index in block.bindings.operands:
            others = True
    kept = {buffer for block in blocks if block not in limited for buffer in block.writes}
    summed = [
        block
        for block in limited
        if kept.isdisjoint(block.writes) and all(map(_stays_within, ops_of(block.body, StoreOp)))
    ]
    if not summed or len({row.extent for row in limited.values()}) != 1:
        return last, last
    for block in summed:
        _repeat_last(block, limited[block].position)
    return (last, last) if others else _in_smaller_tiles(last, limited, full, names.loop(f"{loop.loop_name}_few"))


def _in_smaller_tiles(
    last: list[Operation], rows: Mapping[BlockOp, _Row], full: ValueMap, name: str
) -> tuple[list[Operation], list[Operation]]:
    """Runs `last` in a loop `name` over tiles of a third of its rows; returns the loop, and the ops inside.

    `rows` has the blocks that may leave their domain. At least one row of the whole tile is in the domain, and at least
    one is not.
    """
    row = next(iter(rows.values()))
    count = row.loop.extent
    assert count is not None, "see _row"
    if count < MIN_ROWS:
        return last, last
    few = -(-(count - 1) // 3)
    ops: list[Operation] = []
    left = row.extent.plus(full, -count)
    tiles = compute(ValueMap(((left.exprs[0] + (few - 1)) // few,), left.operands).simplified(), ops)
    loop = ForOp(name, tiles, no_unroll=True)
    shift = ValueMap.make([AffineDimExpr(0) * few], [loop.index])
    local = {result for op in last for alloc in ops_of(op, memref.AllocOp) for result in alloc.results}
    for block, each in rows.items():
        each.loop.extent_attr = IntegerAttr.from_index_int_value(few)
        _move(block, each.position, shift, local)
    loop.body.block.add_ops(last)
    return [*ops, loop], last


def _move(block: BlockOp, position: int, shift: ValueMap, local: Collection[SSAValue]) -> None:
    """Adds `shift` to a variable of `block`, except in accesses to the buffers `local`."""
    bindings = [block.bindings[k] for k in range(len(block.variables))]
    bindings[position] = bindings[position].plus(shift)
    block.bindings = join_maps(bindings)
    variable = block.variables[position]
    for access in ops_of(block, LoadOp, StoreOp):
        if access.memref in local:
            access.index = access.index.substitute({variable: ValueMap.identity([variable]).plus(shift, -1)})


class _Row(NamedTuple):
    """A variable of a block in a partial tile, its extent, and the unrolled loop that drives it out of its domain."""

    position: int
    extent: ValueMap
    loop: ForOp


def _row(loop: ForOp, block: BlockOp, copied: BlockOp) -> _Row | None:
    """The variable of `copied`, a copy of `block` in the partial tile of `loop`, that may leave its domain.

    There must be one, and the tile must have an element in its domain: it runs if there are more tiles than full ones.
    """
    assert loop.dynamic_extent is not None
    found = [p for p in block.spatial if loop.index in block.bindings[p].operands]
    if len(found) != 1 or len(domain_conditions(block, loop.index)) != 1:
        return None
    (position,) = found
    binding, extent = copied.bindings[position], expression_of(block.extents[position])
    inner = [each for value in binding.operands if (each := loop_of_index(value)) is not None]
    step, _ = linear_in(block.bindings[position], loop.index)
    tiles = ValueMap(((extent.exprs[0] + (step - 1)) // step,), extent.operands).simplified()
    is_tile = len(inner) == 1 and inner[0].kind is LoopKind.UNROLLED and inner[0].extent == step
    if not is_tile or tiles != expression_of(loop.dynamic_extent) or not is_nonnegative(binding):
        return None
    return _Row(position, extent, inner[0]) if linear_in(binding, inner[0].index)[0] == 1 else None


def _stays_within(store: StoreOp) -> bool:
    """Whether a store is to a local buffer, and in bounds for all values of the loops around it."""
    block = store.parent_op()
    assert isinstance(block, BlockOp)
    index = store.index.substitute({variable: block.bindings[k] for k, variable in enumerate(block.variables)})
    extents = enumerate(store.buffer_type.get_shape())
    return is_local(store.memref) and all(all(is_within(index[k], ValueMap.constant(extent))) for k, extent in extents)


def _repeat_last(block: BlockOp, position: int) -> None:
    """Clamps a variable to its domain, except in accesses to buffers that `block` writes."""
    variable = block.variables[position]
    uses = list(variable.uses)
    ops: list[Operation] = []
    last = compute(expression_of(block.extents[position]).plus(-1), ops)
    ops.append(within := arith.MinSIOp(variable, last))
    for use in uses:
        if not (isinstance(use.operation, LoadOp | StoreOp) and use.operation.memref in block.writes):
            use.operation.operands[use.index] = within.result
    prepend(block.body.block, ops)
    block.set_extents([DYNAMIC if k == position else each for k, each in enumerate(block.extents)])
