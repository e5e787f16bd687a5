"""`topi.pool2d` and its variants of one and three axes: the maximum or the mean of windows of an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BoolAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.attribute_names import MATERIALIZED
from xrelay.dialects.topi.build import Body, Number, compute, lowest
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.named.base import Expansion, WindowOp, verify_ranks
from xrelay.dialects.topi.shapes import (
    certainly_at_most,
    certainly_greater,
    float_type,
    ints,
    shape_list,
    shape_of,
    tensor_type,
)
from xrelay.index_algebra.dims import Dim, DimExpr
from xrelay.index_algebra.windows import WindowAxis, of_any_size

Kind = Literal["max", "avg"]


class PoolOp(WindowOp):
    """Base of the pools, with the semantics and constraints of `topi.pool2d`."""

    data = operand_def(TensorType)
    kind = prop_def(StringAttr)
    kernel = prop_def(DenseArrayBase[IntegerType])
    count_include_pad = prop_def(BoolAttr, default_value=BoolAttr.from_bool(False))

    assembly_format = "`(` $data `)` attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        data: SSAValue,
        result_type: Attribute,
        kind: Kind,
        kernel: Sequence[int],
        *,
        strides: Sequence[int] | None = None,
        padding: Sequence[int] | None = None,
        dilation: Sequence[int] | None = None,
        count_include_pad: bool = False,
    ):
        rank = len(self.AXES)
        super().__init__(
            operands=[data],
            properties={
                "kind": StringAttr(kind),
                "kernel": ints(kernel),
                "strides": ints([1] * rank if strides is None else strides),
                "padding": ints([0] * 2 * rank if padding is None else padding),
                "dilation": ints([1] * rank if dilation is None else dilation),
                "count_include_pad": BoolAttr.from_bool(count_include_pad),
            },
            result_types=[result_type],
        )

    @property
    def window(self) -> tuple[WindowAxis[int], ...]:
        """The sliding window."""
        return self.window_over(tuple(self.kernel.iter_values()))

    @property
    def counts_padding(self) -> bool:
        """Whether the mean's divisor counts taps in the padding."""
        return bool(self.count_include_pad)

    def verify_(self) -> None:
        """Checks C1 to C4."""
        data, result, element = shape_of(self.data), shape_of(self.tensor), tensor_type(self.data).element_type
        plain = 2 + len(self.AXES)
        verify_ranks(self.name, "C1", [("data", data, [plain, plain + 1]), ("result", result, [len(data)])])
        if tensor_type(self.tensor).element_type != element:
            raise VerifyException(
                f"[{self.name} C1] result {self.tensor.type} and data {self.data.type} differ in type"
            )
        has_mean = isinstance(element, AnyFloat) or element == i64
        if self.kind.data not in ("max", "avg") or (self.kind.data == "avg" and not has_mean):
            text = '"max", or "avg" of floats or i64'
            raise VerifyException(f'[{self.name} C3] kind "{self.kind.data}" of {element}; {text}')
        self._verify_extents(data, result)

    def _verify_extents(self, data: Sequence[Dim], result: Sequence[Dim]) -> None:
        images = self.spatial
        if (*data[:2], *data[images.stop :]) != (*result[:2], *result[images.stop :]):
            raise VerifyException(
                f"[{self.name} C4] result {shape_list(result)} changes batch or channels of {shape_list(data)}"
            )
        for number, window in enumerate(self.window, start=2):
            axis = of_any_size(window)
            few, many = axis.count(data[number]), axis.count(data[number], partial=True)
            least = few if certainly_greater(few, 0) else 1
            if certainly_greater(least, result[number]) or certainly_greater(result[number], many):
                raise VerifyException(
                    f"[{self.name} C4] result has extent {result[number]} on axis {number}, "
                    f"the window allows {few} to {many}"
                )

    def expand(self) -> Expansion:
        """Expands to a pad (plain images with padding), a fold over the taps and, for the mean, a division."""
        expansion = Expansion()
        rank = len(self.AXES)
        if self.kind.data == "max":
            first = lowest(tensor_type(self.data).element_type)
            return expansion.finish(self._fold(f"max_pool{rank}d", first, self._around(expansion, first)))
        total = expansion.add(self._fold(f"sum_pool{rank}d", 0, self._around(expansion, 0)))
        return expansion.finish(self._divide(f"avg_pool{rank}d", total))

    def _around(self, expansion: Expansion, first: Number) -> SSAValue | None:
        """The data surrounded by `first`, so that plain images are read without a condition for each tap.

        For blocked images the condition holds for a whole vector and costs less than another pass over the data. For
        static images the schedule splits off partial windows. Maxima along one axis have few taps: along columns, one
        outside of the image reads the nearest element; along rows, LLVM masks the lanes outside.
        """
        if len(shape_of(self.data)) > self.spatial.stop or self._takes_maxima_along_one_axis:
            return None
        sizes, counts = shape_of(self.data)[self.spatial], shape_of(self.tensor)[self.spatial]
        rows = zip(self.window, sizes, counts, strict=True)
        partial = any(isinstance(size, DimExpr) and not _all_fit(axis, size, count) for axis, size, count in rows)
        pad = self.padded(self.data, self.window, first, partial=partial)
        if pad is not None and partial:
            pad.attributes[MATERIALIZED] = UnitAttr()
        return None if pad is None else expansion.add(pad)

    @property
    def _takes_maxima_along_one_axis(self) -> bool:
        """Whether this is a maximum along one axis, at stride 1, and each window contains elements of the image."""
        rows = zip(self.window, shape_of(self.data)[self.spatial], shape_of(self.tensor)[self.spatial], strict=True)
        long = [axis for axis in self.window if axis != WindowAxis(1)]
        return (
            self.kind.data == "max"
            and all(_all_fit(*row) for row in rows)
            and [(axis.stride, axis.dilation) for axis in long] == [(1, 1)]
            and long[0].before + long[0].after < long[0].size
        )

    def _fold(self, label: str, first: Number, padded: SSAValue | None) -> ComputeOp:
        element, shape = tensor_type(self.data).element_type, shape_of(self.tensor)
        data, sizes = self.data if padded is None else padded, shape_of(self.data)[self.spatial]
        rows = list(zip(self.window, sizes, shape[self.spatial], strict=True))
        # Another read of an element of the window does not change the maximum.
        is_clamped = padded is None and self._takes_maxima_along_one_axis and self.window[-1] == WindowAxis(1)
        inside_always = (
            padded is not None
            or is_clamped
            or all(not axis.before and not axis.after and _all_fit(axis, size, count) for axis, size, count in rows)
        )

        def body(b: Body) -> list[SSAValue]:
            at = list(b.spatial)
            at[self.spatial] = [
                axis.place(index, tap) + (0 if padded is None else axis.before)
                for axis, index, tap in zip(self.window, b.spatial[self.spatial], b.reduction, strict=True)
            ]
            if is_clamped:
                at[self.spatial] = [
                    _nearest(b, place, size) if axis.size > 1 else place
                    for place, (axis, size, _) in zip(at[self.spatial], rows, strict=True)
                ]
            if inside_always:
                value = b.read(data, *at)
            else:
                inside = b.in_bounds(at[self.spatial], sizes)
                value = b.guard(inside, element, lambda: b.read(data, *at), first)
            accumulator = b.accumulators[0]
            return [b.largest(accumulator, value) if self.kind.data == "max" else b.accumulate(accumulator, value)]

        reduce = self.taps([axis.size for axis in self.window])
        return compute(label, self.image_variables(shape), [element], body, reduce=reduce, init=[first])

    def _divide(self, label: str, total: SSAValue) -> ComputeOp:
        element, shape = tensor_type(self.data).element_type, shape_of(self.tensor)

        sizes, padded = shape_of(self.data)[self.spatial], self.counts_padding

        def body(b: Body) -> list[SSAValue]:
            value = b.read(total, *b.spatial)
            rows = zip(self.window, sizes, shape[self.spatial], b.spatial[self.spatial], strict=True)
            return [divided_by_taps(b, value, [Taps(*row, padded=padded) for row in rows])]

        return compute(label, self.image_variables(shape), [element], body)


