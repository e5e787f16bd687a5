"""The vectors after the full tiles of a row whose extent is a value, computed one at a time.

A tile of a row has a few unrolled vectors. In the partial tile each of them has a mask, and takes as long as in a full
tile even if no lane is in the domain. A loop over the vectors that have such a lane takes a quarter of the time for a
row of up to 16 elements, which is the usual length of a row of a small image.

A tile with several rows, as in a product, stays whole, because its rows share the vectors of the other factor. If there
are enough elements for a full tile, the last one begins early and needs no masks, so that all tiles have one body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import prod
from typing import Final, NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.loop.extents import expression_of, loop_of_index
from xrelay.dialects.shared.op_lists import ops_in, ops_of
from xrelay.index_algebra.value_map import join_maps
from xrelay.passes.loop.nest_edits import Names, compute, extent_value, prepend, simplified
from xrelay.passes.loop.nest_queries import blocks_inside, domain_conditions, function_of, linear_in, reduces_over
from xrelay.passes.loop.partial_tiles import allocated_buffers, blocks_in, loops_in, may_repeat


class Vectors(NamedTuple):
    """A variable of a block in a partial tile, its extent, and the loops over vectors and lanes that drive it."""

    position: int
    extent: ValueMap
    vectors: ForOp
    lanes: ForOp

    @property
    def width(self) -> int:
        """The number of lanes."""
        return self.lanes.extent or 1

    @property
    def size(self) -> int:
        """The number of elements of a tile."""
        return self.width * (self.vectors.extent or 1)

    @property
    def element(self) -> ValueMap:
        """The index of an element in the tile."""
        index = ValueMap.identity([self.vectors.index])
        return ValueMap((index.exprs[0] * self.width,), index.operands).plus(ValueMap.identity([self.lanes.index]))


def vectors_of_rest(
    loop: ForOp, last: Sequence[Operation], full: ValueMap, names: Names
) -> tuple[list[Operation], list[Operation]] | None:
    """Moves `last`, the partial tile of `loop`, into a loop over its vectors.

    Returns the new ops, and those one level inside. `full` is the number of full tiles. Before → after, for 4 vectors:

    ```
    loop.for "v" %v to 4 unrolled {               loop.for "jo_vectors" %t to (%n - %full * 64 + 15) floordiv 16 {
      loop.for "j" %j to 16 vectorized {            loop.for "v" %v to 1 unrolled {
        loop.block "sum" (%x : spatial %n =     →     loop.for "j" %j to 16 vectorized {
            %full * 64 + %v * 16 + %j) { … }            loop.block "sum" (%x : spatial %n =
                                                            %full * 64 + %t * 16 + %j) { … }
    ```

    Returns None, and changes nothing, if a block has no such vectors, if other loops of the tile are unrolled, as those
    over the rows of a product, or if the vectors are not apart in the buffers of the tile.
    """
    rows = _rows_of(loop, last)
    if rows is None or _has_other_rows(last, rows):
        return None
    *_, row = rows.values()
    extent, width = row.extent, row.width
    function, name = function_of(loop), names.loop(f"{loop.loop_name}_vectors")
    start = ValueMap((full.exprs[0] * row.size,), full.operands)
    left = extent.plus(start, -1).plus(width - 1)
    count = extent_value(function, ValueMap((left.exprs[0] // width,), left.operands), f"{name}_extent")
    around = ForOp(name, count, no_unroll=True)
    around.body.block.add_ops(last)
    own = allocated_buffers(last)
    for block, each in rows.items():
        _start_at(block, each, around.index, own)
    _unroll_terms(last)
    return [around], list(last)


def begin_early(loop: ForOp, last: Sequence[Operation]) -> Vectors | None:
    """Makes each tile of `loop` begin so early that all its elements are in the domain, which must fill one tile.

    Makes `last`, a copy of the partial tile, the only tile of a smaller domain. Returns the vectors of a block.
    Before → after, for 2 vectors and several rows:

    ```
    loop.for "jo" %jo to %tiles {                 loop.for "jo" %jo to %tiles {
                                                    %first = arith.minsi(%jo * 32, %n - 32)
      loop.for "i" %i to 6 unrolled {               loop.for "i" %i to 6 unrolled {
        loop.for "v" %v to 2 unrolled {               loop.for "v" %v to 2 unrolled {
          loop.for "j" %j to 16 vectorized {            loop.for "j" %j to 16 vectorized {
            loop.block "sum" (%x : spatial %n =   →       loop.block "sum" (%x : spatial ? =
                %jo * 32 + %v * 16 + %j) { … }                %first + %v * 16 + %j) { … }
    ```

    Only the last tile may move, so some of its elements are computed twice. Returns None, and changes nothing, if that
    changes results, or if the tile has no such vectors or no sums.
    """
    rows = _rows_of(loop, last)
    if rows is None or not allocated_buffers(last) or not may_repeat(function_of(loop), last):
        return None
    body = list(loop.body.block.ops)
    own, users = allocated_buffers(body), [use.operation for use in loop.index.uses]
    if not all(isinstance(op, BlockOp) or (isinstance(op, LoadOp | StoreOp) and op.memref in own) for op in users):
        return None
    own_loops = dict(zip(loops_in(last), loops_in(body), strict=True))
    moved = {
        block: row._replace(vectors=own_loops[row.vectors], lanes=own_loops[row.lanes])
        for block, row in zip(blocks_in(body), (rows[copied] for copied in blocks_in(last)), strict=True)
    }
    *_, row = moved.values()
    before: list[Operation] = []
    start = compute(ValueMap((AffineDimExpr(0) * row.size,), (loop.index,)), before)
    before.append(first := arith.MinSIOp(start, compute(row.extent.plus(-row.size), before)))
    for block, each in moved.items():
        _move_to(block, each, ValueMap.identity([first.result]).plus(each.element), own)
        block.set_extents([DYNAMIC if k == each.position else extent for k, extent in enumerate(block.extents)])
    prepend(loop.body.block, before)
    for block, each in rows.items():
        _move_to(block, each, each.element, allocated_buffers(last))
    return row


MAX_TERMS: Final = 64
"""The maximum number of terms of a vector that are unrolled: a window of 7 x 7."""


def _unroll_terms(tile: Sequence[Operation]) -> None:
    """Unrolls a few terms of a vector, so that a core overlaps them with those of the next vector.

    The full tiles overlap the terms of their vectors, and are not unrolled.
    """
    for block in blocks_in(tile):
        terms = [loop for loop in loops_in(tile) if loop.is_ancestor(block) and reduces_over(block, loop)]
        if prod(loop.extent or MAX_TERMS + 1 for loop in terms) <= MAX_TERMS:
            for loop in terms:
                loop.kind, loop.no_unroll = LoopKind.UNROLLED, False


def _vectors(loop: ForOp, block: BlockOp, copied: BlockOp) -> Vectors | None:
    """Returns the variable of `copied`, a copy of `block` in the partial tile of `loop`, that may leave its domain.

    There must be one, and it must be driven by an unrolled loop over vectors and a loop over their lanes.
    """
    found = [p for p, _ in enumerate(block.kinds) if loop.index in block.bindings[p].operands]
    if len(found) != 1 or found[0] not in block.spatial or len(domain_conditions(block, loop.index)) != 1:
        return None
    (position,) = found
    size, binding = linear_in(block.bindings[position], loop.index)[0], copied.bindings[position]
    inner = [each for value in binding.operands if (each := loop_of_index(value)) is not None]
    by_kind = {each.kind: each for each in inner}
    vectors, lanes = by_kind.get(LoopKind.UNROLLED), by_kind.get(LoopKind.VECTORIZED)
    if len(inner) != 2 or vectors is None or lanes is None or lanes.extent is None:
        return None
    steps = [linear_in(binding, each.index)[0] for each in (vectors, lanes)]
    is_tile = steps == [lanes.extent, 1] and size == lanes.extent * (vectors.extent or 0)
    return Vectors(position, expression_of(block.extents[position]), vectors, lanes) if is_tile else None


def _rows_of(loop: ForOp, last: Sequence[Operation]) -> dict[BlockOp, Vectors] | None:
    """Returns the vectors of all blocks in `last`, the partial tile of `loop`; None unless all have the same, apart."""
    pairs = list(zip(blocks_inside(loop), blocks_in(last), strict=True))
    rows = {copied: row for block, copied in pairs if (row := _vectors(loop, block, copied)) is not None}
    is_whole = len(rows) == len(pairs) and len({(row.extent, row.width) for row in rows.values()}) == 1
    return rows if is_whole and _are_apart(last, rows) else None


def _has_other_rows(last: Sequence[Operation], rows: Mapping[BlockOp, Vectors]) -> bool:
    """Whether loops of a tile are unrolled that are not those over its vectors."""
    loops = {row.vectors for row in rows.values()}
    return any(each.kind is LoopKind.UNROLLED and each not in loops for each in loops_in(last))


def _are_apart(last: Sequence[Operation], rows: Mapping[BlockOp, Vectors]) -> bool:
    """Whether each element of a row has its own elements in the buffers that the partial tile allocates."""
    own = allocated_buffers(last)
    indices = [each.index for row in rows.values() for each in (row.vectors, row.lanes)]
    if not all(isinstance(use.operation, BlockOp) for index in indices for use in index.uses):
        return False
    return all(
        own.isdisjoint(op.operands) or (isinstance(op, LoadOp | StoreOp) and _is_own_element(block, row, op))
        for block, row in rows.items()
        for op in ops_in(block.body)
    )


def _is_own_element(block: BlockOp, row: Vectors, access: LoadOp | StoreOp) -> bool:
    """Whether an index of an access is that of the element of the row, in a dimension of the size of the tile."""
    index, shape = _in_loops(block, access), access.buffer_type.get_shape()
    along = [k for k, _ in enumerate(index.exprs) if not set(index[k].operands).isdisjoint(row.element.operands)]
    return len(along) == 1 and index[along[0]] == row.element and shape[along[0]] == row.size


def _in_loops(block: BlockOp, access: LoadOp | StoreOp) -> ValueMap:
    """The index of an access in terms of the loops around the block."""
    bindings = block.bindings
    return simplified(access.index.substitute({v: bindings[k] for k, v in enumerate(block.variables)}))


def _start_at(block: BlockOp, row: Vectors, vector: SSAValue, own: AbstractSet[SSAValue]) -> None:
    """Makes a block of a tile with the buffers `own` compute one vector of its row, whose number is `vector`."""
    number = {row.vectors.index: ValueMap.identity([vector])}
    _move_to(block, row, simplified(block.bindings[row.position].substitute(number)), own)
    if not ops_of(block.body, LoadOp) and all(op.memref in own for op in ops_of(block.body, StoreOp)):
        # All lanes are initialised, so that a vector does not depend on the lanes of the one before.
        block.set_extents([DYNAMIC if k == row.position else each for k, each in enumerate(block.extents)])
    row.vectors.extent_attr = IntegerAttr.from_index_int_value(1)


def _move_to(block: BlockOp, row: Vectors, element: ValueMap, own: AbstractSet[SSAValue]) -> None:
    """Makes a block of a tile with the buffers `own` compute other elements, with the same places in these buffers."""
    bindings = block.bindings
    for op in ops_of(block.body, LoadOp, StoreOp):
        if op.memref in own:
            op.index = _in_loops(block, op)
    block.bindings = join_maps([element if k == row.position else bindings[k] for k, _ in enumerate(block.kinds)])
