"""Blocks of elements as channels or batches: `nn.space_to_depth`, `nn.space_to_batch_nd`, and their inverses.

`vision.yolo_reorg` is the passthrough layer of YOLO, and `nn.dilate` sets elements apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.relay.gradients.numbered_elements import gradient_by_numbers
from xrelay.dialects.relay.op_definition import (
    END,
    Array,
    AtLeast,
    AttributeValue,
    Body,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    IndexLike,
    OneOf,
    Quantization,
    RankOf,
    Shape,
    Tensors,
    TopiBuilder,
    float_property,
    image_axes,
    int_property,
    ints,
    maximum,
    register_relay_op,
    required_ints_property,
    string_property,
    with_flat,
)
from xrelay.dialects.relay.ops.tensor.movement import MovementOp

IMAGE_LAYOUTS = ("NCHW", "NHWC")


class PixelBlockOp(MovementOp):
    """Base of the ops that convert between channels and square blocks of pixels, in `layout` "NCHW" or "NHWC".

    Constraints shared by both:
    - C1: `block_size` is 1 or more.
    - C2: `layout` is "NCHW" or "NHWC".
    - C3: the data has four axes.
    """

    QUANTIZATION = Quantization.MOVEMENT
    CONSTRAINTS = {"C1": AtLeast("block_size", 1), "C2": OneOf("layout", IMAGE_LAYOUTS)}

    block_size = int_property()
    layout = string_property("NCHW")

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the result's extents in the order of the layout; checks C3."""
        facts.require(len(shape) == 4, "C3", f"an image has four axes, found {len(shape)}")
        channel, row, column = self.axes()
        result = list(shape)
        extents = self.extents(facts, shape[channel], shape[row], shape[column])
        result[channel], result[row], result[column] = extents
        return tuple(result)

    def axes(self) -> tuple[int, int, int]:
        """Returns the axes of channels, rows and columns."""
        return image_axes(self.layout)

    def extents(self, facts: Facts, channels: Dim, rows: Dim, columns: Dim) -> tuple[Dim, Dim, Dim]:
        """Returns the extents of these axes in the result."""
        raise NotImplementedError(f"{self.name} has no shape rule")

    def channels_first(self, data: Array) -> Array:
        """Returns the data in the layout NCHW."""
        return data if self.layout.data == "NCHW" else data.transpose(0, 3, 1, 2)

    def to_layout(self, image: Array) -> Array:
        """Returns an image in the layout NCHW in the layout of the op."""
        return image if self.layout.data == "NCHW" else image.transpose(0, 2, 3, 1)

    gradient = gradient_by_numbers


@register_relay_op
class DepthToSpaceOp(PixelBlockOp):
    """Moves groups of channels into square blocks with sides of `block_size` pixels.

    With `mode` "DCR" channel `(i * block_size + j) * c + k` becomes pixel (i, j) of the block in channel k of c; with
    "CRD" channel `(k * block_size + i) * block_size + j` does.

    Constraints:
    - C5: the number of channels is a multiple of the number of pixels of a block.

    Example:
    ```mlir
    %y = relay.nn.depth_to_space(%x) {block_size = 2} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
    ```

    """

    name = "relay.nn.depth_to_space"
    CONSTRAINTS = {**PixelBlockOp.CONSTRAINTS, "C4": OneOf("mode", ("DCR", "CRD"))}

    # Fields of a subclass come first, so those of the base are redeclared in Relay's order.
    block_size = int_property()
    layout = string_property("NCHW")
    mode = string_property("DCR")

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts "CDR", Relay's name for ONNX's "CRD"."""
        return {name: "CRD" if value == "CDR" else value for name, value in attributes.items()}

    def extents(self, facts: Facts, channels: Dim, rows: Dim, columns: Dim) -> tuple[Dim, Dim, Dim]:
        """Returns fewer channels and more rows and columns; checks C5."""
        block = self.block_size.value.data
        facts.require_equal(channels % block**2, 0, "C5", f"channels {channels} modulo pixels of a block {block**2}:")
        return channels // block**2, rows * block, columns * block

    def evaluate(self, data: Array) -> Array:
        """Splits the channels into axes and moves them after rows and columns."""
        block, image = self.block_size.value.data, self.channels_first(data)
        n, channels, rows, columns = image.shape
        depth = channels // block**2
        if self.mode.data == "DCR":
            apart = image.reshape(n, block, block, depth, rows, columns).transpose(0, 3, 4, 1, 5, 2)
        else:
            apart = image.reshape(n, depth, block, block, rows, columns).transpose(0, 1, 4, 2, 5, 3)
        return self.to_layout(apart.reshape(n, depth, rows * block, columns * block))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes the channel from that of the result and the index in the block."""
        data, block, is_dcr = build.operand(0), self.block_size.value.data, self.mode.data == "DCR"
        channel, row, column = self.axes()
        depth = build.result_shape[channel]

        def read(b: Body) -> SSAValue:
            at: list[AffineExpr] = [*b.spatial]
            place = b.spatial[row] % block * block + b.spatial[column] % block
            own = b.spatial[channel]
            at[channel] = b.scaled(place, depth) + own if is_dcr else own * block**2 + place
            at[row], at[column] = b.spatial[row] // block, b.spatial[column] // block
            return b.read(data, *at)

        return [build.compute("depth_to_space", build.result_shape, build.element(data), read)]


