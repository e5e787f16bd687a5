"""Computes the extent of `relay.arange`, for `relay-name-extents`."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, IntegerType, f64, i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MaximumOp, MinimumOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import EqualOp, GreaterEqualOp, GreaterOp, LessOp
from xrelay.dialects.relay.ops.tensor.logic import LogicalAndOp
from xrelay.dialects.relay.ops.tensor.range import ArangeOp
from xrelay.dialects.relay.ops.tensor.rounding import CeilOp
from xrelay.dialects.shared.types import element_type_of
from xrelay.index_algebra.dims import MAX_EXTENT
from xrelay.passes.extents.extents_of_slices import MAX_STEP, number_of_steps
from xrelay.passes.extents.shape_code import ShapeCode

LEAST_DOUBLE = -1.7976931348623157e308


def name_arange(op: RelayOp, code: ShapeCode) -> SSAValue | None:
    """Returns `start + i * step` for the indices i, or None for an unsupported op or element type.

    If the number of elements is undefined (a step of 0, an infinite bound), it is negative, which `relay.extents`
    rejects.
    """
    if not isinstance(op, ArangeOp):
        return None
    element = element_type_of(op.result.type)
    if isinstance(element, AnyFloat):
        count = _count_of_floats(op, code)
    elif isinstance(element, IntegerType) and (element.width.data < 64 or element == i64):
        count = _count_of_integers(code)
    else:
        return None
    number = code.bind(count, code.made)
    indices = code.call(ArangeOp, code.number(0), number, code.number(1))
    if element != i64:
        indices = code.call(CastOp, indices, dtype=element)
    return code.call(AddOp, op.start, code.call(MultiplyOp, indices, op.step))


def _count_of_integers(code: ShapeCode) -> SSAValue:
    """Emits the number of elements from the distance of the bounds; negative if the distance overflows 64 bits."""
    start, stop, raw_step = (code.operand(index) for index in range(3))
    step = code.call(MinimumOp, code.call(MaximumOp, raw_step, -MAX_STEP), MAX_STEP)
    is_back = code.call(LessOp, step, 0)
    span = code.where(is_back, code.call(SubtractOp, start, stop), code.call(SubtractOp, stop, start))
    is_nonempty = code.where(is_back, code.call(LessOp, stop, start), code.call(LessOp, start, stop))
    fits = code.call(LogicalAndOp, code.call(GreaterOp, span, 0), code.call(LessOp, span, MAX_STEP))
    steps = code.where(fits, number_of_steps(code, span, step, is_back), -1)
    return code.where(code.call(EqualOp, step, 0), -1, code.where(is_nonempty, steps, 0))


def _count_of_floats(op: ArangeOp, code: ShapeCode) -> SSAValue:
    """Emits the number of elements, computed in double precision; negative if it is not a valid extent."""
    start, stop, step = (code.call(CastOp, bound, dtype=f64) for bound in op.operands)
    steps = code.call(CeilOp, code.call(DivideOp, code.call(SubtractOp, stop, start), step))
    least, most, none, bad = (code.real(number) for number in (LEAST_DOUBLE, float(MAX_EXTENT), 0.0, -1.0))
    fits = code.call(LogicalAndOp, code.call(GreaterEqualOp, steps, least), code.call(LessOp, steps, most))
    return code.call(CastOp, code.where(fits, code.call(MaximumOp, steps, none), bad), dtype=i64)
