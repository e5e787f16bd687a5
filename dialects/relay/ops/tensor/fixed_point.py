"""Products of integers and factors with 31 fraction bits: `relay.fixed_point_multiply` and its variant per axis.

A factor is an integer times a power of two. So a product is one 64-bit multiplication, one addition that determines the
rounding of halves, and one shift.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import ElementsIn
from xrelay.dialects.relay.op_definition import (
    Array,
    AxisOf,
    Facts,
    MixedPrecision,
    OpPatternKind,
    axis_index,
    bool_property,
    int_property,
    ints,
    register_relay_op,
    required_ints_property,
)
from xrelay.dialects.relay.ops.tensor.elementwise import UnaryElementwiseOp
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder

PLACES = 31
"""The number of fractional bits of a factor with exponent 0."""

MAX_PLACES = 62
"""The maximum number of places. With more, a product of 62 bits is less than a half, which rounds to 0."""

_INT32 = np.dtype(np.int32)


@register_relay_op
@irdl_op_definition
class FixedPointMultiplyOp(UnaryElementwiseOp, CompositeOp):
    """`x * multiplier * 2 ** (shift - 31)`, rounded to the nearest integer, halves up, and saturated.

    `multiplier` has 31 fraction bits, so `multiplier = 2 ** 30` and `shift = 1` return x.

    Constraints:
    - C2: `multiplier` is an integer of 32 bits, `shift` is between -31 and 31.

    Example:
    ```mlir
    %y = relay.fixed_point_multiply(%x) {multiplier = 1288490189, shift = 2} : (tensor<4xi32>) -> tensor<4xi32>
    ```

    """

    name = "relay.fixed_point_multiply"
    MIXED_PRECISION = MixedPrecision.NEVER
    CONSTRAINTS = {"C1": ElementsIn((0,), (i32,))}

    multiplier = int_property()
    shift = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type; checks C2."""
        multiplier, shift = self.multiplier.value.data, self.shift.value.data
        facts.require(
            -(1 << 31) <= multiplier < 1 << 31 and PLACES - MAX_PLACES <= shift <= PLACES,
            "C2",
            f"multiplier must be an integer of 32 bits and shift be between -31 and 31, found {multiplier} and {shift}",
        )
        return super().infer_type(facts)

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A 64-bit product, shifted right."""
        (x,) = build.operands
        product = build.op("multiply", build.op("cast", x, dtype="int64"), self.multiplier.value.data)
        places = PLACES - self.shift.value.data
        if places:
            product = build.op("right_shift", build.op("add", product, 1 << (places - 1)), places)
        return saturated(build, product, _INT32)

    def evaluate(self, x: Array) -> Array:
        """Shifts the 64-bit product right."""
        from xrelay.dialects.relay.meaning import fixed_point

        product = x.astype(np.int64) * self.multiplier.value.data
        return fixed_point.saturated(fixed_point.divided(product, np.int64(31 - self.shift.value.data)), _INT32)


@register_relay_op
@irdl_op_definition
class FixedPointMultiplyPerAxisOp(CompositeOp):
    """`x * m * 2 ** (lshift - rshift - 31)`, rounded to the nearest integer, halves up, and saturated.

    `m`, `lshift` and `rshift` have an element for each index along `axes` of x, or for each combination of indices if
    there are several axes. If `is_lshift_required` or `is_rshift_required` is false, that shift counts as 0. If the
    difference of the shifts is less than -31, the result is 0.

    Constraints:
    - C3: `m`, `lshift` and `rshift` have the extents of the axes `axes`.

    Example:
    ```mlir
    %y = relay.fixed_point_multiply_per_axis(%x, %m, %l, %r) {is_lshift_required = true, axes = [1]}
        : (tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
    ```

    """

    name = "relay.fixed_point_multiply_per_axis"
    PATTERN = OpPatternKind.BROADCAST
    MIXED_PRECISION = MixedPrecision.NEVER
    CONSTRAINTS = {"C1": ElementsIn((0, 1, 2, 3), (i32,)), "C2": AxisOf("axes")}

    x = operand_def()
    m = operand_def()
    lshift = operand_def()
    rshift = operand_def()

    is_lshift_required = bool_property(False)
    is_rshift_required = bool_property(False)
    axes = required_ints_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of x; checks C3."""
        data, axes = facts.shape(0), ints(self.axes)
        for index in range(1, 4):
            own = facts.shape(index)
            facts.require(len(own) == len(axes), "C3", f"operand #{index} has rank {len(own)}, axes are {list(axes)}")
            for extent, axis in zip(own, axes, strict=True):
                facts.require_equal(extent, data[axis], "C3", f"extents of operand #{index} and of axis {axis}:")
        return facts[0]

    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """A 64-bit product, shifted right, or left if the number of places is negative."""
        x, *factors = (build.op("cast", value, dtype="int64") for value in build.operands)
        m, lshift, rshift = (self._across(build, value, build.rank(x)) for value in factors)
        places = build.scalar(PLACES, m)
        if self.is_rshift_required.value.data:
            places = build.op("add", places, rshift)
        if self.is_lshift_required.value.data:
            places = build.op("subtract", places, lshift)
        m = build.op("where", build.op("greater", places, MAX_PLACES), build.scalar(0, m), m)
        whole = cut(
            build, build.op("multiply", x, m), build.op("clip", places, a_min=0.0, a_max=float(MAX_PLACES)), away=False
        )
        near = build.op("clip", whole, a_min=-(2.0**PLACES), a_max=2.0**PLACES)
        missing = build.op("clip", build.op("negative", places), a_min=0.0, a_max=float(PLACES))
        return saturated(build, build.op("left_shift", near, missing), _INT32)

    def evaluate(self, x: Array, m: Array, lshift: Array, rshift: Array) -> Array:
        """Like `fixed_point_multiply`, with the axes of the factors moved to the front of x."""
        from xrelay.dialects.relay.meaning import fixed_point

        axes = ints(self.axes)
        first = np.moveaxis(x, axes, range(len(axes))).astype(np.int64)
        behind = (...,) + (None,) * (x.ndim - len(axes))
        left = lshift.astype(np.int64) if self.is_lshift_required.value.data else np.zeros_like(lshift, np.int64)
        right = rshift.astype(np.int64) if self.is_rshift_required.value.data else np.zeros_like(rshift, np.int64)
        places = (31 + right - left)[behind]
        product = first * m.astype(np.int64)[behind]
        small = np.where(places > 62, 0, fixed_point.divided(product, np.clip(places, 0, 62)))
        # Clipping is exact: numbers beyond 32 bits are saturated after the shift anyway.
        large = np.clip(product, -(1 << 31), 1 << 31) * (np.int64(1) << np.clip(-places, 0, 31))
        result = fixed_point.saturated(np.where(places < 0, large, small), _INT32)
        return np.moveaxis(result, range(len(axes)), axes)

    def _across(self, build: DecompositionBuilder, factor: SSAValue, rank: int) -> SSAValue:
        """Returns `factor` with its axes in the order and positions of those of x, so that it broadcasts."""
        axes = [axis_index(axis, rank) for axis in ints(self.axes)]
        order = sorted(range(len(axes)), key=axes.__getitem__)
        ordered = build.op("transpose", factor, axes=order) if order != list(range(len(axes))) else factor
        for axis in range(rank - 1, min(axes, default=rank), -1):
            if axis not in axes:
                ordered = build.op("expand_dims", ordered, axis=sum(each < axis for each in axes))
        return ordered


def cut(build: DecompositionBuilder, product: SSAValue, places: SSAValue, *, away: bool) -> SSAValue:
    """Returns `product`, an i64 of 62 bits, divided by 2 to the power `places`, rounded to the nearest integer.

    Halves are rounded up, or `away` from zero. `places` is between 0 and 62, and broadcasts.
    """
    # For 0 places the shift by -1 yields 0.
    half = build.op("left_shift", build.scalar(1, places), build.op("subtract", places, 1))
    if away:
        less = build.op("subtract", half, build.op("minimum", places, 1))
        half = build.op("where", build.op("less", product, 0), less, half)
    return build.op("right_shift", build.op("add", product, half), places)


def saturated(build: DecompositionBuilder, value: SSAValue, dtype: np.dtype) -> SSAValue:
    """Returns `value`, a tensor of wider integers or integral floats, clamped and cast to an integer type."""
    limits = np.iinfo(dtype)
    return build.op("cast", build.op("clip", value, a_min=float(limits.min), a_max=float(limits.max)), dtype=dtype)
