"""Convolutions of one, two and three axes, on plain channels such as `topi.conv2d_nchw`, and on blocked channels.

`topi.conv2d_nchwc` has blocks of channels, and `topi.conv2d_nchwc_terms` also sums products in groups of four.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.build import Body, compute
from xrelay.dialects.topi.named.base import Expansion, WindowOp, add_product, verify_product_types, verify_ranks
from xrelay.dialects.topi.shapes import ints, known_shape_of, shape_list, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, certainly_differ
from xrelay.index_algebra.windows import WindowAxis, of_any_size


class ConvBaseOp(WindowOp):
    """Operands, properties and checks of the convolutions of all layouts."""

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    groups = prop_def(IntegerAttr[IntegerType], default_value=IntegerAttr(1, i64))

    assembly_format = "`(` $data `,` $weight `)` attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        data: SSAValue,
        weight: SSAValue,
        result_type: Attribute,
        *,
        strides: Sequence[int] | None = None,
        padding: Sequence[int] | None = None,
        dilation: Sequence[int] | None = None,
        groups: int = 1,
    ):
        rank = len(self.AXES)
        super().__init__(
            operands=[data, weight],
            properties={
                "strides": ints([1] * rank if strides is None else strides),
                "padding": ints([0] * 2 * rank if padding is None else padding),
                "dilation": ints([1] * rank if dilation is None else dilation),
                "groups": IntegerAttr(groups, i64),
            },
            result_types=[result_type],
        )

    @property
    def window(self) -> tuple[WindowAxis[int], ...]:
        """The sliding window, with the kernel size of the weight."""
        return self.window_over(known_shape_of(self.weight)[self.spatial])

    def verify_shapes(self, channels: Dim, filters: int, depth: int, result: Sequence[int]) -> None:
        """Checks C3 and C4 for `channels` of data and `filters` of `depth` channels each."""
        groups = self.groups.value.data
        if groups < 1 or filters % groups or certainly_differ(channels, depth * groups):
            raise VerifyException(
                f"[{self.name} C3] {channels} data channels and {filters} filters of {depth} channels do not form "
                f"{groups} groups"
            )
        data, actual = shape_of(self.data), shape_of(self.tensor)
        images = [of_any_size(axis).count(extent) for axis, extent in zip(self.window, data[self.spatial], strict=True)]
        expected = (data[0], result[0], *images, *result[1:])
        few = any(isinstance(image, int) and image < 1 for image in images)
        if few or any(map(certainly_differ, actual, expected)):
            raise VerifyException(f"[{self.name} C4] result has shape {shape_list(actual)}, not {shape_list(expected)}")

    def verify_types(self) -> None:
        """Checks C5."""
        types = [tensor_type(value).element_type for value in (self.data, self.weight, self.tensor)]
        verify_product_types(self.name, "C5", *types)

    def padded_image(self, expansion: Expansion) -> SSAValue:
        """The image with zeros around it, if there is padding."""
        pad = self.padded(self.data, self.window, 0)
        return self.data if pad is None else expansion.add(pad)

    def places(self, at: Sequence[AffineExpr], taps: Sequence[AffineExpr]) -> list[AffineExpr]:
        """The positions in the padded image of the taps of the window at `at`."""
        return [axis.place(index, tap) + axis.before for axis, index, tap in zip(self.window, at, taps, strict=True)]

    def block_variables(self) -> dict[str, Dim]:
        """The indices of a result whose channels are blocked."""
        n, co, *image, ci = shape_of(self.tensor)
        return {"n": n, "co": co, **dict(zip(self.AXES.lower(), image, strict=True)), "ci": ci}

    def finish(
        self,
        expansion: Expansion,
        spatial: Mapping[str, Dim],
        reduce: Mapping[str, Dim],
        body: Callable[[Body], list[SSAValue]],
    ) -> Expansion:
        """Adds the compute of the result, a sum from 0."""
        element = tensor_type(self.tensor).element_type
        return expansion.finish(compute(f"conv{len(self.AXES)}d", spatial, [element], body, reduce=reduce, init=[0]))


class ConvPlainOp(ConvBaseOp):
    """Base of the convolutions on plain images, with the semantics and constraints of `topi.conv2d_nchw`."""

    def verify_(self) -> None:
        """Checks C1 to C5."""
        data, weight, result = shape_of(self.data), known_shape_of(self.weight), shape_of(self.tensor)
        rank = [2 + len(self.AXES)]
        verify_ranks(self.name, "C1", [("data", data, rank), ("weight", weight, rank), ("result", result, rank)])
        self.verify_shapes(data[1], weight[0], weight[1], [weight[0]])
        self.verify_types()

    def expand(self) -> Expansion:
        """Expands to a pad, if there is padding, and the convolution."""
        expansion = Expansion()
        data = self.padded_image(expansion)
        filters, depth, *kernel = known_shape_of(self.weight)
        per_group = filters // self.groups.value.data

        def body(b: Body) -> list[SSAValue]:
            n, c, *at = b.spatial
            k, *taps = b.reduction
            channel = c // per_group * depth + k
            a = b.read(data, n, channel, *self.places(at, taps))
            f = b.read(self.weight, c, k, *taps)
            return add_product(b, a, f)

        spatial, reduce = self.image_variables(shape_of(self.tensor)), {"k": depth, **self.taps(kernel)}
        return self.finish(expansion, spatial, reduce, body)


@irdl_op_definition
class Conv1dNcwOp(ConvPlainOp):
    """Convolution of sequences N×C×W with O filters of (C / groups)×KW taps, like `topi.conv2d_nchw`.

    ```mlir
    func.func @conv(%x: tensor<1x8x9xf32>, %w: tensor<16x8x3xf32>) -> tensor<1x16x5xf32> {
      %r = topi.conv1d_ncw(%x, %w) {strides = array<i64: 2>, padding = array<i64: 1, 1>}
           : (tensor<1x8x9xf32>, tensor<16x8x3xf32>) -> tensor<1x16x5xf32>
      func.return %r : tensor<1x16x5xf32>
    }
    ```
    """

    name = "topi.conv1d_ncw"
    AXES: ClassVar[str] = "W"


@irdl_op_definition
class Conv2dNchwOp(ConvPlainOp):
    """Convolution of images N×C×H×W with O filters of (C / groups)×KH×KW taps.

    `result[n, o, h, w] = Σ_{k, y, x} data[n, g * C/groups + k, h * sh + y * dh - top, w * sw + x * dw - left] *
    weight[o, k, y, x]`, with `g = o // (O / groups)` and zero outside of the image.

    - C1: data, weight and result have rank 4.
    - C2: strides and dilation are two positive numbers; padding is top, left, bottom and right, none negative.
    - C3: groups divides the filters; the data's channels are groups times the weight's.
    - C4: the result's shape is batch, filters, and as many windows as fit into the padded image, at least one.
    - C5: data and weight have the same element type, and the result has the same or a wider type of its kind; or they
      are ui8, i8 and i32.

    ```mlir
    func.func @conv(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x16x5x5xf32> {
      %r = topi.conv2d_nchw(%x, %w) {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
           : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x5x5xf32>
      func.return %r : tensor<1x16x5x5xf32>
    }
    ```
    """

    name = "topi.conv2d_nchw"
    AXES: ClassVar[str] = "HW"


@irdl_op_definition
class Conv3dNcdhwOp(ConvPlainOp):
    """Convolution of volumes N×C×D×H×W with O filters of (C / groups)×KD×KH×KW taps, like `topi.conv2d_nchw`.

    ```mlir
    func.func @conv(%x: tensor<1x2x5x5x5xf32>, %w: tensor<4x2x3x3x3xf32>) -> tensor<1x4x3x3x3xf32> {
      %r = topi.conv3d_ncdhw(%x, %w) : (tensor<1x2x5x5x5xf32>, tensor<4x2x3x3x3xf32>) -> tensor<1x4x3x3x3xf32>
      func.return %r : tensor<1x4x3x3x3xf32>
    }
    ```
    """

    name = "topi.conv3d_ncdhw"
    AXES: ClassVar[str] = "DHW"


class ConvBlockedOp(ConvBaseOp):
    """Base of the convolutions on blocked channels, with the semantics and constraints of `topi.conv2d_nchwc`."""

    @property
    def depthwise(self) -> bool:
        """Whether every group is one channel and one filter."""
        weight = known_shape_of(self.weight)
        return self.groups.value.data > 1 and self.groups.value.data == weight[0] * weight[-1]

    def verify_(self) -> None:
        """Checks C1 to C6."""
        data, weight, result = shape_of(self.data), known_shape_of(self.weight), shape_of(self.tensor)
        rank = 3 + len(self.AXES)
        ranks = [("data", data, [rank]), ("weight", weight, [rank + 1]), ("result", result, [rank])]
        verify_ranks(self.name, "C1", ranks)
        depth_block, filter_block = weight[-2:]
        filters, depth = weight[0] * filter_block, weight[1] * depth_block
        self.verify_shapes(data[1] * data[-1], filters, depth, [weight[0], filter_block])
        self.verify_types()
        self._verify_blocks(data[-1], depth_block, filter_block, depth)

    def _verify_blocks(self, data: Dim, weight: int, result: int, depth: int) -> None:
        groups = self.groups.value.data
        if not isinstance(data, int):
            raise VerifyException(f"[{self.name} C6] the block of {data} data channels is unknown")
        if self.depthwise:
            legal = depth == weight == 1 and data == result
        else:
            per_group = known_shape_of(self.weight)[0] * result // groups
            legal = weight == data and (groups == 1 or (depth % data == 0 and per_group % result == 0))
        if not legal:
            raise VerifyException(
                f"[{self.name} C6] blocks of {data} data, {weight} weight and {result} result channels do not fit "
                f"{groups} groups of depth {depth}"
            )

    def _tap(self, b: Body, data: SSAValue, at: list[AffineExpr]) -> SSAValue:
        """The element at `at`, a position in the padded image; `data` is that image unless the op is depthwise."""
        if not self.depthwise or not any(axis.before or axis.after for axis in self.window):
            return b.read(data, *at)
        at[self.spatial] = [index - axis.before for index, axis in zip(at[self.spatial], self.window, strict=True)]
        element = tensor_type(data).element_type
        return b.guard(
            b.in_bounds(at[self.spatial], shape_of(data)[self.spatial]),
            element,
            lambda: b.read(data, *at),
            0,
        )

    def expand(self) -> Expansion:
        """Expands to a pad, if there is padding, and the convolution.

        If depthwise, the image is read under a condition instead: nine multiply-adds per element do not justify another
        pass over the data, and the condition holds for all but the first and last columns and rows of a tile.
        """
        expansion = Expansion()
        data = self.data if self.depthwise else self.padded_image(expansion)
        co, ko, *kernel, ki, _ = known_shape_of(self.weight)
        blocks_per_group = 1 if self.depthwise else co // self.groups.value.data

        def body(b: Body) -> list[SSAValue]:
            n, co_, *place, ci_ = b.spatial
            ko_, *taps, ki_ = b.reduction
            block, lane = (co_, ci_) if self.depthwise else (co_ // blocks_per_group * ko + ko_, ki_)
            a = self._tap(b, data, [n, block, *self.places(place, taps), lane])
            f = b.read(self.weight, co_, ko_, *taps, ki_, ci_)
            return add_product(b, a, f)

        spatial = self.block_variables()
        reduce: dict[str, Dim] = {"ko": ko, **self.taps(kernel), "ki": ki}
        return self.finish(expansion, spatial, reduce, body)


@irdl_op_definition
class Conv1dNcwcOp(ConvBlockedOp):
    """Convolution of sequences in blocks of channels, N×(C/i)×W×i, like `topi.conv2d_nchwc`.

    ```mlir
    func.func @conv(%x: tensor<1x1x9x8xf32>, %w: tensor<2x1x3x8x8xf32>) -> tensor<1x2x7x8xf32> {
      %r = topi.conv1d_ncwc(%x, %w) : (tensor<1x1x9x8xf32>, tensor<2x1x3x8x8xf32>) -> tensor<1x2x7x8xf32>
      func.return %r : tensor<1x2x7x8xf32>
    }
    ```
    """

    name = "topi.conv1d_ncwc"
    AXES: ClassVar[str] = "W"


@irdl_op_definition
class Conv2dNchwcOp(ConvBlockedOp):
    """Convolution of images whose channels are blocked: data N×(C/i)×H×W×i, weight (O/o)×(D/d)×KH×KW×d×o.

    The same sums as `topi.conv2d_nchw`, with channel `c` at `[c // i, …, c % i]`; the result is N×(O/o)×OH×OW×o, so
    that a block is a vector. D is the depth of a filter, C / groups. If D is 1 (depthwise) the blocks of data and
    result coincide and d is 1.

    - C1: data and result have rank 5, weight has rank 6.
    - C2: strides and dilation are two positive numbers; padding is top, left, bottom and right, none negative.
    - C3: groups divides the filters; the data's channels are groups times the weight's depth.
    - C4: the result's shape is batch, blocks of filters, as many windows as fit into the padded image, block.
    - C5: data and weight have the same element type; the result has the same or a wider type of its kind.
    - C6: weight and data have the same channel block; with several groups each group consists of whole blocks, or every
      group is one channel and one filter, d is 1, and data and result have the same block.

    ```mlir
    func.func @conv(%x: tensor<1x1x9x9x8xf32>, %w: tensor<2x1x3x3x8x8xf32>) -> tensor<1x2x7x7x8xf32> {
      %r = topi.conv2d_nchwc(%x, %w) : (tensor<1x1x9x9x8xf32>, tensor<2x1x3x3x8x8xf32>) -> tensor<1x2x7x7x8xf32>
      func.return %r : tensor<1x2x7x7x8xf32>
    }
    ```
    """

    name = "topi.conv2d_nchwc"
    AXES: ClassVar[str] = "HW"


@irdl_op_definition
class Conv3dNcdhwcOp(ConvBlockedOp):
    """Convolution of volumes in blocks of channels, N×(C/i)×D×H×W×i, like `topi.conv2d_nchwc`.

    ```mlir
    func.func @conv(%x: tensor<1x1x5x5x5x8xf32>, %w: tensor<2x1x3x3x3x8x8xf32>) -> tensor<1x2x3x3x3x8xf32> {
      %r = topi.conv3d_ncdhwc(%x, %w)
           : (tensor<1x1x5x5x5x8xf32>, tensor<2x1x3x3x3x8x8xf32>) -> tensor<1x2x3x3x3x8xf32>
      func.return %r : tensor<1x2x3x3x3x8xf32>
    }
    ```
    """

    name = "topi.conv3d_ncdhwc"
    AXES: ClassVar[str] = "DHW"


class ConvTermsOp(ConvBaseOp):
    """Base of the convolutions with terms, with the semantics and constraints of `topi.conv2d_nchwc_terms`."""

    def verify_(self) -> None:
        """Checks C1 to C6."""
        data, weight, result = shape_of(self.data), known_shape_of(self.weight), shape_of(self.tensor)
        rank = 3 + len(self.AXES)
        ranks = [("data", data, [rank]), ("weight", weight, [rank + 1]), ("result", result, [rank])]
        verify_ranks(self.name, "C1", ranks)
        filter_block, terms = weight[-2:]
        filters, depth = weight[0] * filter_block, weight[1] * terms
        self.verify_shapes(data[1] * data[-1], filters, depth, [weight[0], filter_block])
        self.verify_types()
        block, groups = data[-1], self.groups.value.data
        if not isinstance(block, int) or block % terms:
            raise VerifyException(f"[{self.name} C6] blocks of {terms} do not divide the data's of {block}")
        if groups > 1 and (depth % block or filters // groups % filter_block):
            raise VerifyException(
                f"[{self.name} C6] blocks of {block} data and {filter_block} result channels do not fit {groups} "
                f"groups of {depth} channels and {filters // groups} filters"
            )

    def expand(self) -> Expansion:
        """Expands to a pad, if there is padding, and the convolution."""
        expansion = Expansion()
        data = self.padded_image(expansion)
        co, small, *kernel, _, terms = known_shape_of(self.weight)
        per_block = self._block // terms
        blocks, blocks_per_group = small // per_block, co // self.groups.value.data

        def body(b: Body) -> list[SSAValue]:
            n, co_, *place, ci_ = b.spatial
            ko_, term, kq_, *taps = b.reduction
            block = co_ // blocks_per_group * blocks + ko_
            a = b.read(data, n, block, *self.places(place, taps), kq_ * terms + term)
            f = b.read(self.weight, co_, ko_ * per_block + kq_, *taps, ci_, term)
            return add_product(b, a, f)

        spatial = self.block_variables()
        reduce: dict[str, Dim] = {"ko": blocks, "t": terms, "kq": per_block, **self.taps(kernel)}
        return self.finish(expansion, spatial, reduce, body)

    @property
    def _block(self) -> int:
        """The number of contiguous channels of the data."""
        return tensor_type(self.data).get_shape()[-1]


@irdl_op_definition
class Conv1dNcwcTermsOp(ConvTermsOp):
    """Convolution of sequences N×(C/i)×W×i with filters (O/o)×(D/t)×KW×o×t, like `topi.conv2d_nchwc_terms`.

    ```mlir
    func.func @conv(%x: tensor<1x1x9x8xui8>, %w: tensor<2x2x3x8x4xi8>) -> tensor<1x2x7x8xi32> {
      %r = topi.conv1d_ncwc_terms(%x, %w) : (tensor<1x1x9x8xui8>, tensor<2x2x3x8x4xi8>) -> tensor<1x2x7x8xi32>
      func.return %r : tensor<1x2x7x8xi32>
    }
    ```
    """

    name = "topi.conv1d_ncwc_terms"
    AXES: ClassVar[str] = "W"


@irdl_op_definition
class Conv2dNchwcTermsOp(ConvTermsOp):
    """Convolution of images in blocks of channels with filters whose channels are contiguous in small blocks.

    Data is N×(C/i)×H×W×i, weight (O/o)×(D/t)×KH×KW×o×t, the result N×(O/o)×OH×OW×o. The same sums as
    `topi.conv2d_nchw`, with channel `c` of data at `[c // i, …, c % i]` and of a filter at `[c // t, …, c % t]`: the t
    products that one instruction sums in each lane are contiguous, followed by those of the next lane.

    - C1: data and result have rank 5, weight rank 6.
    - C2: strides and dilation are two positive numbers; padding is top, left, bottom and right, none negative.
    - C3: groups divides the filters; the data's channels are groups times the weight's depth.
    - C4: the result's shape is batch, blocks of filters, as many windows as fit into the padded image, block.
    - C5: data and weight have the same element type, and the result has the same or a wider type of its kind; or they
      are ui8, i8 and i32.
    - C6: t divides the data's block; with several groups each group consists of whole blocks.

    ```mlir
    func.func @conv(%x: tensor<1x1x9x9x8xui8>, %w: tensor<2x2x3x3x8x4xi8>) -> tensor<1x2x7x7x8xi32> {
      %r = topi.conv2d_nchwc_terms(%x, %w)
           : (tensor<1x1x9x9x8xui8>, tensor<2x2x3x3x8x4xi8>) -> tensor<1x2x7x7x8xi32>
      func.return %r : tensor<1x2x7x7x8xi32>
    }
    ```
    """

    name = "topi.conv2d_nchwc_terms"
    AXES: ClassVar[str] = "HW"


@irdl_op_definition
class Conv3dNcdhwcTermsOp(ConvTermsOp):
    """Convolution of volumes N×(C/i)×D×H×W×i with filters (O/o)×(D/t)×K×o×t, like `topi.conv2d_nchwc_terms`.

    ```mlir
    func.func @conv(%x: tensor<1x1x5x5x5x8xui8>, %w: tensor<2x2x3x3x3x8x4xi8>) -> tensor<1x2x3x3x3x8xi32> {
      %r = topi.conv3d_ncdhwc_terms(%x, %w)
           : (tensor<1x1x5x5x5x8xui8>, tensor<2x2x3x3x3x8x4xi8>) -> tensor<1x2x3x3x3x8xi32>
      func.return %r : tensor<1x2x3x3x3x8xi32>
    }
    ```
    """

    name = "topi.conv3d_ncdhwc_terms"
    AXES: ClassVar[str] = "DHW"
