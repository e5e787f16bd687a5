"""Resizing of image boxes, and affine grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float64Type, f32, f64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.checked_indices import checked_indices
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.interpolation import between_taps, taps_around
from xrelay.dialects.relay.computes.scalars import as_number
from xrelay.dialects.relay.ops.image_crop import AffineGridOp, CropAndResizeOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements

OUTSIDE = -1
"""The table entry for coordinates outside of the image."""


@implements(CropAndResizeOp, "image.crop_and_resize.generic")
@in_single
def build_crop_and_resize(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits tables of row and column coordinates, and interpolates elements."""
    op, (data, boxes) = cast(CropAndResizeOp, emitter.op), (emitter.operand(0), emitter.operand(1))
    real: Attribute = f64 if Float64Type() in (element_of(data), element_of(boxes)) else f32
    images = checked_indices(emitter, emitter.operand(2), shape_of(data)[0], from_end=False)
    tables = [_table(emitter, op, axis, real) for axis in (0, 1)]
    element, nearest = emitter.result_type.element_type, op.method.data == "nearest_neighbor"

    def fill(b: Body) -> SSAValue:
        number, (channel, *at) = b.spatial[0], (b.spatial[axis] for axis in op.image_axes)
        places = [b.read(table, number, index) for table, index in zip(tables, at, strict=True)]
        is_inside = b.add(arith.CmpfOp(b.minimum(*places), b.constant(0, real), "oge"))

        def read(row: AffineExpr, column: AffineExpr) -> SSAValue:
            where: list[IndexLike] = [b.as_index(b.read(images, number)), 0, 0, 0]
            for axis, index in zip(op.image_axes, (channel, row, column), strict=True):
                where[axis] = index
            return convert_scalar(b, b.read(data, *where), real)

        def found() -> SSAValue:
            rows, columns = (
                taps_around(b, place, shape_of(data)[axis], nearest=nearest)
                for place, axis in zip(places, op.image_axes[1:], strict=True)
            )
            lines = [between_taps(b, [read(row, column) for column in columns[0]], columns[1]) for row in rows[0]]
            return between_taps(b, lines, rows[1])

        outside = emitter.number("extrapolation_value")
        value = b.guard(is_inside, real, found, lambda: b.constant(outside, real))
        return convert_scalar(b, value, element)

    return [emitter.compute("crop_and_resize", variables("i", emitter.result_shape), element, fill)]


def _table(emitter: TopiBuilder, op: CropAndResizeOp, axis: int, real: Attribute) -> SSAValue:
    """Returns the table of coordinates along one axis: (boxes, elements)."""
    boxes, count = emitter.operand(1), emitter.ints("crop_size")[axis]
    extent = shape_of(emitter.operand(0))[op.image_axes[axis + 1]]

    def place(b: Body) -> SSAValue:
        box, index = b.spatial
        first, last = (convert_scalar(b, b.read(boxes, box, end), real) for end in (axis, axis + 2))
        width, zero = b.size(extent - 1, real), b.constant(0, real)
        if count == 1:
            found = b.times(b.times(b.plus(first, last), b.constant(0.5, real)), width)
        else:
            step = b.divide(b.times(b.minus(last, first), width), b.constant(count - 1, real))
            found = b.plus(b.times(first, width), b.times(as_number(b, index, real), step))
        is_behind, is_before = (
            b.add(arith.CmpfOp(found, edge, word)) for edge, word in ((zero, "oge"), (width, "ole"))
        )
        is_inside = b.add(arith.AndIOp(is_behind, is_before))
        return b.add(SelectOp(is_inside, found, b.constant(OUTSIDE, real)))

    spatial: dict[str, Dim] = {"n": shape_of(boxes)[0], "o": count}
    return emitter.compute("crop_places", spatial, real, place)


@implements(AffineGridOp, "image.affine_grid.generic")
@in_single
def build_affine_grid(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Sums three terms."""
    data, (height, width) = emitter.operand(0), emitter.ints("target_shape")
    real = element_of(data)

    def place(b: Body, index: AffineExpr, count: int) -> SSAValue:
        if count == 1:
            return b.constant(0, real)
        twice = b.times(as_number(b, index, real), b.constant(2, real))
        return b.minus(b.divide(twice, b.constant(count - 1, real)), b.constant(1, real))

    def fill(b: Body) -> SSAValue:
        number, axis, row, column = b.spatial
        of_column, of_row, shift = (b.read(data, number, axis, term) for term in range(3))
        moved = b.times(of_column, place(b, column, width))
        return b.plus(b.plus(moved, b.times(of_row, place(b, row, height))), shift)

    return [emitter.compute("affine_grid", variables("i", emitter.result_shape), real, fill)]
