"""Blocks of elements as channels or batches, the inverses, and dilation."""

from __future__ import annotations

from math import prod

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.nn_space import (
    BatchToSpaceNdOp,
    DepthToSpaceOp,
    DilateOp,
    PixelBlockOp,
    SpaceToBatchNdOp,
    SpaceToDepthOp,
)
from xrelay.dialects.relay.ops.vision_reorg import YoloReorgOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates


@evaluates(DepthToSpaceOp)
def evaluate_depth_to_space(op: DepthToSpaceOp, data: Array) -> Array:
    """Splits the channels into axes and moves them after rows and columns."""
    block, image = op.block_size.value.data, _channels_first(op, data)
    n, channels, rows, columns = image.shape
    depth = channels // block**2
    if op.mode.data == "DCR":
        apart = image.reshape(n, block, block, depth, rows, columns).transpose(0, 3, 4, 1, 5, 2)
    else:
        apart = image.reshape(n, depth, block, block, rows, columns).transpose(0, 1, 4, 2, 5, 3)
    return _as_laid_out(op, apart.reshape(n, depth, rows * block, columns * block))


@evaluates(SpaceToDepthOp)
def evaluate_space_to_depth(op: SpaceToDepthOp, data: Array) -> Array:
    """Splits rows and columns into block axes and moves these before the channels."""
    block, image = op.block_size.value.data, _channels_first(op, data)
    n, channels, rows, columns = image.shape
    apart = image.reshape(n, channels, rows // block, block, columns // block, block).transpose(0, 3, 5, 1, 2, 4)
    return _as_laid_out(op, apart.reshape(n, channels * block**2, rows // block, columns // block))


def _channels_first(op: PixelBlockOp, data: Array) -> Array:
    return data if op.layout.data == "NCHW" else data.transpose(0, 3, 1, 2)


def _as_laid_out(op: PixelBlockOp, image: Array) -> Array:
    return image if op.layout.data == "NCHW" else image.transpose(0, 2, 3, 1)


@evaluates(BatchToSpaceNdOp)
def evaluate_batch_to_space_nd(op: BatchToSpaceNdOp, data: Array) -> Array:
    """Splits the batch into block axes and moves each after the axis that it extends."""
    block, crops = ints(op.block_shape), ints(op.crops)
    count, batches = len(block), data.shape[0] // prod(block)
    apart = data.reshape(*block, batches, *data.shape[1:])
    turned = [count, *(axis for i in range(count) for axis in (count + 1 + i, i)), *range(2 * count + 1, apart.ndim)]
    longer = [extent * size for extent, size in zip(data.shape[1:], block, strict=False)]
    whole = apart.transpose(turned).reshape(batches, *longer, *data.shape[1 + count :])
    ends = zip(crops[::2], crops[1::2], longer, strict=True)
    return whole[(slice(None), *(slice(before, extent - behind) for before, behind, extent in ends))]


@evaluates(SpaceToBatchNdOp)
def evaluate_space_to_batch_nd(op: SpaceToBatchNdOp, data: Array) -> Array:
    """Splits the axes into block axes and moves these before the batch."""
    block, paddings = ints(op.block_shape), ints(op.paddings)
    count = len(block)
    pairs = [(0, 0), *zip(paddings[::2], paddings[1::2], strict=True), *[(0, 0)] * (data.ndim - 1 - count)]
    filled = np.pad(data, pairs, constant_values=np.asarray(op.pad_value.value.data).astype(data.dtype))
    split = [part for extent, size in zip(filled.shape[1:], block, strict=False) for part in (extent // size, size)]
    apart = filled.reshape(filled.shape[0], *split, *filled.shape[1 + count :])
    turned = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(2 * count + 1, apart.ndim)]
    return apart.transpose(turned).reshape(filled.shape[0] * prod(block), *split[::2], *filled.shape[1 + count :])


@evaluates(DilateOp)
def evaluate_dilate(op: DilateOp, data: Array) -> Array:
    """Assigns the data to a strided slice of a filled array."""
    strides = ints(op.strides)
    shape = [max(0, (extent - 1) * stride + 1) for extent, stride in zip(data.shape, strides, strict=True)]
    result = np.full(shape, np.asarray(op.dilation_value.value.data).astype(data.dtype), data.dtype)
    result[tuple(slice(None, None, stride) for stride in strides)] = data
    return result


@evaluates(YoloReorgOp)
def evaluate_yolo_reorg(op: YoloReorgOp, data: Array) -> Array:
    """Splits rows and columns into block axes and moves these before the channels."""
    s, (n, channels, rows, columns) = op.stride.value.data, data.shape
    apart = data.reshape(n, channels // s**2, rows, s, columns, s).transpose(0, 3, 5, 1, 2, 4)
    return apart.reshape(n, channels * s**2, rows // s, columns // s)
