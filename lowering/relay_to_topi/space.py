"""Blocks of elements as channels or batches, and the inverses: each element is read at one index of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.reshape import reshaped_indices
from xrelay.dialects.relay.ops.nn_space import (
    BatchToSpaceNdOp,
    DepthToSpaceOp,
    DilateOp,
    PixelBlockOp,
    SpaceToBatchNdOp,
    SpaceToDepthOp,
)
from xrelay.dialects.relay.ops.vision_reorg import YoloReorgOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.relay_to_topi.registry import implements


@implements(DepthToSpaceOp, "depth_to_space.generic")
def build_depth_to_space(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes the channel from that of the result and the index in the block."""
    block, is_dcr = emitter.integer("block_size"), emitter.text("mode") == "DCR"
    channel, row, column = cast(PixelBlockOp, emitter.op).axes()
    depth = emitter.result_shape[channel]

    def read(b: Body) -> SSAValue:
        at: list[AffineExpr] = [*b.spatial]
        place = b.spatial[row] % block * block + b.spatial[column] % block
        own = b.spatial[channel]
        at[channel] = b.scaled(place, depth) + own if is_dcr else own * block**2 + place
        at[row], at[column] = b.spatial[row] // block, b.spatial[column] // block
        return b.read(emitter.operand(0), *at)

    return _moved(emitter, "depth_to_space", read)


@implements(SpaceToDepthOp, "space_to_depth.generic")
def build_space_to_depth(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes the index in the block from the channel."""
    block, data = emitter.integer("block_size"), emitter.operand(0)
    channel, row, column = cast(PixelBlockOp, emitter.op).axes()
    channels = shape_of(data)[channel]

    def read(b: Body) -> SSAValue:
        at: list[AffineExpr] = [*b.spatial]
        place = b.quotient(b.spatial[channel], channels)
        at[channel] = b.remainder(b.spatial[channel], channels)
        at[row] = b.spatial[row] * block + place // block
        at[column] = b.spatial[column] * block + place % block
        return b.read(data, *at)

    return _moved(emitter, "space_to_depth", read)


@implements(BatchToSpaceNdOp, "batch_to_space_nd.generic")
def build_batch_to_space_nd(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes the batch from that of the result and the index in the block."""
    block, crops = emitter.ints("block_shape"), emitter.ints("crops")
    batches = emitter.result_shape[0]

    def read(b: Body) -> SSAValue:
        at: list[AffineExpr] = [*b.spatial]
        place: AffineExpr = AffineConstantExpr(0)
        for axis, (size, before) in enumerate(zip(block, crops[::2], strict=True), 1):
            index = b.spatial[axis] + before
            place, at[axis] = place * size + index % size, index // size
        at[0] = b.scaled(place, batches) + b.spatial[0]
        return b.read(emitter.operand(0), *at)

    return _moved(emitter, "batch_to_space_nd", read)


@implements(SpaceToBatchNdOp, "space_to_batch_nd.generic")
def build_space_to_batch_nd(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes the index in the block from the batch; elements outside of the data are the pad value."""
    data, block, before = emitter.operand(0), emitter.ints("block_shape"), emitter.ints("paddings")[::2]
    shape = shape_of(data)

    def read(b: Body) -> SSAValue:
        at: list[IndexLike] = [*b.spatial]
        place, at[0] = b.quotient(b.spatial[0], shape[0]), b.remainder(b.spatial[0], shape[0])
        for axis in range(len(block), 0, -1):
            size = block[axis - 1]
            at[axis] = b.spatial[axis] * size + place % size - before[axis - 1]
            place = place // size
        blocked = range(1, len(block) + 1)
        is_inside, element = (
            b.in_bounds([at[axis] for axis in blocked], [shape[axis] for axis in blocked]),
            element_of(data),
        )
        value = emitter.held("pad_value")
        return b.guard(is_inside, element, lambda: b.read(data, *at), lambda: b.constant(value, element))

    return _moved(emitter, "space_to_batch_nd", read)


@implements(DilateOp, "dilate.generic")
def build_dilate(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads the data if every index is a multiple of its stride, else the dilation value."""
    data, strides = emitter.operand(0), emitter.ints("strides")
    apart = [axis for axis, stride in enumerate(strides) if stride > 1]

    def read(b: Body) -> SSAValue:
        own = [index // stride for index, stride in zip(b.spatial, strides, strict=True)]
        rests = [b.spatial[axis] % strides[axis] for axis in apart]
        is_own, element = b.in_bounds(rests, [1] * len(rests)), element_of(data)
        value = emitter.held("dilation_value")
        return b.guard(is_own, element, lambda: b.read(data, *own), lambda: b.constant(value, element))

    return _moved(emitter, "dilate", read)


@implements(YoloReorgOp, "vision.yolo_reorg.generic")
def build_yolo_reorg(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes the index in the block from the channel, after a reshape of the result to the data's shape."""
    data, stride = emitter.operand(0), emitter.integer("stride")
    shape, result = shape_of(data), emitter.result_shape
    batch, channels, rows, columns = shape
    # Avoids a division by zero in index expressions for data without channels.
    depth = channels // stride**2 or 1

    def read(b: Body) -> SSAValue:
        n, channel, row, column = map(b.expr, reshaped_indices(b, b.spatial, result, shape))
        place, channel = b.quotient(channel, depth), b.remainder(channel, depth)
        apart = [n, channel, row, place // stride, column, place % stride]
        return b.read(data, *reshaped_indices(b, apart, (batch, depth, rows, stride, columns, stride), shape))

    return _moved(emitter, "yolo_reorg", read)


def _moved(emitter: TopiBuilder, label: str, read: Callable[[Body], SSAValue]) -> Sequence[SSAValue]:
    """Emits a compute of the result's shape with elements from `read`."""
    return [emitter.compute(label, variables("i", emitter.result_shape), element_of(emitter.operand(0)), read)]