def _nearest(b: Body, place: AffineExpr, size: Dim) -> AffineExpr:
    """The index below `size` that is nearest to `place`."""
    index = IndexType()
    place_or_first = b.add(arith.MaxSIOp(b.index(place), b.constant(0, index)))
    return b.as_index(b.add(arith.MinSIOp(place_or_first, b.size(size - 1, index))))


def _all_fit(axis: WindowAxis[int], size: Dim, count: Dim) -> bool:
    """Whether `count` windows are inside of the padded axis: there is no partial last window."""
    windows = of_any_size(axis)
    return count == windows.count(size) or certainly_at_most(windows.covered(count), axis.before + size + axis.after)


@dataclass(frozen=True)
class Taps:
    """The taps along one axis of the window at position `at` of `count`, over data of `size`, that a mean counts."""

    axis: WindowAxis[int]
    size: Dim
    count: Dim
    at: AffineExpr
    padded: bool
    """Whether the taps in the padding count."""

    def number(self, b: Body) -> int | SSAValue:
        """The number of counted taps; an int if it is the same for all windows."""
        axis, index = self.axis, IndexType()
        # Window positions in padded coordinates; those in [first, limit) are counted.
        first = 0 if self.padded else axis.before
        limit = axis.before + self.size + (axis.after if self.padded else 0)
        fits = _all_fit(axis, self.size, self.count) and (self.padded or not axis.after)
        if first == 0 and (fits or certainly_at_most(of_any_size(axis).covered(self.count), limit)):
            return axis.size
        start = self.at * -axis.stride
        low = b.add(arith.MaxSIOp(b.index((start + first).ceil_div(axis.dilation)), b.constant(0, index)))
        end = b.index((start + b.expr(limit)).ceil_div(axis.dilation))
        high = b.add(arith.MinSIOp(end, b.constant(axis.size, index)))
        # For a window that is completely outside the result is 0 / 1, not 0 / 0.
        return b.add(arith.MaxSIOp(b.minus(high, low), b.constant(1, index)))


