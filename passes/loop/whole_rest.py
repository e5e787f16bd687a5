"""The rows after the full tiles of an instruction on tiles, computed by a full tile that reads data after the last row.

An instruction computes a tile of few rows as fast as a full one. If the buffer of the data has enough elements after
those of the last row, such as the padding of an image, a full tile reads them. The additional sums are not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Operation

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, ValueMap
from xrelay.dialects.loop.extents import expression_of, extents_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.op_making import copies
from xrelay.index_algebra.affine_bounds import bounds, linear_form
from xrelay.index_algebra.linear_form import LinearForm
from xrelay.passes.loop.copied_rest import compute_whole_tile, sums_on_tiles
from xrelay.passes.loop.nest_edits import Names, simplified
from xrelay.passes.loop.nest_queries import box_of, function_of, is_made_outside
from xrelay.passes.loop.partial_tiles import Row, Rows, allocated_buffers, copied_rows, if_less, loops_in, single_rows


class Room(NamedTuple):
    """The number of elements of a buffer from the start of a tile on, and the number that the tile reads."""

    available: ValueMap
    needed: int


def whole_rest(
    loop: ForOp, last: list[Operation], rows: Rows, full: ValueMap, names: Names
) -> tuple[list[Operation], list[Operation]] | None:
    """Makes the sums of `last`, the partial tile of `loop`, those of a full tile if the data has enough elements.

    Returns the new ops, and those one level inside. `full` is the number of full tiles. Before → after, for 16 rows:

    ```
                                              scf.if %size - %full * 16 < 18 { … one row at a time … } else {
    loop.for "k" %k to 16 tensorized {          loop.for "k" %k to 16 tensorized {
      loop.for "i" %i to 16 unrolled {            loop.for "i" %i to 16 unrolled {
        loop.block "sum" (%v : spatial %n =   →     loop.block "sum" (%v : spatial ? =
            %full * 16 + %i, …) {                         %full * 16 + %i, …) {
          %x = loop.load %X[%v + %tap, …]             %x = loop.load %X[%v + %tap, …]      %X : memref<?x…>, %size
    ```

    The test is needed because a kernel gets extents as independent values. Returns None, and changes nothing, if no
    instruction on tiles computes the sums, or if the rows are not those of one dimension of the data, which continues
    after the last row.
    """
    sums = sums_on_tiles(rows)
    room = _room(sums[0], rows[sums[0]], last) if len(sums) == 1 else None
    if room is None or not allocated_buffers(last).issuperset(sums[0].writes):
        return None
    singles = copies(last, {})
    for each in singles:
        names.rename_nested(each, "row")
    start = ValueMap((full.exprs[0] * (rows[sums[0]].loop.extent or 0),), full.operands)
    single = single_rows(loop.loop_name, singles, copied_rows(rows, last, singles), start, names, function_of(loop))
    compute_whole_tile(rows, sums[0])
    return if_less(room.available, room.needed, [single], last), [*last, *singles]


def _room(block: BlockOp, row: Row, last: Sequence[Operation]) -> Room | None:
    """Returns the room for the reads of `block` that depend on its row; None unless there is one in one dimension."""
    variable, own = block.variables[row.position], allocated_buffers(last)
    loads = [each for each in ops_of(block.body, LoadOp) if variable in each.index_operands and each.memref not in own]
    along = [(each, k) for each in loads for k in range(len(each.index)) if variable in each.index[k].operands]
    if len(along) != 1:
        return None
    ((load, dimension),) = along
    extent, bindings = extents_of(load.memref)[dimension], block.bindings
    place = simplified(load.index[dimension].substitute({v: bindings[k] for k, v in enumerate(block.variables)}))
    form, box = linear_form(place.exprs[0], box_of(place)), box_of(place)
    inside = {each.index for each in loops_in(last)}
    moving = {position for position, value in enumerate(place.operands) if value in inside}
    fixed = tuple(term for term in form.terms if moving.isdisjoint(term[0].used_dims()))
    rest = LinearForm(tuple(term for term in form.terms if term not in fixed), form.constant)
    most = bounds(rest.expr(), box)
    outside = [value for position, value in enumerate(place.operands) if position not in moving]
    if extent is None or most is None or not all(map(is_made_outside, outside)):
        return None
    if expression_of(extent) == row.extent:
        return None  # The data ends with the last row.
    begin = ValueMap.make([LinearForm(fixed).expr()], place.operands)
    return Room(simplified(expression_of(extent).plus(begin, -1)), most[1] + 1)
