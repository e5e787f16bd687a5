"""Operators that move elements: reshapes, transpose, concatenate, split, pad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.reshape import reshaped
from xrelay.dialects.relay.ops.tensor_join import ConcatenateOp, SplitOp
from xrelay.dialects.relay.ops.tensor_shape import BatchFlattenOp, ExpandDimsOp, ReshapeOp, ReverseReshapeOp, SqueezeOp
from xrelay.dialects.relay.ops.tensor_transform import PadOp, TransposeOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements


@implements(ReshapeOp, "reshape.generic")
@implements(ReverseReshapeOp, "contrib_reverse_reshape.generic")
@implements(BatchFlattenOp, "batch_flatten.generic")
@implements(SqueezeOp, "squeeze.generic")
@implements(ExpandDimsOp, "expand_dims.generic")
def build_reshape(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the element at the same row-major index; an empty operand is never read."""
    return [reshaped(emitter)]


@implements(TransposeOp, "transpose.generic")
def build_transpose(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads with permuted axes: result axis `i` is operand axis `axes[i]`; by default, axes are reversed."""
    data = emitter.operand(0)
    rank = len(shape_of(data))
    axes = [axis % rank for axis in emitter.ints("axes")] or list(reversed(range(rank)))

    def fill(b: Body) -> SSAValue:
        at: list[IndexLike] = [0] * rank
        for position, axis in enumerate(axes):
            at[axis] = b.spatial[position]
        return b.read(data, *at)

    return [emitter.compute("transpose", variables("i", emitter.result_shape), element_of(data), fill)]


@implements(ConcatenateOp, "concatenate.generic")
def build_concatenate(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the operand that contains the element, selected by a binary tree of guards."""
    parts = emitter.operands_of_tuple(0)
    shape = emitter.result_shape
    axis = emitter.integer("axis") % len(shape)
    sizes = [shape_of(part)[axis] for part in parts]
    starts: list[Dim] = [0, *accumulate(sizes[:-1])]
    element = emitter.result_type.element_type

    def fill(b: Body) -> SSAValue:
        def read(index: int) -> SSAValue:
            at: list[IndexLike] = [*b.spatial]
            at[axis] = b.spatial[axis] - b.expr(starts[index])
            return b.read(parts[index], *at)

        def choose(first: int, end: int) -> SSAValue:
            if end - first == 1:
                return read(first)
            middle = (first + end) // 2
            below = b.in_bounds([b.spatial[axis]], [starts[middle]])
            return b.guard(below, element, lambda: choose(first, middle), lambda: choose(middle, end))

        return choose(0, len(parts))

    return [emitter.compute("concatenate", variables("i", shape), element, fill)]


@implements(SplitOp, "split.generic")
def build_split(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits one compute for each part, which reads at the part's offset."""
    data = emitter.operand(0)
    axis = emitter.integer("axis") % len(shape_of(data))
    shapes = [emitter.extents(field) for field in range(len(emitter.result_types))]
    sizes = [shape[axis] for shape in shapes]
    starts: list[Dim] = [0, *accumulate(sizes[:-1])]

    def part(start: Dim) -> Callable[[Body], SSAValue]:
        def fill(b: Body) -> SSAValue:
            at: list[IndexLike] = [*b.spatial]
            at[axis] = b.spatial[axis] + b.expr(start)
            return b.read(data, *at)

        return fill

    return [
        emitter.compute("split", variables("i", shape), element_of(data), part(start))
        for shape, start in zip(shapes, starts, strict=True)
    ]


@implements(PadOp, "pad.generic")
def build_pad(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Pads by the widths of the op."""
    widths = emitter.ints("pad_width")
    padded = [any(pair) for pair in zip(widths[::2], widths[1::2], strict=True)]
    return build_padded(emitter, emitter.operand(1), lambda b: widths[::2], padded)


def build_padded(
    emitter: TopiBuilder, value: SSAValue, before: Callable[[Body], Sequence[IndexLike]], padded: Sequence[bool]
) -> Sequence[SSAValue]:
    """Reads the first operand inside its bounds; outside, `value` or the element specified by the mode.

    `before` returns the width before each axis; `padded` specifies which axes are padded.
    """
    data, mode = emitter.operand(0), emitter.text("pad_mode")
    shape, element = shape_of(data), element_of(data)

    def fill(b: Body) -> SSAValue:
        at = [index - b.expr(start) for index, start in zip(b.spatial, before(b), strict=True)]
        if mode != "constant":
            bring = _nearest if mode == "edge" else _mirrored
            return b.read(data, *(bring(b, i, n) if out else i for i, n, out in zip(at, shape, padded, strict=True)))
        inside = b.in_bounds(at, shape)
        zeros = [0] * len(shape_of(value))
        return b.guard(inside, element, lambda: b.read(data, *at), lambda: b.read(value, *zeros))

    return [emitter.compute("nn_pad", variables("i", emitter.result_shape), element, fill)]


def _nearest(b: Body, at: AffineExpr, extent: Dim) -> AffineExpr:
    """Clamps an index to the axis."""
    index = IndexType()
    above = b.maximum(b.index(at), b.constant(0, index))
    return b.as_index(b.minimum(above, b.size(extent - 1, index)))


def _mirrored(b: Body, at: AffineExpr, extent: Dim) -> AffineExpr:
    """Reflects an index, less than `extent` outside, at the outermost elements."""
    above = b.as_index(b.maximum(b.index(at), b.index(at * -1)))
    return b.as_index(b.minimum(b.index(above), b.index(above * -1 + b.expr(2 * (extent - 1)))))
