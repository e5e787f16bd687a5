"""Folds over some axes of the first operand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import Body, Number, TopiBuilder, element_of
from xrelay.dialects.relay.computes.scalars import row_major
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim, Shape

Combine = Callable[[Body, SSAValue, SSAValue], SSAValue]


def reduced_axes(build: TopiBuilder, rank: int) -> list[int]:
    """Returns the reduced axes: those of `axis`, by default all; with `exclude` the other axes."""
    given = build.ints("axis") if "axis" in build.op.properties else range(rank)
    named = {axis % rank for axis in given} if rank else set[int]()
    return [axis for axis in range(rank) if (axis in named) != build.flag("exclude")]


@dataclass(frozen=True)
class Reduction:
    """The index space of a reduction of operand 0: spatial variables and reduction variables."""

    shape: Shape
    axes: tuple[int, ...]
    keep: bool
    out: Shape

    @staticmethod
    def of(build: TopiBuilder) -> Reduction:
        """Returns the reduction of a relay op."""
        shape = shape_of(build.operand(0))
        axes = tuple(reduced_axes(build, len(shape)))
        return Reduction(shape, axes, build.flag("keepdims"), build.result_shape)

    @property
    def spatial_vars(self) -> dict[str, Dim]:
        """The spatial variables."""
        return {f"i{axis}": extent for axis, extent in enumerate(self.out)}

    @property
    def reduction_vars(self) -> dict[str, Dim]:
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

    def number(self, b: Body) -> SSAValue:
        """Returns the row-major index of the current element over the reduced axes, as i32."""
        number = row_major(b, b.reduction, [self.shape[axis] for axis in self.axes])
        return b.add(arith.IndexCastOp(b.index(number), i32))


def fold(
    build: TopiBuilder,
    label: str,
    first: Number,
    combine: Combine,
    accumulator: Attribute | None = None,
    element: Callable[[Body, list[AffineExpr]], SSAValue] | None = None,
) -> SSAValue:
    """Builds a fold over the reduced axes in the type `accumulator`, by default the data's element type.

    `element` returns the value to combine at an index of operand 0, by default the element.
    """
    data, reduction = build.operand(0), Reduction.of(build)
    wide = element_of(data) if accumulator is None else accumulator

    def fill(b: Body) -> SSAValue:
        at = reduction.at(b)
        value = b.read(data, *at) if element is None else element(b, at)
        value = b.convert(value, wide)
        return combine(b, b.accumulators[0], value) if reduction.axes else value

    init = [first] if reduction.axes else []
    return build.compute(label, reduction.spatial_vars, wide, fill, reduce=reduction.reduction_vars, init=init)


def all_true(build: TopiBuilder) -> SSAValue:
    """Computes whether all elements over the reduced axes are true."""
    return fold(build, "all", 1, lambda b, so_far, x: b.logical_and(so_far, x))


def any_true(build: TopiBuilder) -> SSAValue:
    """Computes whether any element over the reduced axes is true."""
    return fold(build, "any", 0, lambda b, so_far, x: b.logical_or(so_far, x))
