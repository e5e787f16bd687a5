"""Sparse tensors in coordinate format: sparse_to_dense, sparse_reshape."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.checked_indices import INDEX, checked_indices
from xrelay.dialects.relay.computes.fill import filled
from xrelay.dialects.relay.ops.sparse_tensor import DynSparseToDenseOp, SparseReshapeOp, SparseToDenseOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.build_scatter import scatter
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.scatter import Combine
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.dims import Dim, maximum
from xrelay.lowering.relay_to_topi.registry import implements


@implements(SparseToDenseOp, "sparse_to_dense.generic")
@implements(DynSparseToDenseOp, "dyn.sparse_to_dense.named")
def build_sparse_to_dense(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Fills with the default and scatters the values; the values are the second last operand."""
    full = filled(emitter, emitter.operand(len(emitter.op.operands) - 1))
    indices, values = emitter.operand(0), emitter.operand(len(emitter.op.operands) - 2)
    parts = _parts(emitter, indices, emitter.result_shape)

    def fill(b: Body) -> tuple[list[SSAValue], SSAValue]:
        own = b.spatial if shape_of(values) else ()
        return [b.read(part, *b.spatial) for part in parts], b.read(values, *own)

    space = variables("i", shape_of(indices)[:1])
    return [emitter.insert(scatter("sparse_to_dense", space, Combine.UPDATE, full, fill)).result]


def _parts(emitter: TopiBuilder, indices: SSAValue, sizes: Sequence[Dim]) -> list[SSAValue]:
    """Returns the indices along each axis of the result, checked against its extent."""
    places = shape_of(indices)
    if len(places) < 2:
        return [checked_indices(emitter, indices, sizes[0], from_end=False)]

    def column(axis: int) -> SSAValue:
        space = variables("k", places[:1])
        return emitter.compute(
            "indices", space, INDEX, lambda b: b.checked_index(b.read(indices, *b.spatial, axis), sizes[axis])
        )

    return [column(axis) for axis in range(len(sizes))]


@implements(SparseReshapeOp, "sparse_reshape.generic")
def build_sparse_reshape(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes row-major indices, and new coordinates by quotients and remainders, in 64 bits."""
    indices, old, new = (emitter.operand(index) for index in range(3))
    (count, parts), (rank,) = shape_of(indices), shape_of(new)
    shape = _new_shape(emitter, old, new)
    steps, inner = _inner_counts(emitter, old), _inner_counts(emitter, shape)

    def add(b: Body) -> SSAValue:
        own = convert_scalar(b, b.read(indices, *b.spatial, *b.reduction), i64)
        return b.accumulate_product(b.accumulators[0], own, b.read(steps, *b.reduction))

    number = emitter.compute("place_number", {"i": count}, i64, add, reduce={"k": parts}, init=[0])

    def place(b: Body) -> SSAValue:
        i, axis = b.spatial
        outer = b.divide(b.read(number, i), _at_least_one(b, b.read(inner, axis)))
        rest = b.add(arith.RemSIOp(outer, _at_least_one(b, b.read(shape, axis))))
        return convert_scalar(b, b.add(SelectOp(_is_zero(b, axis), outer, rest)), element_of(indices))

    differences = _differences(emitter, old, shape)

    def kept(b: Body) -> SSAValue:
        is_same = b.add(CmpiOp(b.read(differences), b.constant(0, i64), "eq"))
        stays = b.add(arith.AndIOp(is_same, b.in_bounds([b.spatial[1]], [parts])))
        return b.guard(stays, element_of(indices), lambda: b.read(indices, *b.spatial), lambda: place(b))

    places = emitter.compute("sparse_reshape", {"i": count, "j": rank}, element_of(indices), kept)
    element = element_of(new)
    result = emitter.compute(
        "new_shape", {"j": rank}, element, lambda b: convert_scalar(b, b.read(shape, *b.spatial), element)
    )
    return [places, result]


def _new_shape(emitter: TopiBuilder, old: SSAValue, new: SSAValue) -> SSAValue:
    """Returns the new shape in 64 bits, with -1 replaced by the remaining extent."""

    def is_rest(b: Body, value: SSAValue) -> SSAValue:
        return b.add(CmpiOp(value, b.constant(-1, i64), "eq"))

    def multiply_known(b: Body) -> SSAValue:
        value = convert_scalar(b, b.read(new, *b.reduction), i64)
        return b.times(b.accumulators[0], b.add(SelectOp(is_rest(b, value), b.constant(1, i64), value)))

    def multiply(b: Body) -> SSAValue:
        return b.times(b.accumulators[0], convert_scalar(b, b.read(old, *b.reduction), i64))

    total = emitter.compute("elements", {}, i64, multiply, reduce={"k": shape_of(old)[0]}, init=[1])
    known = emitter.compute("known_elements", {}, i64, multiply_known, reduce={"k": shape_of(new)[0]}, init=[1])

    def extent(b: Body) -> SSAValue:
        value = convert_scalar(b, b.read(new, *b.spatial), i64)
        rest = b.divide(b.read(total), _at_least_one(b, b.read(known)))
        return b.add(SelectOp(is_rest(b, value), rest, value))

    return emitter.compute("extents", {"j": shape_of(new)[0]}, i64, extent)


def _differences(emitter: TopiBuilder, old: SSAValue, new: SSAValue) -> SSAValue:
    """Returns the number of differing extents of two shapes; 0 only if they are equal."""
    (before,), (after,) = shape_of(old), shape_of(new)

    def add(b: Body) -> SSAValue:
        def differs() -> SSAValue:
            extent = convert_scalar(b, b.read(old, *b.reduction), i64)
            return b.add(arith.ExtUIOp(b.add(CmpiOp(extent, b.read(new, *b.reduction), "ne")), i64))

        both = b.in_bounds(b.reduction, [before])
        return b.plus(b.accumulators[0], b.guard(both, i64, differs, lambda: b.constant(1, i64)))

    found = emitter.compute("differing_extents", {}, i64, add, reduce={"k": after}, init=[0])
    longer = maximum(0, before - after)
    return emitter.compute("differences", {}, i64, lambda b: b.plus(b.read(found), b.size(longer, i64)))


def _inner_counts(emitter: TopiBuilder, shape: SSAValue) -> SSAValue:
    """Returns the row-major stride of each axis of a shape."""

    def multiply(b: Body) -> SSAValue:
        (axis,), (other,) = b.spatial, b.reduction
        is_inner = b.add(CmpiOp(b.index(other), b.index(axis), "sgt"))
        extent = convert_scalar(b, b.read(shape, other), i64)
        return b.times(b.accumulators[0], b.add(SelectOp(is_inner, extent, b.constant(1, i64))))

    (rank,) = shape_of(shape)
    return emitter.compute("inner_elements", {"j": rank}, i64, multiply, reduce={"k": rank}, init=[1])


def _at_least_one(b: Body, value: SSAValue) -> SSAValue:
    """Returns a nonzero divisor; nothing is divided by an extent of 0."""
    return b.maximum(value, b.constant(1, i64))


def _is_zero(b: Body, axis: AffineExpr) -> SSAValue:
    return b.add(CmpiOp(b.index(axis), b.constant(0, IndexType()), "eq"))
