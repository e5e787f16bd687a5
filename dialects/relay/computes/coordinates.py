"""Coordinates of elements of tensors whose shapes are operands, in 64 bits."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.dims import maximum


def complete_shape(build: TopiBuilder, old: SSAValue, new: SSAValue) -> SSAValue:
    """Returns the shape `new` with -1 replaced by the remaining extent."""

    def is_rest(b: Body, value: SSAValue) -> SSAValue:
        return b.add(CmpiOp(value, b.constant(-1, i64), "eq"))

    def multiply_known(b: Body) -> SSAValue:
        value = convert_scalar(b, b.read(new, *b.reduction), i64)
        return b.times(b.accumulators[0], b.select(is_rest(b, value), b.constant(1, i64), value))

    def multiply(b: Body) -> SSAValue:
        return b.times(b.accumulators[0], convert_scalar(b, b.read(old, *b.reduction), i64))

    (before,), (after,) = build.shape(old), build.shape(new)
    total = build.compute("elements", {}, i64, multiply, reduce={"k": before}, init=[1])
    known = build.compute("known_elements", {}, i64, multiply_known, reduce={"k": after}, init=[1])

    def extent(b: Body) -> SSAValue:
        value = convert_scalar(b, b.read(new, *b.spatial), i64)
        rest = b.divide(b.read(total), _at_least_one(b, b.read(known)))
        return b.select(is_rest(b, value), rest, value)

    return build.compute("extents", {"j": after}, i64, extent)


def reshaped(build: TopiBuilder, indices: SSAValue, old: SSAValue, new: SSAValue) -> SSAValue:
    """Returns the coordinates in the shape `new` of elements whose coordinates in the shape `old` are `indices`.

    The row-major index of an element is preserved. If the shapes are equal, so are the coordinates, also invalid ones.
    """
    (count, parts), (rank,), element = build.shape(indices), build.shape(new), build.element(indices)
    old_strides, strides = _strides(build, old), _strides(build, new)

    def add(b: Body) -> SSAValue:
        own = convert_scalar(b, b.read(indices, *b.spatial, *b.reduction), i64)
        return b.accumulate_product(b.accumulators[0], own, b.read(old_strides, *b.reduction))

    number = build.compute("place_number", {"i": count}, i64, add, reduce={"k": parts}, init=[0])

    def place(b: Body) -> SSAValue:
        i, axis = b.spatial
        outer = b.divide(b.read(number, i), _at_least_one(b, b.read(strides, axis)))
        rest = b.add(arith.RemSIOp(outer, _at_least_one(b, b.read(new, axis))))
        return convert_scalar(b, b.select(_is_zero(b, axis), outer, rest), element)

    differences = _differences(build, old, new)

    def kept(b: Body) -> SSAValue:
        is_same = b.add(CmpiOp(b.read(differences), b.constant(0, i64), "eq"))
        stays = b.add(arith.AndIOp(is_same, b.in_bounds([b.spatial[1]], [parts])))
        return b.guard(stays, element, lambda: b.read(indices, *b.spatial), lambda: place(b))

    return build.compute("sparse_reshape", {"i": count, "j": rank}, element, kept)


def _differences(build: TopiBuilder, old: SSAValue, new: SSAValue) -> SSAValue:
    """Returns the number of differing extents of two shapes; 0 only if they are equal."""
    (before,), (after,) = build.shape(old), build.shape(new)

    def add(b: Body) -> SSAValue:
        def differs() -> SSAValue:
            extent = convert_scalar(b, b.read(old, *b.reduction), i64)
            return b.add(arith.ExtUIOp(b.add(CmpiOp(extent, b.read(new, *b.reduction), "ne")), i64))

        both = b.in_bounds(b.reduction, [before])
        return b.plus(b.accumulators[0], b.guard(both, i64, differs, lambda: b.constant(1, i64)))

    found = build.compute("differing_extents", {}, i64, add, reduce={"k": after}, init=[0])
    longer = maximum(0, before - after)
    return build.compute("differences", {}, i64, lambda b: b.plus(b.read(found), b.size(longer, i64)))


def _strides(build: TopiBuilder, shape: SSAValue) -> SSAValue:
    """Returns the row-major stride of each axis of a shape."""

    def multiply(b: Body) -> SSAValue:
        (axis,), (other,) = b.spatial, b.reduction
        is_inner = b.add(CmpiOp(b.index(other), b.index(axis), "sgt"))
        extent = convert_scalar(b, b.read(shape, other), i64)
        return b.times(b.accumulators[0], b.select(is_inner, extent, b.constant(1, i64)))

    (rank,) = build.shape(shape)
    return build.compute("inner_elements", {"j": rank}, i64, multiply, reduce={"k": rank}, init=[1])


def _at_least_one(b: Body, value: SSAValue) -> SSAValue:
    """Returns a nonzero divisor; an extent of 0 has no coordinates."""
    return b.maximum(value, b.constant(1, i64))


def _is_zero(b: Body, axis: AffineExpr) -> SSAValue:
    return b.add(CmpiOp(b.index(axis), b.constant(0, IndexType()), "eq"))
