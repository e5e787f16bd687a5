"""`relay.nn.sparse_conv2d`: a convolution with a block-sparse weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.block_sparse import require_sparse
from xrelay.dialects.relay.core.constraints import Constraints, OneOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.properties import ints_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.nn.sparse import SparseOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Shape, product

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body


@register_relay_op
@irdl_op_definition
class SparseConv2dOp(SparseOp):
    """A convolution with a block-sparse weight (n, k) and stride 1; the result is as large as the data.

    The data is padded with s // 2 zeros on each side for a `kernel_size` of s by s. Row o of the weight is output
    channel o. Its columns are the flattened weight of `nn.conv2d`: for layout "NHWC" the kernel's rows, its columns and
    the input channels (HWI), for "NCHW" with the input channels first (IHW).

    The values are blocks of r rows and c columns, or of r rows and one column. `relay.nn.sparse_dense` documents the
    positions of blocks and the errors.

    Constraints:
    - C7: the data has rank 4, the values have rank 2 or 3.
    - C8: there are as many column indices as blocks, and `indptr` has at least one element.
    - C9: blocks have elements, and the weight's columns are a multiple of theirs.
    - C10: `kernel_size` is an odd number, twice.
    - C11: booleans are not multiplied.

    Example:
    ```mlir
    %y = relay.nn.sparse_conv2d(%x, %v, %i, %p) {layout = "NCHW", kernel_size = [3, 3]}
        : (tensor<1x16x32x32xf32>, tensor<20x16x1xf32>, tensor<20xi32>, tensor<3xi32>) -> tensor<1x32x32x32xf32>
    ```

    """

    name = "relay.nn.sparse_conv2d"
    CONSTRAINTS: ClassVar[Constraints] = {**SparseOp.PARTS, "C6": OneOf("layout", ("NHWC", "NCHW"))}

    layout = string_property("NHWC")
    kernel_size = ints_property(1, 1)

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts one size for both sides."""
        size = attributes.get("kernel_size")
        return {**attributes, "kernel_size": [size, size]} if isinstance(size, int) else attributes

    @property
    def channel_axis(self) -> int:
        """The axis of the data's channels."""
        return 3 if self.layout.data == "NHWC" else 1

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the weight's rows as channels; checks C7 to C11."""
        data, weight = facts.shape(0), facts.shape(1)
        fits = len(data) == 4 and len(weight) in (2, 3)
        facts.require(fits, "C7", f"needs ranks 4, and 2 or 3, found {len(data)} and {len(weight)}")
        size = ints(self.kernel_size)
        is_odd = len(size) == 2 and size[0] == size[1] and size[0] % 2 == 1 and size[0] > 0
        facts.require(is_odd, "C10", f"the kernel {list(size)} has no centre")
        axis = self.channel_axis
        height = require_sparse(facts, data[axis] * size[0] * size[1], ("C8", "C9")).height
        self.require_numbers(facts, "C11")
        return tensor_type((*data[:axis], height, *data[axis + 1 :]), facts.element(0))

    def evaluate(self, data: Array, weight: Array, indices: Array, indptr: Array) -> Array:
        """Multiplies the matrix of all windows by the weight."""
        from xrelay.dialects.relay.meaning.block_sparse import times_transpose

        axis, (size, _) = self.channel_axis, ints(self.kernel_size)
        images = np.moveaxis(data, axis, -1)
        count, height, width, channels = images.shape
        # An image without rows or columns has no windows, but numpy requires space for one.
        room = [
            (0, 0) if edge in (0, 3) else (size // 2, max(size // 2, size - extent))
            for edge, extent in enumerate(images.shape)
        ]
        padded = np.pad(images, room)
        windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (1, 2))[:, :height, :width]
        order = (0, 1, 2, 4, 5, 3) if axis == 3 else (0, 1, 2, 3, 4, 5)
        matrix = windows.transpose(order).reshape(count * height * width, channels * size * size)
        blocks = weight.reshape((*weight.shape, *(1,) * (3 - weight.ndim)))
        result = times_transpose(matrix, blocks, indices, indptr)
        return np.moveaxis(result.reshape(count, height, width, result.shape[1]), -1, axis).copy()

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Multiplies the weight by the matrix whose columns are all windows."""
        from xrelay.dialects.relay.computes.block_sparse import SparseBlocks

        data, weight, indices, indptr = (build.operand(index) for index in range(4))
        axis, element = self.channel_axis, build.element(data)
        image, columns = _Image(build.shape(data), axis), self._windows(build, data)
        blocks = SparseBlocks(build, weight, indices, indptr, build.shape(columns)[0])
        sums, rows = blocks.sums_of_many(columns), blocks.sizes.rows

        def fill(b: Body) -> SSAValue:
            channel, place = b.spatial[axis], image.number(b, b.spatial)
            return b.read(sums, b.quotient(channel, rows), b.remainder(channel, rows), place)

        return [build.compute("sparse_conv2d", build.result_shape, element, fill)]

    def _windows(self, build: TopiBuilder, data: SSAValue) -> SSAValue:
        """Returns the elements of all windows, zero-padded: (columns of the weight, pixels)."""
        axis, (size, _) = self.channel_axis, ints(self.kernel_size)
        image, element = _Image(build.shape(data), axis), build.element(data)
        space = {"k": image.channels * (size * size), "m": product((image.count, image.height, image.width))}

        def fill(b: Body) -> SSAValue:
            k, m = b.spatial
            if axis == 3:
                tap, channel = b.quotient(k, image.channels), b.remainder(k, image.channels)
            else:
                channel, tap = b.quotient(k, size * size), b.remainder(k, size * size)
            number, y, x = image.point(b, m)
            y, x = y + b.quotient(tap, size) - size // 2, x + b.remainder(tap, size) - size // 2
            at = image.access(number, y, x, channel)
            if size == 1:
                return b.read(data, *at)
            inside = b.in_bounds([y, x], [image.height, image.width])
            return b.guard(inside, element, lambda: b.read(data, *at), lambda: b.constant(0, element))

        return build.compute("windows", space, element, fill)


class _Image:
    """Linear indices of pixels of images whose channels are at an axis."""

    def __init__(self, shape: Shape, axis: int):
        self._axis = axis
        self.channels = shape[axis]
        self.count, self.height, self.width = (*shape[:axis], *shape[axis + 1 :])

    def number(self, b: Body, point: Sequence[AffineExpr]) -> AffineExpr:
        """Returns the linear index of a pixel."""
        image, y, x = (*point[: self._axis], *point[self._axis + 1 :])
        return b.scaled(b.scaled(image, self.height) + y, self.width) + x

    def point(self, b: Body, number: AffineExpr) -> tuple[AffineExpr, AffineExpr, AffineExpr]:
        """Returns the image, row and column of a linear index."""
        row = b.quotient(number, self.width)
        return b.quotient(row, self.height), b.remainder(row, self.height), b.remainder(number, self.width)

    def access(self, image: AffineExpr, y: AffineExpr, x: AffineExpr, channel: AffineExpr) -> list[AffineExpr]:
        """Returns the indices of an element."""
        at = [image, y, x]
        at.insert(self._axis, channel)
        return at
