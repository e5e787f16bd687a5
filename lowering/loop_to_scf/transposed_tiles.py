"""Transposed tiles: vectors along one axis become vectors along another in registers, by shuffles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType
from xdsl.ir import Block, SSAValue

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, StoreOp
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.topi.shapes import bit_width
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.affine_bounds import stride
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.accesses import AccessTarget, memory_stride, shuffled
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import LaneContext
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.loop.index_conditions import positive_where
from xrelay.passes.loop.nest_queries import is_local

REGISTER_PART = 128
"""The bits of a register within which elements of two vectors are interleaved by one instruction."""


class Square(NamedTuple):
    """An unrolled loop whose body is a loop over as many lanes, `inner`; `block` has the statements of a lane.

    A lane executes them only if `test` holds, unless it is None.
    """

    inner: ForOp
    block: Block
    test: CmpiOp | None


def square_of(loop: ForOp) -> Square | None:
    """Returns the square that an unrolled loop forms with the loop in it, or None."""
    inner = loop.body.block.first_op
    if loop.kind is not LoopKind.UNROLLED or not isinstance(inner, ForOp) or inner is not loop.body.block.last_op:
        return None
    if inner.kind is not LoopKind.VECTORIZED or inner.extent != loop.extent or loop.extent not in (4, 8, 16):
        return None
    square, last = Square(inner, inner.body.block, None), inner.body.block.last_op
    if isinstance(last, scf.IfOp) and isinstance(test := last.cond.owner, CmpiOp) and not last.false_region.blocks:
        square = Square(inner, last.true_region.block, test)
        if any(isinstance(op, LoadOp | StoreOp) or (op.regions and op is not last) for op in inner.body.block.ops):
            return None
    return None if any(op.regions for op in square.block.ops) else square


class TransposedTile(NamedTuple):
    """The loads of a square that read adjacent elements in successive iterations, but not in adjacent lanes.

    `row` and `lanes.index` represent the iteration and the lane in the targets. `active` is the number of lanes that
    execute the statements, or more if all do, and 0 or less if none does; it is None if all lanes always do.
    """

    lanes: LaneContext
    row: SSAValue
    targets: Mapping[LoadOp, AccessTarget]
    active: ValueMap | None


def tile_of(
    loop: ForOp, square: Square, values: Values, emitter: Emitter, target_of: Callable[[LoadOp], AccessTarget]
) -> TransposedTile | None:
    """Returns the transposed loads of a square; None for a square without such loads."""
    count, inner = loop.extent or 0, square.inner
    lanes, row = LaneContext.of(count), Block(arg_types=[IndexType()]).args[0]
    for index, placeholder in ((loop.index, row), (inner.index, lanes.index)):
        values.set(index, ValueMap.identity([placeholder]))
        emitter.ranges[placeholder] = (0, count - 1)
    inside: set[SSAValue] = {result for op in (*inner.body.block.ops, *square.block.ops) for result in op.results}
    active = None if square.test is None else _active_lanes(square.test, inside, values, row, lanes)
    if active is None and square.test is not None:
        return None
    stored = {op.memref for op in ops_of(inner, StoreOp)}
    found: dict[LoadOp, AccessTarget] = {}
    for access in ops_of(inner, LoadOp):
        is_free = access.memref not in stored and not is_local(access.memref)
        if is_free and inside.isdisjoint(access.index_operands):
            target = target_of(access)
            if memory_stride(target, row) == 1 and _is_apart(target, lanes):
                found[access] = target
    return TransposedTile(lanes, row, found, active) if found else None


def _active_lanes(
    test: CmpiOp, inside: set[SSAValue], values: Values, row: SSAValue, lanes: LaneContext
) -> ValueMap | None:
    """Returns the number of lanes from the first on in which a test holds.

    Returns None if they also depend on the row, or on a value that is computed `inside` of the square.
    """
    limits = positive_where(test, holds=True)
    if len(limits) != 1 or not inside.isdisjoint(limits[0].operands):
        return None
    limit = values.access(limits[0]).simplified()
    position = lanes.position(limit)
    is_prefix = position is not None and stride(limit.exprs[0], position) == -1
    return lanes.at(limit, 0) if is_prefix and row not in limit.operands else None


def load_columns(tile: TransposedTile, emitter: Emitter) -> dict[LoadOp, list[SSAValue]]:
    """Returns the vectors that the loads of a tile read in its iterations.

    ```
    loop.for "i" %i to 4 unrolled {              %0 = vector.load %X[%c0, %c0] : vector<4xf32>
      loop.for "j" %j to 4 vectorized {          %1 = vector.load %X[%c1, %c0] …
        %x = loop.load %X[%j, %i]           →    %4 = vector.shuffle %0, %2 [0, 4, 1, 5]
        …                                        %5 = vector.shuffle %0, %2 [2, 6, 3, 7]
                                                 …
    ```

    In place of the row of an inactive lane, that of the last active one is read. At least one lane must be active.
    """
    places = [ValueMap.constant(lane) for lane in range(tile.lanes.count)]
    if tile.active is not None:
        last = emitter.affine(tile.active.plus(-1).simplified())
        places[1:] = [_at_most(emitter, lane, last) for lane in range(1, tile.lanes.count)]
    return {load: _columns(emitter, target, tile, places) for load, target in tile.targets.items()}


def _at_most(emitter: Emitter, lane: int, last: SSAValue) -> ValueMap:
    """Returns the minimum of the number of a lane and that of the last active one."""
    number = emitter.add(arith.MinSIOp(emitter.index(lane), last)).result
    emitter.ranges[number] = (0, lane)
    return ValueMap.identity([number])


def _is_apart(target: AccessTarget, lanes: LaneContext) -> bool:
    """Whether lanes read elements that a vector load does not read."""
    element = target.type.element_type
    is_plain = not isinstance(element, VectorType) and element != IntegerType(1)
    return is_plain and memory_stride(target, lanes.index) not in (0, 1)


def _columns(
    emitter: Emitter, target: AccessTarget, tile: TransposedTile, places: Sequence[ValueMap]
) -> list[SSAValue]:
    """Loads a row at the place of each lane, and returns the columns."""
    element, lanes = target.type.element_type, tile.lanes
    first = target.index.substitute({tile.row: ValueMap.constant(0)})
    rows: list[SSAValue] = []
    for place in places:
        indices = emitter.affine_all(first.substitute({lanes.index: place}))
        rows.append(emitter.add(vector.LoadOp(target.buffer, indices, lanes.vector_of(element))).result)
    return transposed(emitter, rows, min(lanes.count, max(2, REGISTER_PART // bit_width(element))))


def transposed(emitter: Emitter, rows: Sequence[SSAValue], part: int) -> list[SSAValue]:
    """Returns the columns of a square of vectors; `part` elements are in a part of a register.

    In each group of `part` rows, the parts of registers are transposed by interleaving pairs of rows; then whole parts
    change places.
    """
    count = len(rows)
    found: list[SSAValue] = []
    for first in range(0, count, part):
        found += _interleave(emitter, rows[first : first + part], part)
    step = part
    while step < count:
        for low in (number for number in range(count) if not number & step):
            high = low + step
            pair = found[low], found[high]
            lanes = range(count)
            begin = [lane if not lane & step else count + lane - step for lane in lanes]
            end = [lane + step if not lane & step else count + lane for lane in lanes]
            found[low], found[high] = (shuffled(emitter, *pair, places) for places in (begin, end))
        step *= 2
    return found


def _interleave(emitter: Emitter, rows: Sequence[SSAValue], part: int) -> list[SSAValue]:
    """Returns vectors in which part k of the m-th has the m-th elements of part k of all rows."""
    found = list(rows)
    half, step = len(found) // 2, 1
    while step < len(rows):
        pairs = zip(found[:half], found[half:], strict=True)
        found = [shuffled(emitter, *pair, _alternating(pair[0], part, upper)) for pair in pairs for upper in (0, 1)]
        step *= 2
    return found


def _alternating(like: SSAValue, part: int, upper: int) -> list[int]:
    """Returns the places of the lower or upper halves of all parts of two vectors, alternating between the vectors."""
    count = SSAValue.get(like, type=VectorType).type.get_shape()[0]
    half = [begin + upper * part // 2 + place for begin in range(0, count, part) for place in range(part // 2)]
    return [place for each in half for place in (each, count + each)]
