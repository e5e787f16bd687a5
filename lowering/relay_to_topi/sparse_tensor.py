"""Sparse tensors as lists of places and of values: sparse_to_dense."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.sparse_tensor import SparseToDenseOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.build_scatter import scatter
from xrelay.dialects.topi.scatter import Combine
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.emitter import TopiEmitter
from xrelay.lowering.relay_to_topi.fill import build_full
from xrelay.lowering.relay_to_topi.gather import INDEX, checked_indices
from xrelay.lowering.relay_to_topi.strategies import implements


@implements(SparseToDenseOp, "sparse_to_dense.generic")
def build_sparse_to_dense(emitter: TopiEmitter) -> Sequence[SSAValue]:
    """The default everywhere, then each value at its place."""
    (full,) = build_full(emitter)
    indices, values = emitter.operand(0), emitter.operand(1)
    parts = _parts(emitter, indices, emitter.result_shape)

    def fill(b: Body) -> tuple[list[SSAValue], SSAValue]:
        own = b.spatial if shape_of(values) else ()
        return [b.read(part, *b.spatial) for part in parts], b.read(values, *own)

    space = variables("i", shape_of(indices)[:1])
    return [emitter.insert(scatter("sparse_to_dense", space, Combine.UPDATE, full, fill)).result]


def _parts(emitter: TopiEmitter, indices: SSAValue, sizes: Sequence[Dim]) -> list[SSAValue]:
    """The indices of all places along each axis of the result, each checked against its extent."""
    places = shape_of(indices)
    if len(places) < 2:
        return [checked_indices(emitter, indices, sizes[0], from_end=False)]

    def column(axis: int) -> SSAValue:
        space = variables("k", places[:1])
        return emitter.compute(
            "indices", space, INDEX, lambda b: b.checked_index(b.read(indices, *b.spatial, axis), sizes[axis])
        )

    return [column(axis) for axis in range(len(sizes))]
