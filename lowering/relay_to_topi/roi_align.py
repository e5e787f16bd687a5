"""`relay.vision.roi_align`: regions sampled between the elements of images.

If the number of samples is known, or for a maximum, samples are computed individually. If the number depends on the
region, their mean is computed by two products with tables of the weights of rows and columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.ops.vision_roi import RoiAlignOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.lowering.relay_to_topi.roi_places import NO_PLACE, RoiAxis
from xrelay.lowering.relay_to_topi.vision_regions import Regions


@implements(RoiAlignOp, "vision.roi_align.generic")
@in_single
def build_roi_align(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits products with tables of weights, or a fold over all samples."""
    regions, mode = Regions(emitter), emitter.text("mode")
    axes = RoiAxis(regions, 0), RoiAxis(regions, 1)
    if mode == "avg" and emitter.integer("sample_ratio") <= 0:
        return [_product(regions, *(axis.weights() for axis in axes))]
    if mode == "avg":
        return [_mean(regions, axes)]
    return [_greatest(regions, axes, terms=mode == "max_of_terms")]


def _product(regions: Regions, rows: SSAValue, columns: SSAValue) -> SSAValue:
    """Multiplies the images by the weights of rows, then of columns."""
    emitter, channels = regions.emitter, shape_of(regions.data)[regions.op.image_axes[0]]
    spatial: dict[str, Dim] = {"r": regions.count, "c": channels, "p": regions.size[0], "x": regions.extents[1]}

    def add_row(b: Body) -> SSAValue:
        region, channel, row, x = b.spatial
        value = regions.read(b, region, channel, b.reduction[0], x)
        return b.accumulate_product(b.accumulators[0], b.read(rows, region, row, b.reduction[0]), value)

    of_rows = emitter.compute("roi_rows", spatial, regions.real, add_row, reduce={"y": regions.extents[0]}, init=[0.0])

    def add_column(b: Body) -> SSAValue:
        region, channel, row, column = regions.of_point(b)
        weight, value = (
            b.read(columns, region, column, b.reduction[0]),
            b.read(of_rows, region, channel, row, b.reduction[0]),
        )
        return b.accumulate_product(b.accumulators[0], weight, value)

    names, reduce = variables("i", emitter.result_shape), {"x": regions.extents[1]}
    return _as_element(
        regions, emitter.compute("roi_align", names, regions.real, add_column, reduce=reduce, init=[0.0])
    )


class _Samples:
    """The values of the samples of bins."""

    def __init__(self, regions: Regions, axes: tuple[RoiAxis, RoiAxis], *, terms: bool = False):
        self.regions, self.axes, self.terms = regions, axes, terms
        self.tables = [axis.places() for axis in axes]
        self.reduce: dict[str, Dim] = {name: axis.most for name, axis in zip("yx", axes, strict=True)}

    def value(self, b: Body, otherwise: float) -> SSAValue:
        """Returns the value of the current sample, 0 outside of the image, `otherwise` if there is no such sample."""
        regions = self.regions
        region, channel, *bins = regions.of_point(b)
        places = [
            b.read(table, region, bin_, step) for table, bin_, step in zip(self.tables, bins, b.reduction, strict=True)
        ]
        zero, least = b.constant(0, regions.real), b.minimum(*places)
        is_inside = b.add(arith.CmpfOp(least, b.constant(-1, regions.real), "oge"))
        value = b.guard(is_inside, regions.real, lambda: self._inside(b, region, channel, places), lambda: zero)
        is_place = b.add(arith.CmpfOp(least, b.constant(NO_PLACE, regions.real), "ogt"))
        return b.add(SelectOp(is_place, value, b.constant(otherwise, regions.real)))

    def _inside(self, b: Body, region: AffineExpr, channel: AffineExpr, places: Sequence[SSAValue]) -> SSAValue:
        rows, columns = (axis.taps(b, place) for axis, place in zip(self.axes, places, strict=True))
        found: SSAValue | None = None
        for row, weight in rows:
            for column, factor in columns:
                value = self.regions.read(b, region, channel, row, column)
                term = b.times(b.times(weight, factor), value)
                combine = b.maximum if self.terms else b.plus
                found = term if found is None else combine(found, term)
        return b.constant(0, self.regions.real) if found is None else found


def _mean(regions: Regions, axes: tuple[RoiAxis, RoiAxis]) -> SSAValue:
    """Sums over all samples and divides by their number."""
    samples, emitter, names = _Samples(regions, axes), regions.emitter, variables("i", regions.emitter.result_shape)

    def add(b: Body) -> SSAValue:
        return b.accumulate(b.accumulators[0], samples.value(b, 0.0))

    total = emitter.compute("roi_sum", names, regions.real, add, reduce=samples.reduce, init=[0.0])
    count = emitter.integer("sample_ratio") ** 2

    def divide(b: Body) -> SSAValue:
        return b.divide(b.read(total, *b.spatial), b.constant(count, regions.real))

    return _as_element(regions, emitter.compute("roi_align", names, regions.real, divide))


def _greatest(regions: Regions, axes: tuple[RoiAxis, RoiAxis], *, terms: bool) -> SSAValue:
    """Folds the maximum over all samples; 0 without samples."""
    samples, emitter = _Samples(regions, axes, terms=terms), regions.emitter
    names, lowest = variables("i", emitter.result_shape), float("-inf")

    def fold(b: Body) -> SSAValue:
        return b.largest(b.accumulators[0], samples.value(b, lowest))

    best = emitter.compute("roi_greatest", names, regions.real, fold, reduce=samples.reduce, init=[lowest])

    def choose(b: Body) -> SSAValue:
        has_rows, has_columns = (axis.has_places(b, b.spatial[0]) for axis in axes)
        has_places = b.add(arith.AndIOp(has_rows, has_columns))
        return b.add(SelectOp(has_places, b.read(best, *b.spatial), b.constant(0, regions.real)))

    return _as_element(regions, emitter.compute("roi_align", names, regions.real, choose))


def _as_element(regions: Regions, value: SSAValue) -> SSAValue:
    """Converts a result from the type of the sums to the data's element type."""
    element, names = regions.element, variables("i", shape_of(value))
    if regions.real == element:
        return value
    return regions.emitter.compute(
        "roi_rounded", names, element, lambda b: convert_scalar(b, b.read(value, *b.spatial), element)
    )
