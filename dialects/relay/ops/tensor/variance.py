"""`relay.variance`: the mean squared difference from a mean, and its square root, `relay.std`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    AxisOf,
    Facts,
    FloatElements,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    Layout,
    LayoutRefusal,
    SameElements,
    bool_property,
    optional_ints_property,
    register_relay_op,
)
from xrelay.dialects.relay.ops.tensor.reduce import ReduceOp
from xrelay.dialects.relay.structure.composite import CompositeOp, Parts
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import maximum, product, shape_text

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body


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

        return [build.compute("variance", reduction.spatial, element, fill)]

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

    def decompose(self, parts: Parts) -> SSAValue:
        """The mean, the variance, and its square root."""
        (x,) = parts.operands
        axes, keepdims = self.reduced_axes(parts.rank(x)), bool(self.keepdims.value.data)
        mean = parts.op("mean", x, axis=axes, keepdims=True)
        unbiased = bool(self.unbiased.value.data)
        return parts.op("sqrt", parts.op("variance", x, mean, axis=axes, keepdims=keepdims, unbiased=unbiased))

    def evaluate(self, data: Array) -> Array:
        """Calls `np.std` in double precision."""
        ddof = int(bool(self.unbiased.value.data))
        return self.reduced_by(np.std, data.astype(np.float64), ddof=ddof).astype(data.dtype)
