"""`topi.pool2d`: the maximum or the mean of windows of an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BoolAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.build import Body, Number, compute, is_unsigned
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.named.base import Expansion, NamedOp, verify_ranks
from xrelay.dialects.topi.named.window import Window, image_variables, pad_images, parse_window
from xrelay.dialects.topi.shapes import bit_width, float_type, ints, shape_of, tensor_type

Kind = Literal["max", "avg"]

PLAIN_RANK = 4
"""The rank of images whose channels are not in blocks."""


def lowest(type: Attribute) -> Number:
    """The smallest value of a scalar type, the first value of a maximum."""
    if isinstance(type, AnyFloat):
        return float("-inf")
    return 0 if is_unsigned(type) else -(1 << (bit_width(type) - 1))


@irdl_op_definition
class Pool2dOp(NamedOp):
    """Maximum (kind "max") or mean ("avg") of sliding windows; images are N×C×H×W or blocked N×(C/b)×H×W×b.

    Taps outside of the image do not count for the maximum. For the mean they are zero; the divisor counts the taps
    inside of the image or, with `count_include_pad`, inside of the padded image. The result's type decides whether a
    last window that is only partly inside of the padded image is there (Relay's ceil_mode).

    - C1: data and result have the same rank, 4 or 5, and element type.
    - C2: kernel, strides and dilation are two positive numbers; padding is top, left, bottom and right, none negative.
    - C3: kind is "max" or "avg"; avg is of floats.
    - C4: batch, channels and block are kept; each image extent of the result lies between the number of windows that
      fit into the padded image and the number counting a partial last one, and is at least 1.

    ```mlir
    func.func @pool(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x4x4xf32> {
      %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>,
                            padding = array<i64: 1, 1, 1, 1>} : (tensor<1x8x7x7xf32>) -> tensor<1x8x4x4xf32>
      func.return %r : tensor<1x8x4x4xf32>
    }
    ```
    """

    name = "topi.pool2d"

    data = operand_def(TensorType)
    kind = prop_def(StringAttr)
    kernel = prop_def(DenseArrayBase[IntegerType])
    strides = prop_def(DenseArrayBase[IntegerType], default_value=ints([1, 1]))
    padding = prop_def(DenseArrayBase[IntegerType], default_value=ints([0, 0, 0, 0]))
    dilation = prop_def(DenseArrayBase[IntegerType], default_value=ints([1, 1]))
    count_include_pad = prop_def(BoolAttr, default_value=BoolAttr.from_bool(False))
    tensor = result_def(TensorType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` $data `)` attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        data: SSAValue,
        result_type: Attribute,
        kind: Kind,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] = (1, 1),
        padding: Sequence[int] = (0, 0, 0, 0),
        dilation: Sequence[int] = (1, 1),
        count_include_pad: bool = False,
    ):
        super().__init__(
            operands=[data],
            properties={
                "kind": StringAttr(kind),
                "kernel": ints(kernel),
                "strides": ints(strides),
                "padding": ints(padding),
                "dilation": ints(dilation),
                "count_include_pad": BoolAttr.from_bool(count_include_pad),
            },
            result_types=[result_type],
        )

    @property
    def window(self) -> Window:
        """The sliding window."""
        kernel = tuple(self.kernel.iter_values())
        return parse_window(self.name, "C2", kernel, self.strides, self.dilation, self.padding)

    @property
    def counts_padding(self) -> bool:
        """Whether the mean's divisor counts taps in the padding."""
        return bool(self.count_include_pad)

    def verify_(self) -> None:
        """Checks C1 to C4."""
        data, result, element = shape_of(self.data), shape_of(self.tensor), tensor_type(self.data).element_type
        verify_ranks(self.name, "C1", [("data", data, [4, 5]), ("result", result, [len(data)])])
        if tensor_type(self.tensor).element_type != element:
            raise VerifyException(
                f"[{self.name} C1] result {self.tensor.type} and data {self.data.type} differ in type"
            )
        if self.kind.data not in ("max", "avg") or (self.kind.data == "avg" and not isinstance(element, AnyFloat)):
            raise VerifyException(f'[{self.name} C3] kind "{self.kind.data}" of {element}; "max", or "avg" of floats')
        self._verify_extents(data, result)

    def _verify_extents(self, data: Sequence[int], result: Sequence[int]) -> None:
        kept = (*data[:2], *data[4:])
        if kept != (*result[:2], *result[4:]):
            raise VerifyException(f"[{self.name} C4] result {list(result)} changes batch or channels of {list(data)}")
        for axis in (0, 1):
            few = self.window.outputs(axis, data[2 + axis])
            many = self.window.outputs(axis, data[2 + axis], ceil=True)
            if not max(few, 1) <= result[2 + axis] <= many:
                raise VerifyException(
                    f"[{self.name} C4] result has extent {result[2 + axis]} on axis {2 + axis}, "
                    f"the window gives {few} to {many}"
                )

    def expand(self) -> Expansion:
        """A pad for plain images with padding, a fold over the taps, for the mean a division by the taps that count."""
        expansion = Expansion()
        if self.kind.data == "max":
            first = lowest(tensor_type(self.data).element_type)
            return expansion.finish(self._fold("max_pool2d", first, self._padded(expansion, first)))
        total = expansion.add(self._fold("sum_pool2d", 0, self._padded(expansion, 0)))
        return expansion.finish(self._divide(total))

    def _padded(self, expansion: Expansion, first: Number) -> SSAValue | None:
        """The data surrounded by `first`, so that plain images are read without a condition for each tap.

        In blocks the condition holds for a whole vector, and costs less than another pass over the data.
        """
        if len(shape_of(self.data)) > PLAIN_RANK:
            return None
        pad = pad_images(self.data, self.window, shape_of(self.tensor)[2:4], first)
        return None if pad is None else expansion.add(pad)

    def _fold(self, label: str, first: Number, padded: SSAValue | None) -> ComputeOp:
        window, element, sizes = self.window, tensor_type(self.data).element_type, shape_of(self.data)[2:4]
        data, origin = (self.data, (0, 0)) if padded is None else (padded, window.padding[:2])
        inside_always = padded is not None or (
            not any(window.padding)
            and all(window.covered(axis, count) <= sizes[axis] for axis, count in enumerate(shape_of(self.tensor)[2:4]))
        )

        def body(b: Body) -> list[SSAValue]:
            n, c, h, w, *block = b.spatial
            taps = [self._tap(axis, at, b.reduction[axis]) + origin[axis] for axis, at in enumerate((h, w))]

            def read() -> SSAValue:
                return b.read(data, n, c, *taps, *block)

            if inside_always:
                value = read()
            else:
                value = b.guard(b.in_bounds(taps, sizes), element, read, lambda: b.constant(first, element))
            accumulator = b.accumulators[0]
            return [b.largest(accumulator, value) if self.kind.data == "max" else b.accumulate(accumulator, value)]

        reduce = {"y": window.kernel[0], "x": window.kernel[1]}
        return compute(label, image_variables(shape_of(self.tensor)), [element], body, reduce=reduce, init=[first])

    def _tap(self, axis: int, at: AffineExpr, tap: AffineExpr) -> AffineExpr:
        window = self.window
        return at * window.strides[axis] + tap * window.dilation[axis] - window.padding[axis]

    def _divide(self, total: SSAValue) -> ComputeOp:
        element = tensor_type(self.data).element_type
        outputs = shape_of(self.tensor)[2:4]

        def body(b: Body) -> list[SSAValue]:
            value = b.read(total, *b.spatial)
            constant, counts = 1, list[SSAValue]()
            for axis in (0, 1):
                count = self._count(b, axis, b.spatial[2 + axis], outputs[axis])
                if isinstance(count, int):
                    constant *= count
                else:
                    counts.append(count)
            divisor = b.constant(constant, element)
            for count in counts:
                integer = b.add(arith.IndexCastOp(count, i64))
                divisor = b.times(divisor, b.add(arith.SIToFPOp(integer, float_type(element))))
            return [b.divide(value, divisor)]

        return compute("avg_pool2d", image_variables(shape_of(self.tensor)), [element], body)

    def _count(self, b: Body, axis: int, at: AffineExpr, outputs: int) -> int | SSAValue:
        """How many taps of the window at `at` count along one image axis; a number where that is the same for all."""
        window, size = self.window, shape_of(self.data)[2 + axis]
        before, after = window.padding[axis], window.padding[axis + 2]
        first, end = (before, size) if not self.counts_padding else (0, before + size + after)
        kernel, stride, dilation = window.kernel[axis], window.strides[axis], window.dilation[axis]
        # Window positions in padded coordinates; those in [first, limit) count.
        limit = end if self.counts_padding else before + size
        if first == 0 and window.covered(axis, outputs) <= limit:
            return kernel
        index = IndexType()
        low = b.add(arith.MaxSIOp(b.index((at * -stride + first).ceil_div(dilation)), b.constant(0, index)))
        high = b.add(arith.MinSIOp(b.index((at * -stride + limit).ceil_div(dilation)), b.constant(kernel, index)))
        # A window that lies outside altogether is 0 / 1, not 0 / 0.
        return b.add(arith.MaxSIOp(b.minus(high, low), b.constant(1, index)))
