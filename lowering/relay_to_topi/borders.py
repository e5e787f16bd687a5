"""Mirror padding, and FIFO buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.ops.nn_borders import FifoBufferOp, MirrorPadOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements


@implements(MirrorPadOp, "nn.mirror_pad.generic")
def build_mirror_pad(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads at mirrored indices."""
    data, op = emitter.operand(0), cast(MirrorPadOp, emitter.op)
    shape, behind = shape_of(data), int(op.mode.data == "SYMMETRIC")

    def seen(b: Body, index: AffineExpr, extent: Dim, pair: tuple[int, int]) -> AffineExpr:
        if not any(pair):
            return index
        at = index - pair[0]
        inner = b.as_index(b.maximum(b.index(at), b.index(at * -1 - behind)))
        return b.as_index(b.minimum(b.index(inner), b.index(inner * -1 + b.expr(extent * 2 - 2 + behind))))

    def read(b: Body) -> SSAValue:
        return b.read(data, *(seen(b, *each) for each in zip(b.spatial, shape, op.pairs, strict=True)))

    return [emitter.compute("mirror_pad", variables("i", emitter.result_shape), element_of(data), read)]


@implements(FifoBufferOp, "nn.fifo_buffer.generic")
def build_fifo_buffer(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the kept elements of the buffer, followed by those of the data."""
    data, buffer = emitter.operand(0), emitter.operand(1)
    shape, element = shape_of(buffer), element_of(data)
    axis = emitter.integer("axis") % len(shape)
    count = shape_of(data)[axis]
    kept = shape[axis] - count

    def choose(b: Body) -> SSAValue:
        def read(tensor: SSAValue, shift: Dim) -> SSAValue:
            at = [*b.spatial]
            at[axis] = at[axis] + b.expr(shift)
            return b.read(tensor, *at)

        is_kept = b.in_bounds([b.spatial[axis]], [kept])
        return b.guard(is_kept, element, lambda: read(buffer, count), lambda: read(data, kept * -1))

    return [emitter.compute("fifo_buffer", variables("i", shape), element, choose)]
