"""Lowers checked indices to a comparison and an assertion; negative indices count from the end.

    %c = loop.checked_index %k of 5 from_end

    →   %s = arith.addi %k, 5 : index
        %fine = arith.cmpi ult, %s, 10 : index
        scf.if (not %fine) { func.call @xrelay_record_index(%k, -5, 5) }
        cf.assert %fine, "index out of range"
        %c = arith.select (%k < 0), %s, %k

The call stores the value for the error message; `convert-func-to-llvm` generates the function's body. For the lanes of
a vector there is one assertion, and the first out-of-range lane is stored.
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects import arith, cf, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, VectorType, i1, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import SSAValue

from xrelay.dialects.loop import CheckedIndexOp
from xrelay.dialects.loop.extents import MAX_EXTENT
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, SelectOp
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import LaneContext, any_lane, invert, is_vector, splat
from xrelay.lowering.loop_to_scf.values import Values

RECORD_INDEX = "xrelay_record_index"
"""The function that stores an out-of-range index and its limits for the error message."""
MESSAGE = "index out of range"
"""Begins like the runtime's failure reason of that name (`to_llvm/failures.py`)."""


def write_checked_index(op: CheckedIndexOp, values: Values, emitter: Emitter) -> None:
    """Writes a checked index and sets its result in `values`. An index that is in range by its loops is not checked."""
    index = values.index(op.index)
    known = None if any(is_vector(operand) for operand in index.operands) else emitter.range_of(index)
    if known is not None and op.dynamic_size is None and known[0] >= 0 and known[1] < op.size:
        values.set(op.result, index)
        return
    value, lanes = values.get(op.index), values.lanes
    limits = _Limits(op, values, emitter)
    shifted = _plus(value, limits.size(), emitter) if op.from_end else value
    fine = emitter.add(CmpiOp(shifted, _like(value, limits.room(), emitter), "ult")).result
    if is_vector(value):
        assert lanes is not None, "vectors are in vectorised loops"
        _assert_lanes(value, fine, limits, lanes, emitter)
    else:
        if lanes is not None and lanes.mask is not None and not lanes.mask.is_never_empty:
            off = invert(emitter, any_lane(emitter, lanes.mask, lanes.count))
            fine = emitter.add(arith.OrIOp(fine, off)).result
        _assert_one(value, fine, limits, emitter)
    if op.from_end:
        negative = emitter.add(CmpiOp(value, _like(value, emitter.index(0), emitter), "slt")).result
        value = emitter.add(SelectOp(negative, shifted, value)).result
    most = MAX_EXTENT if op.dynamic_size is not None else op.size
    if not is_vector(value) and most > 0:
        emitter.ranges[value] = (0, most - 1)
    values.set(op.result, value)


class _Limits:
    """The limits of a checked index, static or dynamic."""

    def __init__(self, op: CheckedIndexOp, values: Values, emitter: Emitter):
        self._op, self._emitter = op, emitter
        self._size = None if op.dynamic_size is None else values.get(op.dynamic_size)

    def size(self) -> SSAValue:
        """Returns the number of elements."""
        return self._emitter.index(self._op.size) if self._size is None else self._size

    def room(self) -> SSAValue:
        """Returns the number of valid indices, including negative ones."""
        if self._size is None:
            low, high = self._op.limits
            return self._emitter.index(high - low)
        return self._emitter.add(arith.AddiOp(self._size, self._size)).result if self._op.from_end else self._size

    def recorded(self) -> list[SSAValue]:
        """Returns the least valid index and the greatest valid index plus one, as i64."""
        if self._size is None:
            return [self._emitter.constant(IntegerAttr(limit, i64)) for limit in self._op.limits]
        high = self._emitter.add(IndexCastOp(self._size, i64)).result
        low = self._emitter.constant(IntegerAttr(0, i64))
        return [self._emitter.add(arith.SubiOp(low, high)).result if self._op.from_end else low, high]


def _like(value: SSAValue, number: SSAValue, emitter: Emitter) -> SSAValue:
    """Returns an index, splat to a vector if `value` is a vector."""
    return splat(emitter, number, value.type.get_shape()[0]) if isinstance(value.type, VectorType) else number


def _plus(value: SSAValue, number: SSAValue, emitter: Emitter) -> SSAValue:
    return emitter.add(arith.AddiOp(value, _like(value, number, emitter))).result


def _assert_one(value: SSAValue, fine: SSAValue, limits: _Limits, emitter: Emitter) -> None:
    """Records the index and fails if `fine` is false."""
    with emitter.when(invert(emitter, fine)):
        _record(value, limits, emitter)
    emitter.add(cf.AssertOp(fine, MESSAGE))


def _assert_lanes(value: SSAValue, fine: SSAValue, limits: _Limits, lanes: LaneContext, emitter: Emitter) -> None:
    """Fails if any active lane is out of range; a loop over the lanes records the first such lane."""
    wrong = invert(emitter, fine)
    if lanes.mask is not None:
        wrong = emitter.add(arith.AndIOp(wrong, lanes.mask.value)).result
    some = emitter.add(_any_of(wrong)).dest

    def record_lane(lane: SSAValue) -> None:
        with emitter.when(emitter.add(vector.ExtractOp(wrong, [lane], i1)).result):
            _record(emitter.add(vector.ExtractOp(value, [lane], IndexType())).result, limits, emitter)

    with emitter.when(some):
        emitter.each_lane(lanes.count, record_lane)
    emitter.add(cf.AssertOp(invert(emitter, some), MESSAGE))


def _any_of(lanes: SSAValue) -> vector.ReductionOp:
    """Returns a `vector.reduction <or>` with result type i1; xDSL's constructor uses the vector's type."""
    kind, exact = vector.CombiningKindAttr(vector.CombiningKindFlag.OR), arith.FastMathFlagsAttr("none")
    return vector.ReductionOp.create(operands=[lanes], result_types=[i1], properties={"kind": kind, "fastmath": exact})


def _record(value: SSAValue, limits: _Limits, emitter: Emitter) -> None:
    recorded = limits.recorded()
    number = emitter.add(IndexCastOp(value, i64)).result
    emitter.add(CallOp(RECORD_INDEX, [number, *recorded], []))


def declare_record_index(module: ModuleOp, called: Collection[str]) -> None:
    """Declares the function that checked indices call, if it is among the called functions."""
    if RECORD_INDEX in called:
        module.body.block.add_op(FuncOp.external(RECORD_INDEX, [i64, i64, i64], []))
