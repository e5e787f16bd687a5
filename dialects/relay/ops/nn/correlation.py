"""`relay.nn.correlation`: the similarity of two images at shifted positions."""

from __future__ import annotations

from itertools import product

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.sliding_window import Numbers
from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    AttributeValue,
    Body,
    Dim,
    Facts,
    FloatElements,
    HalfPrecision,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RankOf,
    RelayOp,
    SameElements,
    Tensors,
    TopiBuilder,
    bool_property,
    cast_once,
    int_property,
    ints,
    ints_property,
    register_relay_op,
    shape_text,
    string_property,
    tensor_type,
    with_both_sides,
)


@register_relay_op
class CorrelationOp(RelayOp):
    """The mean product, or distance, of windows of an image (N, C, H, W) and shifted windows of another.

    With d = `max_displacement / stride2`, channel `(r + d) * (2 * d + 1) + c + d` of the result is for the shift by `r
    * stride2` rows and `c * stride2` columns, for r and c from -d to d. Element (i, j) is the mean over the channels
    and a window of `kernel_size` rows and columns of `data1 * data2`, or of `|data1 - data2|` if `is_multiply` is
    false. The window begins at row `i * stride1 + max_displacement` and column `j * stride1 + max_displacement` of
    images padded with zeros: `padding` lists the rows and columns above, left, below and right. All windows are within
    the padded images.

    Constraints:
    - C6: both images have the same shape.
    - C7: `kernel_size` is odd.
    - C8: the padded images are at least as large as a window and the shifts to both sides.

    Example:
    ```mlir
    %z = relay.nn.correlation(%x, %y) {padding = [1, 1, 1, 1]}
        : (tensor<1x3x6x7xf32>, tensor<1x3x6x7xf32>) -> tensor<1x9x6x7xf32>
    ```

    """

    name = "relay.nn.correlation"
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {
        "C1": FloatElements(),
        "C2": SameElements(),
        "C3": RankOf(0, 4, 4),
        "C4": Numbers(("padding",), (4,), positive=False),
        "C5": OneOf("layout", ("NCHW",)),
        "C9": AtLeast("max_displacement", 0),
        "C10": AtLeast("stride1"),
        "C11": AtLeast("stride2"),
    }

    data1 = operand_def()
    data2 = operand_def()

    kernel_size = int_property(1)
    max_displacement = int_property(1)
    stride1 = int_property(1)
    stride2 = int_property(1)
    padding = ints_property(0, 0, 0, 0)
    is_multiply = bool_property(True)
    layout = string_property("NCHW")

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts two numbers of padding, one for both sides of each axis."""
        return with_both_sides(attributes)

    @property
    def radius(self) -> int:
        """The number of shifts to each side."""
        return self.max_displacement.value.data // self.stride2.value.data

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with one channel for each shift; checks C6 to C8."""
        (shape, element), other = facts.operand(0), facts.shape(1)
        message = f"images of shapes {shape_text(shape)} and {shape_text(other)}"
        facts.require_equal_shapes(shape, other, "C6", "extents of both images", message)
        size, step, padding = self.kernel_size.value.data, self.stride1.value.data, ints(self.padding)
        facts.require(size > 0 and size % 2 == 1, "C7", f"kernel_size must be odd, found {size}")
        border = 2 * self.max_displacement.value.data + size - 1
        result: list[Dim] = [shape[0], (2 * self.radius + 1) ** 2]
        for axis in (0, 1):
            padded = shape[axis + 2] + padding[axis] + padding[axis + 2]
            facts.require_at_least(padded, border + 1, "C8", "elements with zeros, and of windows and shifts,")
            result.append((padded - border + step - 1) // step)
        return tensor_type(result, element)

    def evaluate(self, data1: Array, data2: Array) -> Array:
        """Computes one shift after the other, in double precision."""
        from xrelay.dialects.relay.meaning.windows import places_in_steps

        size, far, step = self.kernel_size.value.data, self.max_displacement.value.data, self.stride1.value.data
        top, left, bottom, right = ints(self.padding)
        border, (rows, columns) = 2 * far + size - 1, data1.shape[2:]
        counts = [-(-(extent - border) // step) for extent in (top + rows + bottom, left + columns + right)]

        # A row and a column of zeros at the end represent all positions outside.
        images = [np.pad(data.astype(np.float64), ((0, 0), (0, 0), (0, 1), (0, 1))) for data in (data1, data2)]

        def at(image: Array, *first: int) -> Array:
            places = (places_in_steps(*row) for row in zip(first, (step, step), counts, (rows, columns), strict=True))
            return image[(slice(None), slice(None), *np.ix_(*places))]

        shifts, channels = range(-self.radius, self.radius + 1), list[Array]()
        for shift in product(shifts, shifts):
            down, aside = (each * self.stride2.value.data for each in shift)
            total = np.zeros((len(data1), *counts))
            for k, m in product(range(size), range(size)):
                row, column = far + k - top, far + m - left
                first, second = at(images[0], row, column), at(images[1], row + down, column + aside)
                values = first * second if self.is_multiply.value.data else np.abs(first - second)
                total = total + values.sum(1)
            channels.append(total / np.float64(size * size * data1.shape[1]))
        return cast_once(np.stack(channels, 1), data1.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Averages products, or absolute differences, of elements of both images."""
        from xdsl.dialects import math

        first, second = build.operand(0), build.operand(1)
        _, channels, *extents = build.shape(first)
        element, padding, size, radius = (
            build.element(first),
            ints(self.padding),
            self.kernel_size.value.data,
            self.radius,
        )
        step, far, apart = self.stride1.value.data, self.max_displacement.value.data, self.stride2.value.data
        size, width = self.kernel_size.value.data, 2 * radius + 1

        def read(b: Body, data: SSAValue, row: AffineExpr, column: AffineExpr) -> SSAValue:
            at = [row - padding[0], column - padding[1]]
            inside = b.in_bounds(at, extents)
            whole = b.spatial[0], b.reduction[0], *at
            return b.guard(inside, element, lambda: b.read(data, *whole), 0)

        def add(b: Body) -> SSAValue:
            _, shift, *places = b.spatial
            at = [place * step + far + tap for place, tap in zip(places, b.reduction[1:], strict=True)]
            shifts = zip(at, (shift // width, shift % width), strict=True)
            moved = [place + (number - radius) * apart for place, number in shifts]
            one, other = read(b, first, *at), read(b, second, *moved)
            if self.is_multiply.value.data:
                return b.accumulate_product(b.accumulators[0], one, other)
            return b.accumulate(b.accumulators[0], b.add(math.AbsFOp(b.minus(one, other))))

        shape, reduce = build.result_shape, {"c": channels, "k": size, "l": size}
        total = build.compute("correlation_sum", shape, element, add, reduce=reduce, init=[0.0])

        def mean(b: Body) -> SSAValue:
            return b.divide(b.read(total, *b.spatial), b.size(channels * size**2, element))

        return [build.compute("correlation", shape, element, mean)]
