"""`relay.sum`, `relay.max`, `relay.min`, `relay.prod`, `relay.mean`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.ops.tensor_reduce import MaxOp, MeanOp, MinOp, ProdOp, SumOp
from xrelay.dialects.topi.build import Body, Number, is_unsigned
from xrelay.dialects.topi.named.pool import lowest
from xrelay.dialects.topi.shapes import shape_of
from xrelay.errors import LoweringError
from xrelay.lowering.relay_to_topi.elementwise import convert_scalar, value_range
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter, element_of
from xrelay.lowering.relay_to_topi.half_precision import in_single
from xrelay.lowering.relay_to_topi.strategies import implements

Combine = Callable[[Body, SSAValue, SSAValue], SSAValue]


def reduced_axes(emitter: TopiEmitter, rank: int) -> list[int]:
    """The axes that vanish: those named, all where none are, or all others where `exclude` is set."""
    named = sorted({axis % rank for axis in emitter.ints("axis")}) if rank else []
    if emitter.flag("exclude"):
        return [axis for axis in range(rank) if axis not in named]
    return named if "axis" in emitter.op.properties else list(range(rank))


def _fold(
    emitter: TopiEmitter, label: str, first: Number, combine: Combine, accumulator: Attribute | None = None
) -> SSAValue:
    """The elements over the reduced axes combined, in the type `accumulator` (by default the data's)."""
    data = emitter.operand(0)
    element_type = element_of(data) if accumulator is None else accumulator
    shape = shape_of(data)
    axes = reduced_axes(emitter, len(shape))
    keep = emitter.flag("keepdims")
    out = emitter.result_shape

    def fill(b: Body) -> SSAValue:
        kept, folded = iter(b.spatial), iter(b.reduction)
        at: list[AffineExpr] = []
        for axis in range(len(shape)):
            if axis in axes:
                at.append(next(folded))
                if keep:
                    next(kept)
            else:
                at.append(next(kept))
        element = convert_scalar(b, b.read(data, *at), element_type)
        return combine(b, b.accumulators[0], element) if axes else element

    names = {f"i{axis}": extent for axis, extent in enumerate(out)}
    reduce = {f"k{axis}": shape[axis] for axis in axes}
    init = [first] if axes else []
    return emitter.compute(label, names, element_type, fill, reduce=reduce, init=init)


@implements(SumOp, "sum.generic")
@in_single
def build_sum(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The sum over some axes."""
    return [_fold(emitter, "sum", 0, lambda b, total, x: b.accumulate(total, x))]


@implements(MaxOp, "max.generic")
def build_max(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The maximum over some axes."""
    first = lowest(emitter.result_type.element_type)
    return [_fold(emitter, "max", first, lambda b, largest, x: b.largest(largest, x))]


@implements(MinOp, "min.generic")
def build_min(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The minimum over some axes."""
    _, first = value_range(emitter.result_type.element_type)
    return [_fold(emitter, "min", first, lambda b, smallest, x: b.smallest(smallest, x))]


@implements(ProdOp, "prod.generic")
@in_single
def build_prod(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The product over some axes."""
    return [_fold(emitter, "prod", 1, lambda b, product, x: b.times(product, x))]


@implements(MeanOp, "mean.generic")
@in_single
def build_mean(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The sum over some axes, divided by how many elements went into it; integers are added up in 64 bits."""
    shape = shape_of(emitter.operand(0))
    element = emitter.result_type.element_type
    wide = element
    if isinstance(element, IntegerType):
        wide = IntegerType(64, Signedness.UNSIGNED if is_unsigned(element) else Signedness.SIGNLESS)
    count = prod(shape[axis] for axis in reduced_axes(emitter, len(shape)))
    if wide is not element and count == 0:
        raise LoweringError("relay.mean of no integers: a division by zero")
    total = _fold(emitter, "mean_sum", 0, lambda b, acc, x: b.accumulate(acc, x), wide)

    def fill(b: Body) -> SSAValue:
        return convert_scalar(b, b.divide(b.read(total, *b.spatial), b.constant(count, wide)), element)

    names = {f"i{axis}": extent for axis, extent in enumerate(emitter.result_shape)}
    return [emitter.compute("mean", names, element, fill)]
