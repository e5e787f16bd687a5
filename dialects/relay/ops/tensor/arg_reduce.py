"""`relay.argmax` and `relay.argmin`: indices of the greatest and least elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.layout.rank_changes import positions
from xrelay.dialects.relay.op_definition import (
    Array,
    AxisOf,
    Body,
    Facts,
    Layout,
    LayoutAnswer,
    LayoutRefusal,
    MixedPrecision,
    TopiBuilder,
    bool_property,
    no_gradients,
    optional_ints_property,
    register_relay_op,
    tensor_type,
)
from xrelay.dialects.relay.ops.tensor.reduce import ReduceOp


class ArgReduceOp(ReduceOp):
    """Base of argmax and argmin: the i32 row-major index of an element over the reduced axes.

    Of several such elements the first is selected, or the last with `select_last_index`. NaN is preferred to all
    numbers.

    Constraints shared by all:
    - C2: there are elements to choose from.
    """

    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": AxisOf()}
    GREATEST: ClassVar[bool]
    """Whether the greatest element is selected, or the least."""

    # Fields of a subclass come first, so those of the base are redeclared in Relay's order.
    axis = optional_ints_property()
    keepdims = bool_property(False)
    exclude = bool_property(False)
    select_last_index = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the remaining extents with element type i32; checks C2."""
        shape = facts.shape(0)
        for axis in self.reduced_axes(len(shape)):
            message = f"axis {axis} has no elements to choose from"
            facts.require_at_least(shape[axis], 1, "C2", f"elements of axis {axis}", message=message)
        return tensor_type(self.result_shape(shape), i32)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Follows the layout of the data if it preserves the order of elements over the reduced axes."""
        layout = layouts[0]
        if layout is not None:
            letters = [layout.primal[axis] for axis in self.reduced_axes(len(layout.primal))]
            places = [place for letter in letters for place in positions(layout, letter)]
            if len(places) > len(letters) or places != sorted(places):
                return LayoutRefusal(f"{self.name} numbers elements in the order of the original axes")
        return super().propagate_layouts(layouts)

    def evaluate(self, data: Array) -> Array:
        """Returns the index of the first extreme element, or of the last: the first in reverse order."""
        axes = self.reduced_axes(data.ndim)
        kept = [axis for axis in range(data.ndim) if axis not in axes]
        count = prod(data.shape[axis] for axis in axes)
        rows = data.transpose([*kept, *axes]).reshape([*(data.shape[axis] for axis in kept), count])
        choose = np.argmax if self.GREATEST else np.argmin
        last = bool(self.select_last_index.value.data)
        found = count - 1 - choose(rows[..., ::-1], axis=-1) if last else choose(rows, axis=-1)
        shape = [1 if axis in axes else extent for axis, extent in enumerate(data.shape)]
        shape = shape if self.keepdims.value.data else [data.shape[axis] for axis in kept]
        return np.asarray(found, np.int32).reshape(shape)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds one fold of value and index, which reads memory once and is vectorised across other axes."""
        from xrelay.dialects.relay.computes.reduction import Reduction
        from xrelay.dialects.topi.build import compute, value_range

        data, reduction = build.operand(0), Reduction.of(build)
        element = build.element(data)
        least, most = value_range(element)

        def fill(b: Body) -> list[SSAValue]:
            value, index = b.read(data, *reduction.at(b)), reduction.number(b)
            if not reduction.axes:
                return [value, index]
            best, place = b.accumulators
            better = self._beats(b, value, best)
            return [b.select(better, value, best), b.select(better, index, place)]

        init = [least if self.GREATEST else most, 0] if reduction.axes else []
        op = compute(
            self.relay_name(), reduction.spatial_vars, [element, i32], fill, reduce=reduction.reduction_vars, init=init
        )
        return [build.insert(op).results[1]]

    def _beats(self, b: Body, value: SSAValue, best: SSAValue) -> SSAValue:
        """Returns whether `value` replaces `best`; NaN replaces all numbers."""
        from xdsl.dialects import arith

        or_equal = bool(self.select_last_index.value.data)
        sides = (value, best) if self.GREATEST else (best, value)
        beats = b.compare(sides[0], "ge" if or_equal else "gt", sides[1])
        if not isinstance(value.type, AnyFloat):
            return beats
        no_number = b.add(arith.CmpfOp(value, value, "uno"))
        if not or_equal:
            no_number = b.logical_and(no_number, b.add(arith.CmpfOp(best, best, "ord")))
        return b.logical_or(beats, no_number)

    gradient = no_gradients


@register_relay_op
@irdl_op_definition
class ArgmaxOp(ArgReduceOp):
    """The index of the greatest element over `axis`, as i32; several axes count as one.

    Of equal elements the first is selected, or the last with `select_last_index`. NaN counts as the greatest.

    Constraints:
    - C2: there are elements to choose from.

    Example:
    ```mlir
    %y = relay.argmax(%x) {axis = [1], select_last_index = true} : (tensor<4x8xf32>) -> tensor<4xi32>
    ```

    """

    name = "relay.argmax"
    GREATEST = True


@register_relay_op
@irdl_op_definition
class ArgminOp(ArgReduceOp):
    """The index of the least element over `axis`, as i32; several axes count as one.

    Of equal elements the first is selected, or the last with `select_last_index`. NaN counts as the least.

    Constraints:
    - C2: there are elements to choose from.

    Example:
    ```mlir
    %y = relay.argmin(%x) {axis = [0], keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xi32>
    ```

    """

    name = "relay.argmin"
    GREATEST = False
