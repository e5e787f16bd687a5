"""`relay.cumsum` and `relay.cumprod`: cumulative sums and products along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.op_definition import (
    Array,
    AxisOf,
    Body,
    Facts,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    TopiBuilder,
    bool_property,
    cast_once,
    numpy_dtype,
    optional_int_property,
    product,
    register_relay_op,
    tensor_type,
)


class CumulativeOp(RelayOp):
    """Base of cumsum and cumprod (Relay's ScanopRel) along `axis`, or over the flattened data without it.

    The result has the element type `dtype`, by default the data's. With `exclusive` the element itself is excluded.
    """

    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {"C1": AxisOf()}
    FIRST: ClassVar[int]
    """The value before the first element: 0 for sums, 1 for products."""
    ON_ARRAYS: ClassVar[np.ufunc]
    """The function of the value so far and an element."""

    data = operand_def()

    axis = optional_int_property()
    dtype = opt_prop_def()
    exclusive = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape, or a vector of all elements without `axis`; checks C2."""
        shape, own = facts.operand(0)
        element = self.element_type_property(self.dtype, own, "C2")
        facts.require(element != i1, "C2", "arithmetic on booleans is not supported", help="set dtype")
        return tensor_type(shape if self.axis is not None else (product(shape),), element)

    def evaluate(self, data: Array) -> Array:
        """Accumulates element by element; 16-bit floats in f32."""
        from xrelay.dialects.relay.meaning.element_types import accumulator

        dtype = data.dtype if self.dtype is None else numpy_dtype(self.dtype)
        axis = self._axis
        wide = cast_once(data if self.axis is not None else data.reshape(-1), accumulator(dtype))
        first = np.full_like(wide, self.FIRST, shape=[*wide.shape[:axis], 1, *wide.shape[axis:][1:]])
        rows = np.concatenate([first, wide], axis)
        steps = self.ON_ARRAYS.accumulate(rows, axis, dtype=rows.dtype)
        count = wide.shape[axis]
        kept = range(count) if self.exclusive.value.data else range(1, count + 1)
        return cast_once(steps.take(kept, axis), dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds a scan along one axis, or over the flattened data without an axis."""
        from xrelay.dialects.topi.build import scan, variables

        data, element = build.operand(0), build.result_type.element_type
        shape, in_a_row = build.shape(data), self.axis is None
        axis = 0 if self.axis is None else self.axis.value.data % len(shape)

        def fill(b: Body) -> list[SSAValue]:
            at = list(b.spatial)
            if in_a_row:
                inside = [product(shape[position + 1 :]) for position in range(len(shape))]
                rows = zip(inside, shape, strict=True)
                at = [b.remainder(b.quotient(b.spatial[0], step), extent) for step, extent in rows]
            return [self.next_value(b, b.accumulators[0], b.convert(b.read(data, *at), element))]

        names, exclusive = variables("i", build.result_shape), bool(self.exclusive.value.data)
        op = scan(self.relay_name(), names, axis, [element], fill, [self.FIRST], exclusive=exclusive)
        return build.insert(op).results

    def next_value(self, b: Body, so_far: SSAValue, x: SSAValue) -> SSAValue:
        """Returns the cumulative value that includes `x`."""
        raise NotImplementedError(f"{self.name} does not define how values are accumulated")

    @property
    def _axis(self) -> int:
        return 0 if self.axis is None else self.axis.value.data

    def _from_end(self, value: SSAValue, build: GradientBuilder) -> SSAValue:
        """Returns the cumulative sums of `value` from the end."""
        turned = build.op("reverse", value, axis=self._axis)
        total = build.op("cumsum", turned, axis=self._axis, exclusive=self.exclusive.value.data)
        return build.op("reverse", total, axis=self._axis)


@register_relay_op
@irdl_op_definition
class CumsumOp(CumulativeOp):
    """The cumulative sum along `axis`, or of the flattened data without `axis`.

    The result has the element type `dtype`, by default the data's. With `exclusive` the element itself is excluded.

    Constraints:
    - C2: the elements of the result are not booleans.

    Example:
    ```mlir
    %y = relay.cumsum(%x) {axis = 1, exclusive = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.cumsum"
    FIRST = 0
    ON_ARRAYS = np.add

    def next_value(self, b: Body, so_far: SSAValue, x: SSAValue) -> SSAValue:
        """Returns the sum with `x`."""
        return b.plus(so_far, x)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the cumulative sums from the end."""
        total = self._from_end(of, build)
        return [build.cast_like(build.reshape_like(total, self.data), self.data)]


@register_relay_op
@irdl_op_definition
class CumprodOp(CumulativeOp):
    """The cumulative product along `axis`, or of the flattened data without `axis`.

    The result has the element type `dtype`, by default the data's. With `exclusive` the element itself is excluded.

    Constraints:
    - C2: the elements of the result are not booleans.

    Example:
    ```mlir
    %y = relay.cumprod(%x) {axis = 1, exclusive = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.cumprod"
    FIRST = 1
    ON_ARRAYS = np.multiply

    def next_value(self, b: Body, so_far: SSAValue, x: SSAValue) -> SSAValue:
        """Returns the product with `x`."""
        return b.times(so_far, x)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the cumulative sums from the end of gradient times product, divided by the element.

        This holds before the first zero. For the first zero, the products are those with a 1 instead of it. After it
        all derivatives are 0. This is exact for first derivatives.
        """
        data = build.reshape_like(build.cast_like(self.data, of), of)
        axis, exclusive = self._axis, self.exclusive.value.data
        is_zero = build.op("equal", data, 0)
        zeros = build.op("cumsum", build.op("cast", is_zero, dtype="int64"), axis=axis)
        before = build.op("equal", zeros, 0)
        first = build.op("logical_and", is_zero, build.op("equal", zeros, 1))
        ones, nothing = build.ones_like(data), build.zeros_like(data)
        without = build.op("cumprod", build.op("where", first, ones, data), axis=axis, exclusive=exclusive)
        own, others = (self._from_end(build.op("multiply", of, each), build) for each in (self.result, without))
        share = build.op("divide", own, build.op("where", before, data, ones))
        found = build.op("where", before, share, build.op("where", first, others, nothing))
        return [build.cast_like(build.reshape_like(found, self.data), self.data)]
