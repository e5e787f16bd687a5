"""Ops that depend on the indices of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, f64, i64
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.ops.tensor_places import MatrixSetDiagOp, MeshgridOp, SequenceMaskOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.scalars import compare, convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, SelectOp
from xrelay.lowering.relay_to_topi.registry import implements


@implements(SequenceMaskOp, "sequence_mask.generic")
def build_sequence_mask(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Selects by index and length, compared as 64-bit integers or in double precision."""
    data, lengths, axis = emitter.operand(0), emitter.operand(1), emitter.integer("axis")
    element, kind = element_of(data), element_of(lengths)
    is_wide = isa(kind, IntegerType) and kind.width.data == 64
    type = f64 if isinstance(kind, AnyFloat) else kind if is_wide else i64

    def choose(b: Body) -> SSAValue:
        place = convert_scalar(b, b.add(IndexCastOp(b.index(b.spatial[axis]), i64)), type)
        length = convert_scalar(b, b.read(lengths, b.spatial[1 - axis]), type)
        value = b.constant(emitter.held("mask_value"), element)
        return b.add(SelectOp(compare(b, place, length, "olt", "slt"), b.read(data, *b.spatial), value))

    return [emitter.compute("sequence_mask", variables("i", shape_of(data)), element, choose)]


@implements(MatrixSetDiagOp, "matrix_set_diag.generic")
def build_matrix_set_diag(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads a row of `diagonal` on the replaced diagonals, else the data."""
    data, diagonal = emitter.operand(0), emitter.operand(1)
    element, first, last = element_of(data), emitter.integer("k1"), emitter.integer("k2")

    def choose(b: Body) -> SSAValue:
        *batch, row, column = b.spatial
        right = column - row
        is_set = b.in_bounds([right - first], [last - first + 1])

        def read_row() -> SSAValue:
            rows: list[IndexLike] = [] if first == last else [right * -1 + last]
            return b.read(diagonal, *batch, *rows, b.as_index(_place_in_row(emitter, b)))

        return b.guard(is_set, element, read_row, lambda: b.read(data, *b.spatial))

    return [emitter.compute("matrix_set_diag", variables("i", shape_of(data)), element, choose)]


def _place_in_row(emitter: TopiBuilder, b: Body) -> SSAValue:
    """Returns the index of the current diagonal element in its row."""
    rows, columns = shape_of(emitter.operand(0))[-2:]
    row, column = b.index(b.spatial[-2]), b.index(b.spatial[-1])
    place, index = b.minimum(row, column), IndexType()
    aligned = emitter.flag("super_diag_right_align"), emitter.flag("sub_diag_right_align")
    if not any(aligned):
        return place
    zero, right = b.constant(0, index), b.minus(column, row)
    count = b.minimum(
        b.plus(b.size(rows, index), b.minimum(right, zero)), b.minus(b.size(columns, index), b.maximum(right, zero))
    )
    at_end = b.plus(place, b.minus(b.size(shape_of(emitter.operand(1))[-1], index), count))
    if all(aligned):
        return at_end
    above, below = (at_end, place) if aligned[0] else (place, at_end)
    return b.add(SelectOp(b.add(CmpiOp(right, zero, "sge")), above, below))


@implements(MeshgridOp, "meshgrid.generic")
def build_meshgrid(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits one compute for each vector, which reads it at the index along its axis."""
    vectors, op = emitter.operands_of_tuple(0), cast(MeshgridOp, emitter.op)

    def along(vector: SSAValue, axis: int) -> Callable[[Body], SSAValue]:
        return lambda b: b.read(vector, *b.spatial[axis : axis + len(shape_of(vector))])

    return [
        emitter.compute(
            "meshgrid",
            variables("i", emitter.extents(k)),
            element_of(vector),
            along(vector, op.vector_of(k, len(vectors))),
        )
        for k, vector in enumerate(vectors)
    ]
