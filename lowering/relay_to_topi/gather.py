"""Reads at indices from an operand: take, gather, gather_nd, one_hot.

Indices that may be out of range are checked in a separate compute. So each index is checked once, regardless of the
number of elements that it selects, and also if a later operator of the kernel drops elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.checked_indices import INDEX, checked_indices
from xrelay.dialects.relay.computes.reshape import reshaped_indices
from xrelay.dialects.relay.ops.tensor_gather import GatherNDOp, GatherOp, OneHotOp, TakeOp
from xrelay.dialects.topi.build import Body, IndexLike, is_unsigned, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, IndexCastUIOp, SelectOp
from xrelay.index_algebra.dims import Dim, product
from xrelay.lowering.relay_to_topi.registry import implements


@implements(TakeOp, "take.generic")
def build_take(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the data at the indices along the axis."""
    data, indices, op = emitter.operand(0), emitter.operand(1), cast(TakeOp, emitter.op)
    shape, places = shape_of(data), shape_of(indices)
    axis, batch = op.axis_and_batch(len(shape), len(places))
    flat, along = (shape, axis) if axis is not None else ((product(shape),), 0)
    mode = op.mode.data
    known = checked_indices(emitter, indices, flat[along]) if mode == "raise" else indices

    def fill(b: Body) -> SSAValue:
        behind = along + len(places) - batch
        place = b.read(known, *b.spatial[:batch], *b.spatial[along:behind])
        index = b.as_index(place if mode == "raise" else _in_mode(b, place, flat[along], mode))
        at = [*b.spatial[:along], index, *b.spatial[behind:]]
        return b.read(data, *(at if axis is not None else reshaped_indices(b, at, flat, shape)))

    return [emitter.compute("take", variables("i", emitter.result_shape), element_of(data), fill)]


def as_index(b: Body, value: SSAValue) -> SSAValue:
    """Casts an integer to index; unsigned integers are zero-extended."""
    return b.add((IndexCastUIOp if is_unsigned(value.type) else IndexCastOp)(value, INDEX))


def _in_mode(b: Body, place: SSAValue, size: Dim, mode: str) -> SSAValue:
    """Maps an index to [0, size): modulo for "wrap", else clamped."""
    unsigned = is_unsigned(place.type)
    index, zero, extent = as_index(b, place), b.constant(0, INDEX), b.size(size, INDEX)
    if mode == "wrap":
        rest = b.add((arith.RemUIOp if unsigned else arith.RemSIOp)(index, extent))
        return b.add(SelectOp(b.add(CmpiOp(rest, zero, "slt")), b.plus(rest, extent), rest))
    last = b.size(size - 1, INDEX)
    return b.add(arith.MinUIOp(index, last)) if unsigned else b.minimum(b.maximum(index, zero), last)


@implements(GatherOp, "gather.generic")
def build_gather(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the data at the index along the axis, and at the current point along the others."""
    data, axis = emitter.operand(0), emitter.integer("axis") % len(emitter.result_shape)
    known = checked_indices(emitter, emitter.operand(1), shape_of(data)[axis])

    def fill(b: Body) -> SSAValue:
        at: list[IndexLike] = [*b.spatial]
        at[axis] = b.as_index(b.read(known, *b.spatial))
        return b.read(data, *at)

    return [emitter.compute("gather", variables("i", emitter.result_shape), element_of(data), fill)]


@implements(GatherNDOp, "gather_nd.generic")
def build_gather_nd(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the data at the batch indices, the components of the index tuple, and the indices of the slice."""
    data, indices, batch = emitter.operand(0), emitter.operand(1), emitter.integer("batch_dims")
    shape, rank = shape_of(data), len(shape_of(indices)) - 1
    parts = tuple_parts(emitter, indices, shape[batch:])

    def fill(b: Body) -> SSAValue:
        place: tuple[AffineExpr, ...] = b.spatial[:rank]
        at = [b.as_index(b.read(part, *place)) for part in parts]
        return b.read(data, *place[:batch], *at, *b.spatial[rank:])

    return [emitter.compute("gather_nd", variables("i", emitter.result_shape), element_of(data), fill)]


def tuple_parts(emitter: TopiBuilder, indices: SSAValue, sizes: Sequence[Dim]) -> list[SSAValue]:
    """Returns the components of the index tuples, each checked against the extent of its axis."""
    (count,) = emitter.known_extents(shape_of(indices)[:1], "the tuples of indices")
    return [checked_indices(emitter, indices, size, part=part) for part, size in enumerate(sizes[:count])]


@implements(OneHotOp, "one_hot.generic")
def build_one_hot(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Selects between both values by comparing the index with the new axis."""
    indices, on_value, off_value = (emitter.operand(index) for index in range(3))
    op = emitter.op
    assert isinstance(op, OneHotOp), "the implementation of one_hot"
    axis = op.axis_index(len(shape_of(indices)))

    def fill(b: Body) -> SSAValue:
        place = as_index(b, b.read(indices, *b.spatial[:axis], *b.spatial[axis + 1 :]))
        on = b.add(CmpiOp(place, b.index(b.spatial[axis]), "eq"))
        return b.add(SelectOp(on, b.read(on_value), b.read(off_value)))

    return [emitter.compute("one_hot", variables("i", emitter.result_shape), emitter.result_type.element_type, fill)]
