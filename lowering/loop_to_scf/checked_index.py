"""Checked indices at the scf level: a comparison, an assertion behind it, and negative ones counted from the end.

    %c = loop.checked_index %k of 5 from_end

    →   %s = arith.addi %k, 5 : index
        %fine = arith.cmpi ult, %s, 10 : index
        scf.if (not %fine) { func.call @xrelay_note_index(%k, -5, 5) }
        cf.assert %fine, "index out of range"
        %c = arith.select (%k < 0), %s, %k

The call keeps the value for the error message; `convert-func-to-llvm` gives the function its body. In the lanes of a
vector one assertion is for all of them, and the first wrong lane is noted.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects import arith, cf, scf, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, VectorType, i1, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.loop import CheckedIndexOp
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, SelectOp
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lane_values import LaneContext, any_lane, invert, is_vector, splat
from xrelay.lowering.loop_to_scf.values import Values

NOTE_INDEX = "xrelay_note_index"
"""The function that keeps an index that is out of range, and its limits, for the error message."""
MESSAGE = "index out of range"
"""Begins as the runtime's reason of that name does (`convert_func_to_llvm.REASONS`)."""


def write_checked_index(op: CheckedIndexOp, values: Values, emitter: Emitter) -> None:
    """Writes a checked index; `values` then knows its result. What loops show to be right is not checked."""
    index, (low, high) = values.index(op.index), op.limits
    known = None if any(is_vector(operand) for operand in index.operands) else emitter.range_of(index)
    if known is not None and known[0] >= 0 and known[1] < high:
        values.set_index(op.result, index)
        return
    value, lanes = values.get(op.index), values.lanes
    shifted = _plus(value, -low, emitter)
    fine = emitter.add(CmpiOp(shifted, _like(value, high - low, emitter), "ult")).result
    if is_vector(value):
        assert lanes is not None, "vectors stand in vectorised loops"
        _assert_lanes(value, fine, op, lanes, emitter)
    else:
        if lanes is not None and lanes.mask is not None and not lanes.mask.is_never_empty:
            off = invert(emitter, any_lane(emitter, lanes.mask, lanes.count))
            fine = emitter.add(arith.OrIOp(fine, off)).result
        _assert_one(value, fine, op, emitter)
    if op.from_end:
        negative = emitter.add(CmpiOp(value, _like(value, 0, emitter), "slt")).result
        value = emitter.add(SelectOp(negative, shifted, value)).result
    if not is_vector(value) and op.size > 0:
        emitter.ranges[value] = (0, op.size - 1)
    values.set(op.result, value)


def _like(value: SSAValue, number: int, emitter: Emitter) -> SSAValue:
    """An index constant, in every lane if `value` is a vector."""
    constant = emitter.index(number)
    return splat(emitter, constant, value.type.get_shape()[0]) if isinstance(value.type, VectorType) else constant


def _plus(value: SSAValue, number: int, emitter: Emitter) -> SSAValue:
    return emitter.add(arith.AddiOp(value, _like(value, number, emitter))).result if number else value


def _assert_one(value: SSAValue, fine: SSAValue, op: CheckedIndexOp, emitter: Emitter) -> None:
    """Notes and fails where `fine` does not hold."""
    with _when(invert(emitter, fine), emitter):
        _note(value, op, emitter)
    emitter.add(cf.AssertOp(fine, MESSAGE))


def _assert_lanes(value: SSAValue, fine: SSAValue, op: CheckedIndexOp, lanes: LaneContext, emitter: Emitter) -> None:
    """Fails where some lane that is on is wrong; a loop over the lanes notes the first one."""
    wrong = invert(emitter, fine)
    if lanes.mask is not None:
        wrong = emitter.add(arith.AndIOp(wrong, lanes.mask.value)).result
    some = emitter.add(_any_of(wrong)).dest
    with _when(some, emitter):
        body = Block(arg_types=[IndexType()])
        lane = body.args[0]
        lane.name_hint = "lane"
        with emitter.inside(body):
            is_wrong = emitter.add(vector.ExtractOp(wrong, [lane], i1)).result
            with _when(is_wrong, emitter):
                _note(emitter.add(vector.ExtractOp(value, [lane], IndexType())).result, op, emitter)
            emitter.add(scf.YieldOp())
        emitter.add(scf.ForOp(emitter.index(0), emitter.index(lanes.count), emitter.index(1), [], body))
    emitter.add(cf.AssertOp(invert(emitter, some), MESSAGE))


@contextmanager
def _when(condition: SSAValue, emitter: Emitter) -> Generator[None]:
    """What is written meanwhile stands under an `scf.if`."""
    block = Block()
    with emitter.inside(block):
        yield
        emitter.add(scf.YieldOp())
    emitter.add(scf.IfOp(condition, [], Region(block)))


def _any_of(lanes: SSAValue) -> vector.ReductionOp:
    """`vector.reduction <or>`; xDSL's constructor gives it the type of the vector."""
    kind, exact = vector.CombiningKindAttr(vector.CombiningKindFlag.OR), arith.FastMathFlagsAttr("none")
    return vector.ReductionOp.create(operands=[lanes], result_types=[i1], properties={"kind": kind, "fastmath": exact})


def _note(value: SSAValue, op: CheckedIndexOp, emitter: Emitter) -> None:
    limits = [emitter.constant(IntegerAttr(limit, i64)) for limit in op.limits]
    number = emitter.add(IndexCastOp(value, i64)).result
    emitter.add(CallOp(NOTE_INDEX, [number, *limits], []))


def declare_note(module: ModuleOp) -> None:
    """Declares the function that checked indices call, where there are any."""
    if any(isinstance(op, CallOp) and op.callee.string_value() == NOTE_INDEX for op in module.walk()):
        module.body.block.add_op(FuncOp.external(NOTE_INDEX, [i64, i64, i64], []))
