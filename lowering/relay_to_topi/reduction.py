"""Reductions: sum, max, min, prod, mean, all, any, variance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, Signedness, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.ops.tensor_logic import AllOp, AnyOp
from xrelay.dialects.relay.ops.tensor_reduce import MaxOp, MeanOp, MinOp, ProdOp, SumOp
from xrelay.dialects.relay.ops.tensor_variance import VarianceOp
from xrelay.dialects.topi.build import Body, Number, is_unsigned
from xrelay.dialects.topi.named.pool import lowest
from xrelay.dialects.topi.scalars import convert_scalar, value_range
from xrelay.dialects.topi.shapes import shape_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim, Shape, maximum, product
from xrelay.lowering.relay_to_topi.registry import implements

Combine = Callable[[Body, SSAValue, SSAValue], SSAValue]


def reduced_axes(emitter: TopiBuilder, rank: int) -> list[int]:
    """Returns the reduced axes: those of `axis`, by default all; with `exclude` the other axes."""
    given = emitter.ints("axis") if "axis" in emitter.op.properties else range(rank)
    named = {axis % rank for axis in given} if rank else set[int]()
    return [axis for axis in range(rank) if (axis in named) != emitter.flag("exclude")]


@dataclass(frozen=True)
class Reduction:
    """The index space of a reduction of operand 0: spatial variables and reduction variables."""

    shape: Shape
    axes: tuple[int, ...]
    keep: bool
    out: Shape

    @staticmethod
    def of(emitter: TopiBuilder) -> Reduction:
        """Returns the reduction of a relay op."""
        shape = shape_of(emitter.operand(0))
        axes = tuple(reduced_axes(emitter, len(shape)))
        return Reduction(shape, axes, emitter.flag("keepdims"), emitter.result_shape)

    @property
    def spatial(self) -> dict[str, Dim]:
        """The spatial variables."""
        return {f"i{axis}": extent for axis, extent in enumerate(self.out)}

    @property
    def folded(self) -> dict[str, Dim]:
        """The reduction variables."""
        return {f"k{axis}": self.shape[axis] for axis in self.axes}

    def at(self, b: Body) -> list[AffineExpr]:
        """Returns the indices of the operand's element in terms of the variables."""
        kept, folded = iter(b.spatial), iter(b.reduction)
        place: list[AffineExpr] = []
        for axis in range(len(self.shape)):
            if axis in self.axes:
                place.append(next(folded))
                if self.keep:
                    next(kept)
            else:
                place.append(next(kept))
        return place


def fold(
    emitter: TopiBuilder,
    label: str,
    first: Number,
    combine: Combine,
    accumulator: Attribute | None = None,
    element: Callable[[Body, list[AffineExpr]], SSAValue] | None = None,
) -> SSAValue:
    """Emits a fold over the reduced axes in the type `accumulator`, by default the data's element type.

    `element` returns the value to combine at an index of operand 0, by default the element.
    """
    data, reduction = emitter.operand(0), Reduction.of(emitter)
    wide = element_of(data) if accumulator is None else accumulator

    def fill(b: Body) -> SSAValue:
        at = reduction.at(b)
        value = b.read(data, *at) if element is None else element(b, at)
        value = convert_scalar(b, value, wide)
        return combine(b, b.accumulators[0], value) if reduction.axes else value

    init = [first] if reduction.axes else []
    return emitter.compute(label, reduction.spatial, wide, fill, reduce=reduction.folded, init=init)


@implements(SumOp, "sum.generic")
@in_single
def build_sum(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Sums over some axes; for booleans, computes whether any is true."""
    if emitter.result_type.element_type == i1:
        return build_any(emitter)
    return [fold(emitter, "sum", 0, lambda b, total, x: b.accumulate(total, x))]


@implements(MaxOp, "max.generic")
def build_max(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Folds the maximum over some axes."""
    first = lowest(emitter.result_type.element_type)
    return [fold(emitter, "max", first, lambda b, largest, x: b.largest(largest, x))]


@implements(MinOp, "min.generic")
def build_min(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Folds the minimum over some axes."""
    _, first = value_range(emitter.result_type.element_type)
    return [fold(emitter, "min", first, lambda b, smallest, x: b.smallest(smallest, x))]


@implements(AllOp, "all.generic")
def build_all(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes whether all elements over some axes are true."""
    return [fold(emitter, "all", 1, lambda b, so_far, x: b.add(arith.AndIOp(so_far, x)))]


@implements(AnyOp, "any.generic")
def build_any(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes whether any element over some axes is true."""
    return [fold(emitter, "any", 0, lambda b, so_far, x: b.add(arith.OrIOp(so_far, x)))]


@implements(VarianceOp, "variance.generic")
@in_single
def build_variance(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes the sum of squared differences from the mean, divided by the number of terms."""
    data, mean, reduction = emitter.operand(0), emitter.operand(1), Reduction.of(emitter)
    element = emitter.result_type.element_type

    def square(b: Body, at: list[AffineExpr]) -> SSAValue:
        center = b.read(mean, *(0 if axis in reduction.axes else index for axis, index in enumerate(at)))
        distance = b.minus(b.read(data, *at), center)
        return b.times(distance, distance)

    total = fold(emitter, "squares", 0, lambda b, acc, x: b.accumulate(acc, x), element, square)
    # Without terms the result is NaN, also with `unbiased`.
    count = maximum(product([reduction.shape[axis] for axis in reduction.axes]) - emitter.flag("unbiased"), 0)
    return [
        emitter.compute(
            "variance",
            reduction.spatial,
            element,
            lambda b: b.divide(b.read(total, *b.spatial), b.size(count, element)),
        )
    ]


@implements(ProdOp, "prod.generic")
@in_single
def build_prod(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Multiplies over some axes; for booleans, computes whether all are true."""
    if emitter.result_type.element_type == i1:
        return build_all(emitter)
    return [fold(emitter, "prod", 1, lambda b, so_far, x: b.times(so_far, x))]


@implements(MeanOp, "mean.generic")
@in_single
def build_mean(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Sums over some axes and divides by the number of elements; integers are summed in 64 bits."""
    shape = shape_of(emitter.operand(0))
    element = emitter.result_type.element_type
    wide = element
    if isinstance(element, IntegerType):
        wide = IntegerType(64, Signedness.UNSIGNED if is_unsigned(element) else Signedness.SIGNLESS)
    count = product([shape[axis] for axis in reduced_axes(emitter, len(shape))])
    if wide is not element and count == 0:
        raise LoweringError("relay.mean of no integers: a division by zero")
    total = fold(emitter, "mean_sum", 0, lambda b, acc, x: b.accumulate(acc, x), wide)

    def fill(b: Body) -> SSAValue:
        return convert_scalar(b, b.divide(b.read(total, *b.spatial), b.size(count, wide)), element)

    names = {f"i{axis}": extent for axis, extent in enumerate(emitter.result_shape)}
    return [emitter.compute("mean", names, element, fill)]
