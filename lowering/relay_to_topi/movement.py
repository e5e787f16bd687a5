"""Slices, reversals, repetitions and broadcasting: each element is read at one index of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, divisor, element_of
from xrelay.dialects.relay.computes.movement import moved
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.ops.tensor_movement import (
    BroadcastToOp,
    RepeatOp,
    ReverseSequenceOp,
    StridedSliceOp,
    TileOp,
    TriluOp,
)
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.lowering.relay_to_topi.registry import implements


@implements(StridedSliceOp, "strided_slice.generic")
def build_strided_slice(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads with a start and step along each sliced axis."""
    op, shape = cast(StridedSliceOp, emitter.op), shape_of(emitter.operand(0))
    steps = op.steps(Facts(op.name, op.operand_types), shape)

    def place(b: Body, axis: int, index: AffineExpr) -> IndexLike:
        if axis not in steps:
            return index
        first, _, step = steps[axis]
        return index * step + b.expr(first)

    return moved(emitter, "strided_slice", place)


@implements(ReverseSequenceOp, "reverse_sequence.generic")
def build_reverse_sequence(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads reversed indices up to the sequence length, which is checked."""
    data, lengths = emitter.operand(0), emitter.operand(1)
    shape = shape_of(data)
    along, batch = emitter.integer("seq_axis") % len(shape), emitter.integer("batch_axis") % len(shape)

    def read(b: Body) -> SSAValue:
        length = b.checked_index(b.read(lengths, b.spatial[batch]), shape[along] + 1)
        here = b.index(b.spatial[along])
        mirrored = b.add(arith.SubiOp(b.add(arith.SubiOp(length, here)), b.constant(1, IndexType())))
        is_inside = b.add(CmpiOp(here, length, "slt"))
        at: list[IndexLike] = [*b.spatial]
        at[along] = b.as_index(b.add(SelectOp(is_inside, mirrored, here)))
        return b.read(data, *at)

    return [emitter.compute("reverse_sequence", variables("i", shape), element_of(data), read)]


@implements(TileOp, "tile.generic")
def build_tile(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads at the remainder of the index."""
    shape, target = shape_of(emitter.operand(0)), emitter.result_shape
    own = target[len(target) - len(shape) :]
    sizes = [divisor(extent) for extent in shape]
    return moved(emitter, "tile", lambda b, axis, i: i if own[axis] == shape[axis] else b.remainder(i, sizes[axis]))


@implements(RepeatOp, "repeat.generic")
def build_repeat(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads at the quotient of the index."""
    repeated, count = emitter.integer("axis") % len(shape_of(emitter.operand(0))), emitter.integer("repeats")
    return moved(emitter, "repeat", lambda b, axis, i: i // count if axis == repeated and count > 1 else i)


@implements(BroadcastToOp, "broadcast_to.generic")
def build_broadcast_to(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Broadcasts as numpy does."""
    return emitter.map_elements("broadcast_to", lambda b, values: values[0])


@implements(TriluOp, "trilu.generic")
def build_trilu(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Selects by the distance to the right of the main diagonal."""
    data, k = emitter.operand(0), emitter.operand(1)
    element, predicate = element_of(data), "sge" if emitter.flag("upper") else "sle"

    def choose(b: Body) -> SSAValue:
        row, column = b.spatial[-2:]
        right = b.add(arith.IndexCastOp(b.index(column - row), i64))
        is_kept = b.add(CmpiOp(right, convert_scalar(b, b.read(k), i64), predicate))
        return b.add(SelectOp(is_kept, b.read(data, *b.spatial), b.constant(0, element)))

    return [emitter.compute("trilu", variables("i", shape_of(data)), element, choose)]
