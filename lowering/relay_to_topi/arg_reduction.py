"""`relay.argmax` and `relay.argmin`: one fold with two accumulators, or two vectorisable folds."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, i32
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.ops.tensor_arg_reduce import ArgmaxOp, ArgminOp, ArgReduceOp
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.topi.build import Body, compute
from xrelay.dialects.topi.scalars import compare, value_range
from xrelay.lowering.relay_to_topi.reduction import Reduction, fold
from xrelay.lowering.relay_to_topi.registry import implements

LONG_ROW = 32
"""The minimum row length for two folds: two vectorised folds are then faster than a sequential selecting fold."""

MAX_INDEX = (1 << 31) - 1


@implements(ArgmaxOp, "argmax.fold")
@implements(ArgminOp, "argmin.fold")
def build_fold(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits one fold of value and index, which reads memory once and is vectorised across other axes."""
    data, reduction = emitter.operand(0), Reduction.of(emitter)
    element, last = element_of(data), emitter.flag("select_last_index")
    first = _worst(emitter)

    def fill(b: Body) -> list[SSAValue]:
        value, index = b.read(data, *reduction.at(b)), _number(b, reduction)
        if not reduction.axes:
            return [value, index]
        best, place = b.accumulators
        better = _beats(emitter, b, value, best, or_equal=last)
        return [b.add(arith.SelectOp(better, value, best)), b.add(arith.SelectOp(better, index, place))]

    init = [first, 0] if reduction.axes else []
    label = _label(emitter)
    op = compute(label, reduction.spatial, [element, i32], fill, reduce=reduction.folded, init=init)
    return [emitter.insert(op).results[1]]


def _rows_are_short(op: Operation) -> str | None:
    """Returns why an op does not use two folds, or None if it does."""
    assert isinstance(op, ArgReduceOp)
    shape = shape_of_type(op.data.type)
    axes = op.reduced_axes(len(shape))
    if len(shape) - 1 not in axes:
        return "elements lie side by side along an axis that stays"
    count = prod(extent if isinstance(extent, int) else 1 for extent in (shape[axis] for axis in axes))
    return f"{count} elements are folded" if count < LONG_ROW else None


@implements(ArgmaxOp, "argmax.two_folds", priority=11, condition=_rows_are_short)
@implements(ArgminOp, "argmin.two_folds", priority=11, condition=_rows_are_short)
def build_two_folds(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the extreme element of each row, then the least or greatest index of elements equal to it."""
    data, reduction, last = emitter.operand(0), Reduction.of(emitter), emitter.flag("select_last_index")
    is_max = isinstance(emitter.op, ArgmaxOp)
    extreme = fold(
        emitter, "extreme", _worst(emitter), lambda b, acc, x: b.largest(acc, x) if is_max else b.smallest(acc, x)
    )
    missing = -1 if last else MAX_INDEX

    def candidate(b: Body, at: list[AffineExpr]) -> SSAValue:
        value = b.read(data, *at)
        chosen = compare(b, value, b.read(extreme, *b.spatial), "oeq", "eq")
        if isinstance(value.type, AnyFloat):
            # If an element is NaN, so is the extreme, which compares unequal to everything.
            chosen = b.add(arith.OrIOp(chosen, b.add(arith.CmpfOp(value, value, "uno"))))
        return b.add(arith.SelectOp(chosen, _number(b, reduction), b.constant(missing, i32)))

    index = fold(
        emitter,
        _label(emitter),
        missing,
        lambda b, acc, x: b.maximum(acc, x) if last else b.minimum(acc, x),
        i32,
        candidate,
    )
    return [index]


def _label(emitter: TopiBuilder) -> str:
    return emitter.op.name.removeprefix("relay.")


def _worst(emitter: TopiBuilder) -> float:
    """Returns the initial value, which no element is worse than."""
    least, most = value_range(element_of(emitter.operand(0)))
    return least if isinstance(emitter.op, ArgmaxOp) else most


def _number(b: Body, reduction: Reduction) -> SSAValue:
    """Returns the row-major index of the current element over the reduced axes."""
    number: AffineExpr = AffineConstantExpr(0)
    for variable, axis in zip(b.reduction, reduction.axes, strict=True):
        number = b.scaled(number, reduction.shape[axis]) + variable
    return b.add(arith.IndexCastOp(b.index(number), i32))


def _beats(emitter: TopiBuilder, b: Body, value: SSAValue, best: SSAValue, *, or_equal: bool) -> SSAValue:
    """Returns whether `value` replaces `best`; NaN replaces all numbers."""
    sides = (value, best) if isinstance(emitter.op, ArgmaxOp) else (best, value)
    beats = compare(b, *sides, *(("oge", "sge") if or_equal else ("ogt", "sgt")))
    if not isinstance(value.type, AnyFloat):
        return beats
    no_number = b.add(arith.CmpfOp(value, value, "uno"))
    if not or_equal:
        no_number = b.add(arith.AndIOp(no_number, b.add(arith.CmpfOp(best, best, "ord"))))
    return b.add(arith.OrIOp(beats, no_number))