@register_relay_op
class SpaceToDepthOp(PixelBlockOp):
    """Moves square blocks with sides of `block_size` pixels into groups of channels.

    Pixel (i, j) of the block in channel k of c becomes channel `(i * block_size + j) * c + k`.

    Constraints:
    - C4: the numbers of rows and columns are multiples of `block_size`.

    Example:
    ```mlir
    %y = relay.nn.space_to_depth(%x) {block_size = 2} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
    ```

    """

    name = "relay.nn.space_to_depth"

    def extents(self, facts: Facts, channels: Dim, rows: Dim, columns: Dim) -> tuple[Dim, Dim, Dim]:
        """Returns more channels and fewer rows and columns; checks C4."""
        block = self.block_size.value.data
        facts.require_equal(rows % block, 0, "C4", f"rows {rows} modulo block size {block}:")
        facts.require_equal(columns % block, 0, "C4", f"columns {columns} modulo block size {block}:")
        return channels * block**2, rows // block, columns // block

    def evaluate(self, data: Array) -> Array:
        """Splits rows and columns into block axes and moves these before the channels."""
        block, image = self.block_size.value.data, self.channels_first(data)
        n, channels, rows, columns = image.shape
        apart = image.reshape(n, channels, rows // block, block, columns // block, block).transpose(0, 3, 5, 1, 2, 4)
        return self.to_layout(apart.reshape(n, channels * block**2, rows // block, columns // block))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes the index in the block from the channel."""
        data, block = build.operand(0), self.block_size.value.data
        channel, row, column = self.axes()
        channels = build.shape(data)[channel]

        def read(b: Body) -> SSAValue:
            at: list[AffineExpr] = [*b.spatial]
            place = b.quotient(b.spatial[channel], channels)
            at[channel] = b.remainder(b.spatial[channel], channels)
            at[row] = b.spatial[row] * block + place // block
            at[column] = b.spatial[column] * block + place % block
            return b.read(data, *at)

        return [build.compute("space_to_depth", build.result_shape, build.element(data), read)]


class BatchBlockOp(MovementOp):
    """Base of the ops that convert between batches and blocks of shape `block_shape` of the axes after the first.

    Constraints shared by both:
    - C1: each extent of `block_shape` is 1 or more.
    - C2: the data has an axis for the batch and one for each extent of a block.
    """

    CONSTRAINTS = {"C1": AtLeast("block_shape", 1)}

    block_shape = required_ints_property()

    def require_blocks(self, facts: Facts, rank: int, pairs: Sequence[int], what: str) -> list[tuple[int, int]]:
        """Returns the pair (before, after) of each axis of a block; checks C2 and C3."""
        count = len(ints(self.block_shape))
        facts.require(rank > count, "C2", f"the data has {rank} axes, {1 + count} are required")
        complete = len(pairs) == 2 * count and all(number >= 0 for number in pairs)
        message = f"{what} must be {2 * count} non-negative numbers, found {list(pairs)}"
        facts.require(complete, "C3", message)
        return list(zip(pairs[::2], pairs[1::2], strict=True))


@register_relay_op
class BatchToSpaceNdOp(BatchBlockOp):
    """Moves groups of batches into blocks of shape `block_shape` of the axes after the first, and crops by `crops`.

    Batch `b * n + k` becomes element b, in row-major order, of each block in batch k of n. `crops` has the numbers of
    elements to remove at the beginning and the end of each axis.

    Constraints:
    - C3: `crops` has two numbers for each axis of a block, and none is negative.
    - C4: the number of batches is a multiple of the number of elements of a block.
    - C5: no more elements are cropped than an axis has.

    Example:
    ```mlir
    %y = relay.nn.batch_to_space_nd(%x) {block_shape = [2, 2], crops = [0, 1, 0, 0]}
        : (tensor<4x2x3x5xf32>) -> tensor<1x3x6x5xf32>
    ```

    """

    name = "relay.nn.batch_to_space_nd"

    # Redeclared to be first, as in Relay.
    block_shape = required_ints_property()
    crops = required_ints_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts pairs: `((0, 1), (0, 0))`."""
        return with_flat(attributes, "crops")

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns fewer batches and longer axes; checks C2 to C5."""
        block = ints(self.block_shape)
        crops = self.require_blocks(facts, len(shape), ints(self.crops), "crops")
        places = prod(block)
        facts.require_equal(shape[0] % places, 0, "C4", f"batches {shape[0]} modulo places of a block {places}:")
        longer: list[Dim] = []
        for extent, size, (before, behind) in zip(shape[1:], block, crops, strict=False):
            facts.require_at_least(extent * size, before + behind, "C5", "elements, and cropped elements,")
            longer.append(extent * size - before - behind)
        return (shape[0] // places, *longer, *shape[1 + len(block) :])

    def evaluate(self, data: Array) -> Array:
        """Splits the batch into block axes and moves each after the axis that it extends."""
        block, crops = ints(self.block_shape), ints(self.crops)
        count, batches = len(block), data.shape[0] // prod(block)
        apart = data.reshape(*block, batches, *data.shape[1:])
        turned = [count, *(axis for i in range(count) for axis in (count + 1 + i, i))]
        longer = [extent * size for extent, size in zip(data.shape[1:], block, strict=False)]
        whole = apart.transpose(*turned, *range(2 * count + 1, apart.ndim))
        whole = whole.reshape(batches, *longer, *data.shape[1 + count :])
        ends = zip(crops[::2], crops[1::2], longer, strict=True)
        return whole[(slice(None), *(slice(before, extent - after) for before, after, extent in ends))]

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes the batch from that of the result and the index in the block."""
        data, block, crops = build.operand(0), ints(self.block_shape), ints(self.crops)
        batches = build.result_shape[0]

        def read(b: Body) -> SSAValue:
            at: list[AffineExpr] = [*b.spatial]
            place: AffineExpr = AffineConstantExpr(0)
            for axis, (size, before) in enumerate(zip(block, crops[::2], strict=True), 1):
                index = b.spatial[axis] + before
                place, at[axis] = place * size + index % size, index // size
            at[0] = b.scaled(place, batches) + b.spatial[0]
            return b.read(data, *at)

        return [build.compute("batch_to_space_nd", build.result_shape, build.element(data), read)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the inverse rearrangement of the gradient, with zeros for cropped elements."""
        shape: dict[str, AttributeValue] = {"block_shape": self.block_shape, "paddings": self.crops}
        return [build.reshape_like(build.op("nn.space_to_batch_nd", of, **shape), self.data)]


@register_relay_op
class SpaceToBatchNdOp(BatchBlockOp):
    """Moves blocks of shape `block_shape` of the axes after the first into groups of batches.

    The axes are first padded with `pad_value`, by the two numbers of elements that `paddings` has for each, before and
    after. Element b, in row-major order, of each block in batch k of n becomes batch `b * n + k`.

    Constraints:
    - C3: `paddings` has two numbers for each axis of a block, and none is negative.
    - C4: the padded extents are multiples of the block's.

    Example:
    ```mlir
    %y = relay.nn.space_to_batch_nd(%x) {block_shape = [2, 2], paddings = [0, 1, 0, 0]}
        : (tensor<1x3x6x5xf32>) -> tensor<4x2x3x5xf32>
    ```

    """

    name = "relay.nn.space_to_batch_nd"

    # Redeclared to be first, as in Relay.
    block_shape = required_ints_property()
    paddings = required_ints_property()
    pad_value = float_property(0.0)

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts pairs: `((0, 1), (0, 0))`."""
        return with_flat(attributes, "paddings")

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns more batches and shorter axes; checks C2 to C4."""
        block = ints(self.block_shape)
        paddings = self.require_blocks(facts, len(shape), ints(self.paddings), "paddings")
        shorter: list[Dim] = []
        for extent, size, (before, behind) in zip(shape[1:], block, paddings, strict=False):
            filled = extent + before + behind
            facts.require_equal(filled % size, 0, "C4", f"places {filled} modulo those of a block {size}:")
            shorter.append(filled // size)
        return (shape[0] * prod(block), *shorter, *shape[1 + len(block) :])

    def evaluate(self, data: Array) -> Array:
        """Splits the axes into block axes and moves these before the batch."""
        block, paddings = ints(self.block_shape), ints(self.paddings)
        count = len(block)
        pairs = [(0, 0), *zip(paddings[::2], paddings[1::2], strict=True), *[(0, 0)] * (data.ndim - 1 - count)]
        filled = np.pad(data, pairs, constant_values=np.asarray(self.pad_value.value.data).astype(data.dtype))
        split = [part for extent, size in zip(filled.shape[1:], block, strict=False) for part in (extent // size, size)]
        rest = filled.shape[1 + count :]
        apart = filled.reshape(filled.shape[0], *split, *rest)
        turned = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(2 * count + 1, apart.ndim)]
        return apart.transpose(turned).reshape(filled.shape[0] * prod(block), *split[::2], *rest)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes the index in the block from the batch; elements outside of the data are the pad value."""
        data, block, before = build.operand(0), ints(self.block_shape), ints(self.paddings)[::2]
        shape, element, value = build.shape(data), build.element(data), build.held("pad_value")
        blocked = range(1, len(block) + 1)

        def read(b: Body) -> SSAValue:
            at: list[IndexLike] = [*b.spatial]
            place, at[0] = b.quotient(b.spatial[0], shape[0]), b.remainder(b.spatial[0], shape[0])
            for axis in reversed(blocked):
                size = block[axis - 1]
                at[axis] = b.spatial[axis] * size + place % size - before[axis - 1]
                place = place // size
            is_inside = b.in_bounds([at[axis] for axis in blocked], [shape[axis] for axis in blocked])
            return b.guard(is_inside, element, lambda: b.read(data, *at), value)

        return [build.compute("space_to_batch_nd", build.result_shape, element, read)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the inverse rearrangement of the gradient, without padding."""
        shape: dict[str, AttributeValue] = {"block_shape": self.block_shape, "crops": self.paddings}
        return [build.reshape_like(build.op("nn.batch_to_space_nd", of, **shape), self.data)]


@register_relay_op
class DilateOp(MovementOp):
    """The data with its elements `strides` apart along each axis and `dilation_value` between them.

    Constraints:
    - C2: there is one stride for each axis.

    Example:
    ```mlir
    %y = relay.nn.dilate(%x) {strides = [1, 2]} : (tensor<4x8xf32>) -> tensor<4x15xf32>
    ```

    """

    name = "relay.nn.dilate"
    CONSTRAINTS = {"C1": AtLeast("strides", 1)}

    strides = required_ints_property()
    dilation_value = float_property(0.0)

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns `(n - 1) * stride + 1` for an axis of n elements, 0 for an empty axis; checks C2."""
        strides = ints(self.strides)
        facts.require(len(strides) == len(shape), "C2", f"{len(strides)} strides for {len(shape)} axes")
        return tuple(
            maximum(0, (extent - 1) * stride + 1) if stride > 1 else extent
            for extent, stride in zip(shape, strides, strict=True)
        )

    def evaluate(self, data: Array) -> Array:
        """Assigns the data to a strided slice of a filled array."""
        strides = ints(self.strides)
        shape = [max(0, (extent - 1) * stride + 1) for extent, stride in zip(data.shape, strides, strict=True)]
        result = np.full(shape, np.asarray(self.dilation_value.value.data).astype(data.dtype), data.dtype)
        result[tuple(slice(None, None, stride) for stride in strides)] = data
        return result

    def compute(self, build: TopiBuilder) -> Tensors:
        """Reads the data if every index is a multiple of its stride, else the dilation value."""
        data, strides, value = build.operand(0), ints(self.strides), build.held("dilation_value")
        element = build.element(data)
        apart = [axis for axis, stride in enumerate(strides) if stride > 1]

        def read(b: Body) -> SSAValue:
            own = [index // stride for index, stride in zip(b.spatial, strides, strict=True)]
            is_own = b.in_bounds([b.spatial[axis] % strides[axis] for axis in apart], [1] * len(apart))
            return b.guard(is_own, element, lambda: b.read(data, *own), value)

        return [build.compute("dilate", build.result_shape, element, read)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient at the elements of the data."""
        strides = ints(self.strides)
        begin, end = [0] * len(strides), [END] * len(strides)
        return [build.reshape_like(build.op("strided_slice", of, begin=begin, end=end, strides=strides), self.data)]


@register_relay_op
class YoloReorgOp(MovementOp):
    """Moves pixels of blocks into channels, as Darknet does: (N, C, H, W) becomes (N, C·s², H/s, W/s) for `stride` s.

    The data is reshaped to (N, C/s², H·s, W·s), the pixels of its s by s blocks become leading channels, and the result
    (N, C, H, W) is reshaped to the shape above.

    Constraints:
    - C3: the number of channels is a multiple of the number of pixels of a block; rows and columns are multiples of the
      stride.

    Example:
    ```mlir
    %y = relay.vision.yolo_reorg(%x) {stride = 2} : (tensor<1x8x4x6xf32>) -> tensor<1x32x2x3xf32>
    ```

    """

    name = "relay.vision.yolo_reorg"
    CONSTRAINTS = {"C1": AtLeast("stride"), "C2": RankOf(0, 4, 4)}

    stride = int_property()

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns more channels and fewer rows and columns; checks C3."""
        batch, channels, rows, columns = shape
        stride = self.stride.value.data
        for extent, by, what in (
            (channels, stride**2, "channels"),
            (rows, stride, "rows"),
            (columns, stride, "columns"),
        ):
            facts.require_equal(extent % by, 0, "C3", f"{what} {extent} modulo {by}:")
        return batch, channels * stride**2, rows // stride, columns // stride

    def evaluate(self, data: Array) -> Array:
        """Splits rows and columns into block axes and moves these before the channels."""
        s, (n, channels, rows, columns) = self.stride.value.data, data.shape
        apart = data.reshape(n, channels // s**2, rows, s, columns, s).transpose(0, 3, 5, 1, 2, 4)
        return apart.reshape(n, channels * s**2, rows // s, columns // s)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes the index in the block from the channel, after a reshape of the result to the data's shape."""
        from xrelay.dialects.relay.computes.movement import reshaped_indices

        data, stride = build.operand(0), self.stride.value.data
        shape, result = build.shape(data), build.result_shape
        batch, channels, rows, columns = shape
        # Avoids a division by zero in index expressions for data without channels.
        depth = channels // stride**2 or 1

        def read(b: Body) -> SSAValue:
            n, channel, row, column = map(b.expr, reshaped_indices(b, b.spatial, result, shape))
            place, channel = b.quotient(channel, depth), b.remainder(channel, depth)
            apart = [n, channel, row, place // stride, column, place % stride]
            return b.read(data, *reshaped_indices(b, apart, (batch, depth, rows, stride, columns, stride), shape))

        return [build.compute("yolo_reorg", result, build.element(data), read)]

    gradient = gradient_by_numbers
