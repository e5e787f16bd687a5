"""Reductions: sums, means, extremes, products, variances and others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import bool_attribute
from xrelay.dialects.relay.layout.rank_changes import positions, with_unit_axes, without_axes
from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    AxisOf,
    Body,
    Dim,
    Facts,
    FloatElements,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    Layout,
    LayoutAnswer,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    Quantization,
    RelayOp,
    SameElements,
    Shape,
    TopiBuilder,
    bool_property,
    element_type_of,
    int_array,
    ints,
    maximum,
    numpy_dtype,
    optional_ints_property,
    product,
    register_relay_op,
    require_axes,
    shape_text,
    tensor_type,
)
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder
from xrelay.errors import LoweringError


class ReduceOp(RelayOp):
    """Base of the reductions.

    `axis` lists the axes to reduce, by default all. `exclude` reduces the other axes instead. `keepdims` keeps reduced
    axes with extent 1. The result has the data's element type.

    Constraints shared by all:
    - C1: `axis` names distinct axes of the data.
    """

    PATTERN = OpPatternKind.COMM_REDUCE
    MIXED_PRECISION = MixedPrecision.NEVER

    data = operand_def()

    axis = optional_ints_property()
    keepdims = bool_property(False)
    exclude = bool_property(False)

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts a single number as axis."""
        axis = attributes.get("axis")
        if isinstance(axis, int):
            attributes["axis"] = (axis,)
        return attributes

    def reduced_axes(self, rank: int) -> tuple[int, ...]:
        """Returns the reduced axes in ascending order; checks C1."""
        if self.axis is None:
            return () if self.exclude.value.data else tuple(range(rank))
        named = require_axes(self, ints(self.axis), rank, "C1")
        if self.exclude.value.data:
            return tuple(axis for axis in range(rank) if axis not in named)
        return tuple(sorted(named))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the remaining extents; checks C1."""
        shape, element = facts.operand(0)
        return tensor_type(self.result_shape(shape), element)

    def result_shape(self, shape: Shape) -> Shape:
        """Returns the remaining extents of data of `shape`; reduced ones are 1 with `keepdims`."""
        reduced = self.reduced_axes(len(shape))
        if not self.keepdims.value.data:
            return tuple(dim for axis, dim in enumerate(shape) if axis not in reduced)
        result: list[Dim] = [1 if axis in reduced else dim for axis, dim in enumerate(shape)]
        return tuple(result)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Follows the layout of the data. Both parts of a split axis are reduced."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        letters = [layout.primal[axis] for axis in self.reduced_axes(len(layout.primal))]
        axes = sorted(position for letter in letters for position in positions(layout, letter))
        result: Layout | None = None
        if self.keepdims.value.data:
            result = with_unit_axes(layout, letters)
        elif len(letters) < len(layout.primal):
            result = without_axes(layout, letters)
        return LayoutDecision((layout,), result, {"axis": int_array(axes), "exclude": bool_attribute(False)})

    def reduced_by(self, function: Callable[..., Any], data: Array, **options: object) -> Array:
        """Returns the result of a numpy reduction of `data` along the reduced axes."""
        axes, keepdims = self.reduced_axes(data.ndim), bool(self.keepdims.value.data)
        return np.asarray(function(data, axis=axes, keepdims=keepdims, **options))

    def kept(self, value: SSAValue, build: GradientBuilder) -> SSAValue:
        """Reshapes `value` from the shape of the result to extent 1 along the reduced axes."""
        if self.keepdims.value.data:
            return value
        for axis in self.axes_of_data(build):
            value = build.op("expand_dims", value, axis=axis)
        return value

    def axes_of_data(self, build: GradientBuilder) -> tuple[int, ...]:
        """Returns the reduced axes of the operand."""
        return self.reduced_axes(len(build.shape(self.data)))

    def reduced(self, name: str, value: SSAValue, build: GradientBuilder) -> SSAValue:
        """Reduces `value` by the op called `name` along the reduced axes, which keep extent 1."""
        axes = self.axes_of_data(build)
        return build.op(name, value, axis=axes, keepdims=True) if axes else value


@register_relay_op
@irdl_op_definition
class SumOp(ReduceOp):
    """The sum over `axis`; for booleans, whether any is true.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.sum(%x) {axis = [1]} : (tensor<4x8xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sum"
    QUANTIZATION = Quantization.MEAN
    HALF_PRECISION = HalfPrecision.SINGLE

    def evaluate(self, data: Array) -> Array:
        """Sums in the widest type of the same kind."""
        from xrelay.dialects.relay.meaning.element_types import widest

        wide = data.astype(widest(data.dtype), copy=False)
        return self.reduced_by(np.sum, wide).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Sums over the reduced axes; for booleans, computes whether any is true."""
        from xrelay.dialects.relay.computes.reduction import any_true, fold

        if build.result_type.element_type == i1:
            return [any_true(build)]
        return [fold(build, "sum", 0, lambda b, total, x: b.accumulate(total, x))]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 for each element."""
        return [build.broadcast_like(self.kept(of, build), self.data)]


@register_relay_op
@irdl_op_definition
class MeanOp(ReduceOp):
    """The mean over `axis`; for integers, the truncated quotient of sum and count.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.mean(%x) {axis = [2, 3], keepdims = true} : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
    ```

    """

    name = "relay.mean"
    QUANTIZATION = Quantization.MEAN
    HALF_PRECISION = HalfPrecision.SINGLE

    def evaluate(self, data: Array) -> Array:
        """Sums in the widest type of the same kind, then divides; means of integers are truncated."""
        from xrelay.dialects.relay.meaning.element_types import widest
        from xrelay.dialects.relay.meaning.integer_division import truncated_quotient

        total = self.reduced_by(np.sum, data.astype(widest(data.dtype), copy=False))
        count = prod(data.shape[axis] for axis in self.reduced_axes(data.ndim))
        if total.dtype.kind in "iu":
            return truncated_quotient(total, total.dtype.type(count)).astype(data.dtype)
        return (total / np.float64(count)).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Sums over the reduced axes and divides by the number of elements; integers are summed in 64 bits."""
        from xrelay.dialects.relay.computes.reduction import Reduction, fold
        from xrelay.dialects.topi.build import is_unsigned

        reduction, element = Reduction.of(build), build.result_type.element_type
        wide = element
        if isinstance(element, IntegerType):
            wide = IntegerType(64, Signedness.UNSIGNED if is_unsigned(element) else Signedness.SIGNLESS)
        count = product([reduction.shape[axis] for axis in reduction.axes])
        if wide is not element and count == 0:
            raise LoweringError("relay.mean of no integers: a division by zero")
        total = fold(build, "mean_sum", 0, lambda b, acc, x: b.accumulate(acc, x), wide)

        def fill(b: Body) -> SSAValue:
            return b.convert(b.divide(b.read(total, *b.spatial), b.size(count, wide)), element)

        return [build.compute("mean", reduction.spatial_vars, element, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1 / n for each of n elements."""
        share = build.divided_by_count(self.kept(of, build), self.data, self.axes_of_data(build))
        return [build.broadcast_like(share, self.data)]


class ExtremumOp(ReduceOp):
    """Base of the reductions that select an element."""

    QUANTIZATION = Quantization.CHOICE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Distributes the gradient equally among the elements that are equal to the result."""
        is_chosen = build.op("equal", self.data, self.kept(self.result, build))
        chosen = build.cast_like(is_chosen, of)
        wide = build.wide_enough(self.kept(of, build), build.count(self.data, self.axes_of_data(build)))
        number = self.reduced("sum", build.cast_like(chosen, wide), build)
        return [build.op("multiply", chosen, build.cast_like(build.divided(wide, number), of))]


@register_relay_op
@irdl_op_definition
class MaxOp(ExtremumOp):
    """The greatest element over `axis`.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.max(%x) {axis = [1], exclude = true} : (tensor<4x8xf32>) -> tensor<8xf32>
    ```

    """

    name = "relay.max"

    def evaluate(self, data: Array) -> Array:
        """Returns the greatest element; for no elements, the least value of the dtype."""
        from xrelay.dialects.relay.meaning.element_types import value_range

        least, _ = value_range(data.dtype)
        return self.reduced_by(np.max, data, initial=least).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Folds the maximum over the reduced axes."""
        from xrelay.dialects.relay.computes.reduction import fold
        from xrelay.dialects.topi.build import value_range

        first, _ = value_range(build.result_type.element_type)
        return [fold(build, "max", first, lambda b, largest, x: b.largest(largest, x))]


@register_relay_op
@irdl_op_definition
class MinOp(ExtremumOp):
    """The least element over `axis`.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.min(%x) : (tensor<4x8xf32>) -> tensor<f32>
    ```

    """

    name = "relay.min"

    def evaluate(self, data: Array) -> Array:
        """Returns the least element; for no elements, the greatest value of the dtype."""
        from xrelay.dialects.relay.meaning.element_types import value_range

        _, greatest = value_range(data.dtype)
        return self.reduced_by(np.min, data, initial=greatest).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Folds the minimum over the reduced axes."""
        from xrelay.dialects.relay.computes.reduction import fold
        from xrelay.dialects.topi.build import value_range

        _, first = value_range(build.result_type.element_type)
        return [fold(build, "min", first, lambda b, smallest, x: b.smallest(smallest, x))]


@register_relay_op
@irdl_op_definition
class ProdOp(ReduceOp):
    """The product over `axis`; for booleans, whether all are true.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.prod(%x) {axis = [0]} : (tensor<4x8xf32>) -> tensor<8xf32>
    ```

    """

    name = "relay.prod"
    HALF_PRECISION = HalfPrecision.SINGLE

    def evaluate(self, data: Array) -> Array:
        """Multiplies in the widest type of the same kind."""
        from xrelay.dialects.relay.meaning.element_types import widest

        wide = data.astype(widest(data.dtype), copy=False)
        return self.reduced_by(np.prod, wide).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Multiplies over the reduced axes; for booleans, computes whether all are true."""
        from xrelay.dialects.relay.computes.reduction import all_true, fold

        if build.result_type.element_type == i1:
            return [all_true(build)]
        return [fold(build, "prod", 1, lambda b, so_far, x: b.accumulate_factor(so_far, x))]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is the product of the other elements, which is exact if elements are 0."""
        is_zero = build.op("equal", self.data, 0)
        zeros = build.cast_like(is_zero, of)
        rest = build.op("where", is_zero, build.ones_like(self.data), self.data)
        without = build.op("divide", self.reduced("prod", rest, build), rest)
        other_zeros = build.op("subtract", self.reduced("sum", zeros, build), zeros)
        factor = build.op("where", build.op("greater", other_zeros, 0), build.zeros_like(without), without)
        return [build.op("multiply", factor, self.kept(of, build))]


@register_relay_op
@irdl_op_definition
class LogsumexpOp(ReduceOp, CompositeOp):
    """`m + log(sum(exp(x - m)))` over `axis`, with m the greatest element; m if that is infinite.

    Example:
    ```mlir
    %y = relay.logsumexp(%x) {axis = [1]} : (tensor<4x8xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.logsumexp"
    PATTERN = CompositeOp.PATTERN
    CONSTRAINTS = {"C1": AxisOf(), "C2": FloatElements()}

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Returns the greatest element plus the logarithm of the sum of the exponentials of the differences to it."""
        (x,) = build.operands
        axes = self.reduced_axes(build.rank(x))
        largest = build.op("max", x, axis=axes, keepdims=True)
        # Infinity minus infinity is NaN, so m is clipped to the greatest float.
        most = float(np.finfo(numpy_dtype(element_type_of(x.type))).max)
        bounded = build.op("clip", largest, a_min=-most, a_max=most)
        total = build.op("sum", build.op("exp", build.op("subtract", x, bounded)), axis=axes, keepdims=True)
        result = build.op("add", build.op("log", total), bounded)
        return result if self.keepdims.value.data else build.op("squeeze", result, axis=axes)

    def evaluate(self, data: Array) -> Array:
        """Calls `np.logaddexp.reduce`, in f32 for floats of 16 bits."""
        from xrelay.dialects.relay.meaning.element_types import accumulator

        wide = data.astype(accumulator(data.dtype), copy=False)
        return self.reduced_by(np.logaddexp.reduce, wide).astype(data.dtype)


@register_relay_op
@irdl_op_definition
class VarianceOp(ReduceOp):
    """The sum over `axis` of `(data - mean)²`, divided by the number of terms, or by one less with `unbiased`.

    It is NaN if there are no terms. `mean` has the data's shape with extent 1 at the reduced axes, like `relay.mean`
    with `keepdims`.

    Constraints:
    - C4: the mean has the data's shape with extent 1 at the reduced axes.

    Example:
    ```mlir
    %m = relay.mean(%x) {axis = [1], keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
    %y = relay.variance(%x, %m) {axis = [1], unbiased = true} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.variance"
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {"C1": AxisOf(), "C2": FloatElements(), "C3": SameElements()}

    # Fields of a subclass come first, so those of the base are redeclared in Relay's order.
    data = operand_def()
    mean = operand_def()

    axis = optional_ints_property()
    keepdims = bool_property(False)
    exclude = bool_property(False)
    unbiased = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the remaining extents; checks C4."""
        shape, element = facts.operand(0)
        reduced = self.reduced_axes(len(shape))
        wanted = tuple(1 if axis in reduced else extent for axis, extent in enumerate(shape))
        found = facts.shape(1)
        message = f"the mean has shape {shape_text(found)}, it must be {shape_text(wanted)}"
        facts.require(len(found) == len(wanted), "C4", message)
        for has, must in zip(found, wanted, strict=True):
            facts.require_equal(has, must, "C4", "extents of the mean and of the data", message=message)
        return tensor_type(self.result_shape(shape), element)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layout, which data and mean share."""
        return LayoutRefusal(f"{self.name} needs data and mean in the same layout")

    def evaluate(self, data: Array, mean: Array) -> Array:
        """Sums squared differences in double precision."""
        axes = self.reduced_axes(data.ndim)
        count = max(prod(data.shape[axis] for axis in axes) - bool(self.unbiased.value.data), 0)
        distances = data.astype(np.float64) - mean.astype(np.float64)
        total = self.reduced_by(np.sum, distances * distances)
        return np.asarray(total / np.float64(count)).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Computes the sum of squared differences from the mean, divided by the number of terms."""
        from xrelay.dialects.relay.computes.reduction import Reduction, fold

        data, mean, reduction = build.operand(0), build.operand(1), Reduction.of(build)
        element = build.result_type.element_type

        def square(b: Body, at: list[AffineExpr]) -> SSAValue:
            center = b.read(mean, *(0 if axis in reduction.axes else index for axis, index in enumerate(at)))
            distance = b.minus(b.read(data, *at), center)
            return b.times(distance, distance)

        total = fold(build, "squares", 0, lambda b, acc, x: b.accumulate(acc, x), element, square)
        # Without terms the result is NaN, also with `unbiased`.
        terms = product([reduction.shape[axis] for axis in reduction.axes])
        count = maximum(terms - bool(self.unbiased.value.data), 0)

        def fill(b: Body) -> SSAValue:
            return b.divide(b.read(total, *b.spatial), b.size(count, element))

        return [build.compute("variance", reduction.spatial_vars, element, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 2 · (x - m) / n for an element x, its negated sum for m; n - 1 for n if unbiased."""
        doubled, less = build.op("multiply", self.kept(of, build), 2), int(bool(self.unbiased.value.data))
        share = build.divided_by_count(doubled, self.data, self.axes_of_data(build), less=less)
        data = build.op("multiply", build.op("subtract", self.data, self.mean), share)
        return [data, build.op("negative", build.sum_like(data, self.mean))]


@register_relay_op
@irdl_op_definition
class StdOp(ReduceOp, CompositeOp):
    """The square root of the variance over `axis`; with `unbiased` the variance is divided by one less.

    Example:
    ```mlir
    %y = relay.std(%x) {axis = [1], unbiased = true} : (tensor<4x8xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.std"
    PATTERN = CompositeOp.PATTERN
    CONSTRAINTS = {"C1": AxisOf(), "C2": FloatElements()}

    # Fields of a subclass come first, so those of the base are redeclared in Relay's order.
    axis = optional_ints_property()
    keepdims = bool_property(False)
    exclude = bool_property(False)
    unbiased = bool_property(False)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """The mean, the variance, and its square root."""
        (x,) = build.operands
        axes, keepdims = self.reduced_axes(build.rank(x)), bool(self.keepdims.value.data)
        mean = build.op("mean", x, axis=axes, keepdims=True)
        unbiased = bool(self.unbiased.value.data)
        return build.op("sqrt", build.op("variance", x, mean, axis=axes, keepdims=keepdims, unbiased=unbiased))

    def evaluate(self, data: Array) -> Array:
        """Calls `np.std` in double precision."""
        ddof = int(bool(self.unbiased.value.data))
        return self.reduced_by(np.std, data.astype(np.float64), ddof=ddof).astype(data.dtype)