def divided_by_taps(b: Body, value: SSAValue, axes: Sequence[Taps]) -> SSAValue:
    """A float or an i64 divided by the number of counted taps of its window."""
    constant, counts, element = 1, list[SSAValue](), value.type
    for axis in axes:
        count = axis.number(b)
        if isinstance(count, int):
            constant *= count
        else:
            counts.append(count)
    divisor = b.constant(constant, element)
    for count in counts:
        integer = b.add(arith.IndexCastOp(count, i64))
        factor = integer if element == i64 else b.add(arith.SIToFPOp(integer, float_type(element)))
        divisor = b.times(divisor, factor)
    return b.divide(value, divisor)


@irdl_op_definition
class Pool1dOp(PoolOp):
    """Maximum or mean of sliding windows of sequences N×C×W, like `topi.pool2d`.

    ```mlir
    func.func @pool(%x: tensor<1x8x7xf32>) -> tensor<1x8x3xf32> {
      %r = topi.pool1d(%x) {kind = "max", kernel = array<i64: 3>, strides = array<i64: 2>}
           : (tensor<1x8x7xf32>) -> tensor<1x8x3xf32>
      func.return %r : tensor<1x8x3xf32>
    }
    ```
    """

    name = "topi.pool1d"
    AXES: ClassVar[str] = "W"


@irdl_op_definition
class Pool2dOp(PoolOp):
    """Maximum (kind "max") or mean ("avg") of sliding windows; images are N×C×H×W or blocked N×(C/b)×H×W×b.

    Taps outside of the image do not count for the maximum. For the mean they are zero; the divisor counts the taps
    inside of the image or, with `count_include_pad`, inside of the padded image. The result's type decides whether a
    last window that is only partly inside of the padded image exists (Relay's ceil_mode).

    - C1: data and result have the same rank, 4 or 5, and element type.
    - C2: kernel, strides and dilation are two positive numbers; padding is top, left, bottom and right, none negative.
    - C3: kind is "max" or "avg"; avg is of floats, or of i64, whose mean is truncated.
    - C4: batch, channels and block are kept; each image extent of the result is between the number of windows that fit
      into the padded image and the number including a partial last window, and is at least 1.

    ```mlir
    func.func @pool(%x: tensor<1x8x7x7xf32>) -> tensor<1x8x4x4xf32> {
      %r = topi.pool2d(%x) {kind = "max", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>,
                            padding = array<i64: 1, 1, 1, 1>} : (tensor<1x8x7x7xf32>) -> tensor<1x8x4x4xf32>
      func.return %r : tensor<1x8x4x4xf32>
    }
    ```
    """

    name = "topi.pool2d"
    AXES: ClassVar[str] = "HW"


@irdl_op_definition
class Pool3dOp(PoolOp):
    """Maximum or mean of sliding windows of volumes N×C×D×H×W, like `topi.pool2d`.

    ```mlir
    func.func @pool(%x: tensor<1x8x4x7x7xf32>) -> tensor<1x8x3x6x6xf32> {
      %r = topi.pool3d(%x) {kind = "avg", kernel = array<i64: 2, 2, 2>}
           : (tensor<1x8x4x7x7xf32>) -> tensor<1x8x3x6x6xf32>
      func.return %r : tensor<1x8x3x6x6xf32>
    }
    ```
    """

    name = "topi.pool3d"
    AXES: ClassVar[str] = "DHW"
