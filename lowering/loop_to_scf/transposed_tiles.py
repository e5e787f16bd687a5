"""Transposed tiles: vectors along one axis become vectors along another in registers, by shuffles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerType, VectorType, i64
from xdsl.ir import Block, SSAValue

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, StoreOp
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.topi.shapes import bit_width
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.accesses import AccessTarget, memory_stride
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import LaneContext
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.loop.nest_queries import is_local

REGISTER_PART = 128
"""The bits of a register within which elements of two vectors are interleaved by one instruction."""


def square_of(loop: ForOp) -> ForOp | None:
    """Returns the loop over lanes that is all of an unrolled loop's body and has as many iterations, or None."""
    inner = loop.body.block.first_op
    if loop.kind is not LoopKind.UNROLLED or not isinstance(inner, ForOp) or inner is not loop.body.block.last_op:
        return None
    if inner.kind is not LoopKind.VECTORIZED or inner.extent != loop.extent or loop.extent not in (4, 8, 16):
        return None
    return None if any(op.regions for op in inner.body.block.ops) else inner


def load_columns(
    loop: ForOp, inner: ForOp, values: Values, emitter: Emitter, target_of: Callable[[LoadOp], AccessTarget]
) -> dict[LoadOp, list[SSAValue]]:
    """Returns the vectors that loads read in the iterations of an unrolled loop around lanes.

    ```
    loop.for "i" %i to 4 unrolled {              %0 = vector.load %X[%c0, %c0] : vector<4xf32>
      loop.for "j" %j to 4 vectorized {          %1 = vector.load %X[%c1, %c0] …
        %x = loop.load %X[%j, %i]           →    %4 = vector.shuffle %0, %2 [0, 4, 1, 5]
        …                                        %5 = vector.shuffle %0, %2 [2, 6, 3, 7]
                                                 …
    ```

    This applies to loads that read adjacent elements in successive iterations, but not in adjacent lanes.
    """
    count = loop.extent or 0
    lanes, row = LaneContext.of(count), Block(arg_types=[IndexType()]).args[0]
    for index, placeholder in ((loop.index, row), (inner.index, lanes.index)):
        values.set(index, ValueMap.identity([placeholder]))
        emitter.ranges[placeholder] = (0, count - 1)
    inside = {result for op in inner.body.block.ops for result in op.results}
    stored = {op.memref for op in ops_of(inner, StoreOp)}
    found: dict[LoadOp, list[SSAValue]] = {}
    for access in ops_of(inner, LoadOp):
        is_free = access.memref not in stored and not is_local(access.memref)
        if is_free and inside.isdisjoint(access.index_operands):
            target = target_of(access)
            if memory_stride(target, row) == 1 and _is_apart(target, lanes):
                found[access] = _columns(emitter, target, row, lanes)
    return found


def _is_apart(target: AccessTarget, lanes: LaneContext) -> bool:
    """Whether lanes read elements that a vector load does not read."""
    element = target.type.element_type
    is_plain = not isinstance(element, VectorType) and element != IntegerType(1)
    return is_plain and memory_stride(target, lanes.index) not in (0, 1)


def _columns(emitter: Emitter, target: AccessTarget, row: SSAValue, lanes: LaneContext) -> list[SSAValue]:
    """Loads a row for each lane, and returns the columns."""
    element = target.type.element_type
    first = target.index.substitute({row: ValueMap.constant(0)})
    places = [first.substitute({lanes.index: ValueMap.constant(lane)}) for lane in range(lanes.count)]
    loads = [vector.LoadOp(target.buffer, emitter.affine_all(at), lanes.vector_of(element)) for at in places]
    rows = [emitter.add(load).result for load in loads]
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
            found[low], found[high] = (_shuffled(emitter, *pair, places) for places in (begin, end))
        step *= 2
    return found


def _interleave(emitter: Emitter, rows: Sequence[SSAValue], part: int) -> list[SSAValue]:
    """Returns vectors in which part k of the m-th has the m-th elements of part k of all rows."""
    found = list(rows)
    half, step = len(found) // 2, 1
    while step < len(rows):
        pairs = zip(found[:half], found[half:], strict=True)
        found = [_shuffled(emitter, *pair, _alternating(pair[0], part, upper)) for pair in pairs for upper in (0, 1)]
        step *= 2
    return found


def _alternating(like: SSAValue, part: int, upper: int) -> list[int]:
    """Returns the places of the lower or upper halves of all parts of two vectors, alternating between the vectors."""
    count = SSAValue.get(like, type=VectorType).type.get_shape()[0]
    half = [begin + upper * part // 2 + place for begin in range(0, count, part) for place in range(part // 2)]
    return [place for each in half for place in (each, count + each)]


def _shuffled(emitter: Emitter, left: SSAValue, right: SSAValue, places: Sequence[int]) -> SSAValue:
    mask, type_ = DenseArrayBase.from_list(i64, list(places)), SSAValue.get(left, type=VectorType).type
    return emitter.add(vector.ShuffleOp(left, right, mask, result_type=type_)).result
