"""Products of f32 from parts of bf16: `topi.matmul_split`, and the convolution `topi.conv2d_nchwc_split`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BFloat16Type, Float32Type, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.split_floats import CHANNELS, COLUMNS, LARGEST, PAIRS, PARTS
from xrelay.dialects.topi.build import Body, compute
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.named.base import Expansion, NamedOp, add_product, verify_ranks
from xrelay.dialects.topi.named.conv import ConvBaseOp
from xrelay.dialects.topi.named.matmul import rows_and_columns
from xrelay.dialects.topi.shapes import known_shape_of, shape_list, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, certainly_differ
from xrelay.index_algebra.windows import of_any_size


def parts_of_float(b: Body, value: SSAValue) -> list[SSAValue]:
    """Emits the high and the low part of an f32 number."""
    least, most = (b.constant(limit, value.type) for limit in (-LARGEST, LARGEST))
    high = b.convert(b.smallest(b.largest(value, least), most), BFloat16Type())
    return [high, b.convert(b.minus(value, b.convert(high, value.type)), BFloat16Type())]


@irdl_op_definition
class MatmulSplitOp(NamedOp):
    """Rows of data times rows of the weight, both as a high and a low part of bf16, with sums in f32.

    The data is 2×…×K, with the high parts first, the weight 2×(N/b)×(K/t)×b×t as that of `topi.matmul`: the t products
    that one instruction sums are contiguous. `result[…, j]` is the sum over k, and over the pairs (0, 1), (0, 0) and
    (1, 0) of parts (p, q), of `data[p, …, k] * weight[q, j // b, k // t, j % b, k % t]`. The last block of the weight
    may have more columns than the result. The weight may have axes of a stack of matrices after the first one, which
    are axes of the data, too.

    - C1: the data has rank 2 or more, the weight has rank 5 and at most 3 more than the data, and both begin with an
      axis of 2 parts.
    - C2: data's last dimension is the weight's K, and its first axes after the parts are the weight's stack.
    - C3: the result's shape is data's without the first and with the last dimension replaced by the weight's N. The
      last dimension rounded up to whole blocks is N.
    - C4: data and weight are bf16, the result is f32.

    ```mlir
    func.func @dense(%x: tensor<2x4x8xbf16>, %w: tensor<2x2x4x16x2xbf16>) -> tensor<4x32xf32> {
      %r = topi.matmul_split(%x, %w) : (tensor<2x4x8xbf16>, tensor<2x2x4x16x2xbf16>) -> tensor<4x32xf32>
      func.return %r : tensor<4x32xf32>
    }
    ```
    """

    name = "topi.matmul_split"

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    tensor = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "`(` $data `,` $weight `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, data: SSAValue, weight: SSAValue, result_type: Attribute):
        super().__init__(operands=[data, weight], result_types=[result_type])

    def verify_(self) -> None:
        """Checks C1 to C4."""
        data, weight, result = shape_of(self.data), known_shape_of(self.weight), shape_of(self.tensor)
        data_rank, result_rank = max(2, len(data)), max(1, len(data) - 1)
        weight_ranks = list(range(5, max(6, len(data) + 3)))
        ranks = [("data", data, [data_rank]), ("weight", weight, weight_ranks), ("result", result, [result_rank])]
        verify_ranks(self.name, "C1", ranks)
        if certainly_differ(data[0], PARTS) or weight[0] != PARTS:
            raise VerifyException(f"[{self.name} C1] data has {data[0]} parts and weight {weight[0]}, not {PARTS}")
        _, *stack, blocks, groups, block, terms = weight
        if any(map(certainly_differ, data[1:], stack)):
            raise VerifyException(f"[{self.name} C2] data is {shape_list(data)}, weight a stack of {shape_list(stack)}")
        if certainly_differ(data[-1], groups * terms):
            raise VerifyException(f"[{self.name} C2] data has rows of {data[-1]} elements, weight of {groups * terms}")
        # A partial last block has as many columns as the result needs.
        columns = result[-1]
        fits = not isinstance(columns, int) or -(-columns // block) == blocks
        expected = (*data[1:-1], blocks * block)
        if not fits or any(map(certainly_differ, result[:-1], expected)):
            raise VerifyException(f"[{self.name} C3] result has shape {shape_list(result)}, not {shape_list(expected)}")
        types = [tensor_type(value).element_type for value in (self.data, self.weight, self.tensor)]
        if types != [BFloat16Type(), BFloat16Type(), Float32Type()]:
            raise VerifyException(f"[{self.name} C4] elements are {', '.join(map(str, types))}, not bf16, bf16 and f32")

    def expand(self) -> Expansion:
        """Expands to one compute, whose first reduction axis enumerates the pairs of parts."""
        _, *stack, _, groups, block, terms = known_shape_of(self.weight)

        def body(b: Body) -> list[SSAValue]:
            *rows, j = b.spatial
            pair, k, term = b.reduction
            a = b.read(self.data, pair // 2, *rows, k * terms + term)
            at = [(pair * -1 + 2) // 2, *rows[: len(stack)], j // block, k, j % block, term]
            return add_product(b, a, b.read(self.weight, *at))

        spatial = rows_and_columns(self.tensor)
        reduce: dict[str, Dim] = {"p": len(PAIRS), "k": groups, "t": terms}
        return Expansion().finish(compute("matmul", spatial, [Float32Type()], body, reduce=reduce, init=[0]))


@irdl_op_definition
class Conv2dNchwcSplitOp(ConvBaseOp):
    """Convolution of f32 images in blocks of channels, with filters that are split into parts of bf16.

    Data is N×(C/i)×H×W×i, the result N×(O/o)×OH×OW×o, as for `topi.conv2d_nchwc`. The weight is
    (O/o)×(2·D/t)×KH×KW×o×t, with D = C rounded up to a multiple of 32 by filters of zeros: the low parts of 32
    channels, then their high parts, then the next 32 channels. The t products that one instruction sums are contiguous.
    The data is split into parts, too; a result is the sum of the products high × low, high × high and low × high, each
    in f32.

    Indices of the weight do not depend on D, so `loop-parametrize-kernels` replaces kernels that differ in D by one.
    The products read the weight from first to last.

    - C1: data and result have rank 5, weight rank 6.
    - C2: strides and dilation are two positive numbers; padding is top, left, bottom and right, none negative.
    - C3: there is one group, and the weight's channels are 2·D.
    - C4: the result's shape is batch, blocks of filters, as many windows as fit into the padded image, block.
    - C5: data and result are f32, the weight is bf16.

    ```mlir
    func.func @conv(%x: tensor<1x3x9x9x16xf32>, %w: tensor<2x64x3x3x16x2xbf16>) -> tensor<1x2x7x7x16xf32> {
      %r = topi.conv2d_nchwc_split(%x, %w)
           : (tensor<1x3x9x9x16xf32>, tensor<2x64x3x3x16x2xbf16>) -> tensor<1x2x7x7x16xf32>
      func.return %r : tensor<1x2x7x7x16xf32>
    }
    ```
    """

    name = "topi.conv2d_nchwc_split"
    AXES: ClassVar[str] = "HW"

    def verify_(self) -> None:
        """Checks C1 to C5."""
        data, weight, result = shape_of(self.data), known_shape_of(self.weight), shape_of(self.tensor)
        verify_ranks(self.name, "C1", [("data", data, [5]), ("weight", weight, [6]), ("result", result, [5])])
        blocks, pairs, *_, lanes, terms = weight
        channels = data[1] * data[4]
        split = -(-channels // CHANNELS) * CHANNELS * PARTS if isinstance(channels, int) else None
        if self.groups.value.data != 1 or split != pairs * terms:
            raise VerifyException(
                f"[{self.name} C3] {channels} data channels and filters of {pairs * terms} parts in "
                f"{self.groups.value.data} groups do not fit"
            )
        self.verify_shapes(pairs * terms, blocks * lanes, pairs * terms, [blocks, lanes])
        types = [tensor_type(value).element_type for value in (self.data, self.weight, self.tensor)]
        if types != [Float32Type(), BFloat16Type(), Float32Type()]:
            raise VerifyException(f"[{self.name} C5] elements are {', '.join(map(str, types))}, not f32, bf16 and f32")

    def expand(self) -> Expansion:
        """Expands to the parts of the padded image, and the sums over pairs of parts, channels and taps."""
        expansion = Expansion()
        parts = expansion.add(self._parts())
        _, pairs, *kernel, _, terms = known_shape_of(self.weight)
        steps, groups = CHANNELS // terms, pairs * terms // CHANNELS // PARTS

        def body(b: Body) -> list[SSAValue]:
            n, co, *place, ci = b.spatial
            pair, ko, term, kq, *taps = b.reduction
            a = b.read(parts, pair // 2, n, ko, *self.places(place, taps), kq * terms + term)
            block = (ko * PARTS + (pair + 1) // 2) * steps + kq
            return add_product(b, a, b.read(self.weight, co, block, *taps, ci, term))

        reduce: dict[str, Dim] = {"p": len(PAIRS), "ko": groups, "t": terms, "kq": steps, **self.taps(kernel)}
        return self.finish(expansion, self.block_variables(), reduce, body)

    def _parts(self) -> ComputeOp:
        """The high and low parts of the image, with zeros around it and after the last channel.

        If the number of columns is dynamic, there are zeros after the last column, so that tiles read no others.
        """
        n, blocks, *image, _ = shape_of(self.data)
        lanes = tensor_type(self.data).get_shape()[-1]
        *counts, columns = shape_of(self.tensor)[self.spatial]
        counts.append(columns if isinstance(columns, int) else -(-columns // COLUMNS) * COLUMNS)
        sizes = [of_any_size(axis).covered(count) for axis, count in zip(self.window, counts, strict=True)]
        groups = known_shape_of(self.weight)[1] * known_shape_of(self.weight)[-1] // CHANNELS // PARTS

        def body(b: Body) -> list[SSAValue]:
            part, batch, group, y, x, lane = b.spatial
            channel = group * CHANNELS + lane
            at = [place - axis.before for place, axis in zip((y, x), self.window, strict=True)]
            block, own = channel // lanes, channel % lanes
            inside = b.in_bounds((block, *at), (blocks, *image))
            value = b.guard(inside, Float32Type(), lambda: b.read(self.data, batch, block, *at, own), 0)
            return [b.choose(part, parts_of_float(b, value))]

        spatial: dict[str, Dim] = {"p": PARTS, "n": n, "c": groups, "y": sizes[0], "x": sizes[1], "ci": CHANNELS}
        return compute("split", spatial, [BFloat16Type()], body)
