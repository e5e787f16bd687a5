"""Sorting and search: `relay.sort`, `relay.argsort`, `relay.topk`, `relay.dyn.topk` and `relay.searchsorted`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import IntegerType, TupleType, f32, f64, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.core.along_axis import follow_along_axis
from xrelay.dialects.relay.op_definition import (
    ANY,
    Array,
    AxisOf,
    Body,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    IndexLike,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    Quantization,
    RankOf,
    RelayOp,
    SameElements,
    Shape,
    Tensors,
    TopiBuilder,
    bool_property,
    int_property,
    no_gradients,
    numpy_dtype,
    register_relay_op,
    shape_of,
    string_attribute,
    string_property,
    tensor_type,
)
from xrelay.errors import InterpreterError

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr

    from xrelay.dialects.topi import SortOp as TopiSortOp


RET_TYPES = ("both", "values", "indices")
"""The values of `ret_type` of `topk`."""

PLACE_TYPES = (i32, i64, f32, f64)
"""The element types that indices may have."""


class OrderOp(RelayOp):
    """Base of the ops that sort along an axis.

    Ascending and descending sorts are stable. 0.0 and -0.0 are equal, and NaN is greater than all numbers. (Relay does
    not specify NaN and the order of equal elements; numpy's sorts and onnxruntime's TopK behave as here.)
    """

    CONSTRAINTS = {"C1": AxisOf("axis")}
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()
    axis = int_property(-1)
    is_ascend = bool_property(True)

    @property
    def ascends(self) -> bool:
        """Whether the sort is ascending."""
        return bool(self.is_ascend.value.data)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if it does not split the axis; both fields of a tuple have it."""
        return follow_along_axis(self.name, self.axis.value.data, layouts)

    def index_type(self, facts: Facts, dtype: Attribute | None, constraint: str) -> Attribute:
        """Returns the element type of indices along the axis: `dtype`, or i32 by default."""
        element = self.element_type_property(dtype, i32, constraint)
        message = f"indices along an axis must be i32, i64, f32 or f64, not {element}"
        facts.require(element in PLACE_TYPES, constraint, message)
        return element

    def order(self, data: Array) -> Array:
        """Returns the indices that sort an array."""
        from xrelay.dialects.shared.numerics import stable_order

        return stable_order(data, self.axis.value.data, descending=not self.ascends)

    def sorted_first(self, build: TopiBuilder, count: Dim | None = None) -> TopiSortOp:
        """Builds a sort along the axis that keeps the first `count` elements, or all."""
        from xrelay.dialects.topi import SortOp as TopiSortOp

        data = build.operand(0)
        axis = self.axis.value.data % len(build.shape(data))
        return build.insert(TopiSortOp(data, axis, descending=not self.ascends, count=count))

    def scattered(self, places: SSAValue, values: SSAValue, build: GradientBuilder) -> SSAValue:
        """Returns the gradient of the data: `values` at the indices `places` along the axis, else 0."""
        zeros, axis = build.zeros_like(self.data), self.axis.value.data
        return build.op("scatter_elements", zeros, places, values, axis=axis, reduction="update")


@register_relay_op
class SortOp(OrderOp):
    """The elements sorted along `axis`, ascending unless `is_ascend` is false.

    The sort is stable, 0.0 and -0.0 are equal, and NaN is greater than all numbers.

    Example:
    ```mlir
    %y = relay.sort(%x) {axis = 0, is_ascend = false} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.sort"
    QUANTIZATION = Quantization.CHOICE

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts.tensor(0)

    def evaluate(self, data: Array) -> Array:
        """Takes the elements in their order."""
        return np.take_along_axis(data, self.order(data), self.axis.value.data)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Returns the values of a sort."""
        return [self.sorted_first(build).values]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Moves the gradient of each element to its original index."""
        axis = self.axis.value.data
        places = build.op("argsort", self.data, axis=axis, is_ascend=self.ascends, dtype="int64")
        return [self.scattered(places, of, build)]


@register_relay_op
class ArgsortOp(OrderOp):
    """The indices that sort the data along `axis`, as i32 or `dtype`.

    The sort is stable, 0.0 and -0.0 are equal, and NaN is greater than all numbers.

    Constraints:
    - C2: `dtype` is i32, i64, f32 or f64.

    Example:
    ```mlir
    %i = relay.argsort(%x) : (tensor<4x8xf32>) -> tensor<4x8xi32>
    ```

    """

    name = "relay.argsort"

    # Redeclared to be first, as in Relay.
    axis = int_property(-1)
    is_ascend = bool_property(True)
    dtype = opt_prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the element type of indices; checks C2."""
        return tensor_type(facts.shape(0), self.index_type(facts, self.dtype, "C2"))

    def evaluate(self, data: Array) -> Array:
        """Returns the order of the elements."""
        return self.order(data).astype(self.result_dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Returns the indices of a sort."""
        return [build.converted("places", self.sorted_first(build).indices, build.result_type.element_type)]

    gradient = no_gradients


class FirstOp(OrderOp):
    """Base of the ops that sort along an axis and keep the first elements; `ret_type` selects the results."""

    CONSTRAINTS = {**OrderOp.CONSTRAINTS, "C3": OneOf("ret_type", RET_TYPES)}

    # Redeclared to be first, as in Relay.
    axis = int_property(-1)
    ret_type = string_property("both")
    is_ascend = bool_property(False)
    dtype = opt_prop_def()

    def kept_shape(self, facts: Facts) -> Shape:
        """Returns the data's shape with the number of elements kept along the axis; checks C2."""
        raise NotImplementedError(f"{self.name} does not define how many elements it keeps")

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the types of values and indices; checks C2 and C4."""
        shape, what = self.kept_shape(facts), self.ret_type.data
        values = tensor_type(shape, facts.element(0))
        indices = tensor_type(shape, self.index_type(facts, self.dtype, "C4"))
        return {"values": values, "indices": indices}.get(what, TupleType((values, indices)))

    def first(self, data: Array, count: int) -> Array | tuple[Array, Array]:
        """Returns the first `count` sorted elements, their indices, or both."""
        axis, dtype = self.axis.value.data, np.dtype(np.int32) if self.dtype is None else numpy_dtype(self.dtype)
        order = np.take(self.order(data), range(count), axis)
        values, indices = np.take_along_axis(data, order, axis), order.astype(dtype)
        return {"values": values, "indices": indices}.get(self.ret_type.data, (values, indices))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Returns the first values of a sort, their indices, or both."""
        axis = self.axis.value.data % len(build.shape(build.operand(0)))
        last = build.result_types[-1]
        op = self.sorted_first(build, shape_of(last)[axis])
        if self.ret_type.data == "values":
            return [op.values]
        indices = build.converted("places", op.indices, last.element_type)
        return [indices] if self.ret_type.data == "indices" else [op.values, indices]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Moves the gradient of each kept element to its original index; indices and `k` have no gradient."""
        without = [None] * (len(self.operands) - 1)
        if self.ret_type.data == "indices":
            return [None, *without]
        attributes = {**self.properties, "ret_type": string_attribute("indices"), "dtype": i64}
        places = build.op(self.relay_name(), *self.operands, **attributes)
        values = build.item(of, 0) if self.ret_type.data == "both" else of
        return [self.scattered(places, values, build), *without]


@register_relay_op
class TopKOp(FirstOp):
    """The first `k` elements sorted along `axis`, descending unless `is_ascend` is true, and their indices.

    A `k` less than 1 keeps all elements. `ret_type` selects the result: "both" in a tuple, "values" or "indices". The
    sort is stable, 0.0 and -0.0 are equal, and NaN is greater than all numbers.

    Constraints:
    - C2: `k` is at most the extent of the axis.
    - C4: `dtype` is i32, i64, f32 or f64.

    Example:
    ```mlir
    %t = relay.topk(%x) {k = 3} : (tensor<4x8xf32>) -> tuple<tensor<4x3xf32>, tensor<4x3xi32>>
    ```

    """

    name = "relay.topk"
    QUANTIZATION = Quantization.CHOICE

    # Fields of a subclass come first, so those of the base are redeclared in Relay's order.
    k = int_property(1)
    axis = int_property(-1)
    ret_type = string_property("both")
    is_ascend = bool_property(False)
    dtype = opt_prop_def()

    def kept_shape(self, facts: Facts) -> Shape:
        """Returns the data's shape with the number of elements kept along the axis; checks C2."""
        shape, k = facts.shape(0), self.k.value.data
        axis = self.axis.value.data % len(shape)
        if k < 1:
            return shape
        extent = shape[axis]
        message = f"k is {k}, the axis has {extent} elements"
        facts.require_at_least(extent, k, "C2", "elements of the axis, and k", message=message)
        return (*shape[:axis], k, *shape[axis + 1 :])

    def evaluate(self, data: Array) -> Array | tuple[Array, Array]:
        """Sorts all elements and keeps the first."""
        k = self.k.value.data
        return self.first(data, k if k >= 1 else data.shape[self.axis.value.data])


@register_relay_op
class DynTopKOp(FirstOp):
    """`relay.topk` with `k` as an operand, from 0 to the extent of the axis.

    Constraints:
    - C2: `k` is one integer, not negative and at most the extent of the axis.
    - C4: `dtype` is i32, i64, f32 or f64.

    Example:
    ```mlir
    %t = relay.dyn.topk(%x, %k) : (tensor<4x8xf32>, tensor<1xi64>) -> tuple<tensor<4x?xf32>, tensor<4x?xi32>>
    ```

    """

    name = "relay.dyn.topk"

    data = operand_def()
    k = operand_def()

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layout, because the op introduces an extent."""
        return LayoutRefusal(f"{self.name} computes an extent")

    @property
    def shape_depends_on_data(self) -> bool:
        """The shape depends on `k`."""
        return True

    def kept_shape(self, facts: Facts) -> Shape:
        """Returns the data's shape with k along the axis, a new extent if k is not known; checks C2."""
        shape, elements = facts.shape(0), facts.elements(1)
        one = facts.shape(1) in ((), (1,)) and isinstance(facts.element(1), IntegerType)
        facts.require(one, "C2", lambda: f"k must be one integer, found {facts[1]}")
        axis = self.axis.value.data % len(shape)
        extent = shape[axis]
        k = facts.new_extent("k", at_most=extent) if elements is None or ANY in elements else elements[0]
        if elements is not None and ANY not in elements:
            message = f"k is {k}, the axis has {extent} elements"
            facts.require_at_least(k, 0, "C2", "k", message=message)
            facts.require_at_least(extent, k, "C2", "elements of the axis, and k", message=message)
        return (*shape[:axis], k, *shape[axis + 1 :])

    def evaluate(self, data: Array, k: Array) -> Array | tuple[Array, Array]:
        """Sorts all elements and keeps the first, after a check of `k`."""
        extent = data.shape[self.axis.value.data]
        if not 0 <= k.item() <= extent:
            raise InterpreterError(f"[{self.name} C2] k is {k.item()}, the axis has {extent} elements")
        return self.first(data, int(k.item()))


@register_relay_op
class SearchsortedOp(RelayOp):
    """The index in an ascending row before which each of `values` can be inserted so that the row stays ascending.

    This is the first such index, or the last with `right`. The sorted sequence is a single row for all values, or has
    one row for each row of the values. NaN sorts after all numbers. The indices are i32, or `dtype`.

    Constraints:
    - C3: the sorted sequence has one axis, or as many axes as the values with equal extents except for the last.
    - C4: `dtype` is i32 or i64.

    Example:
    ```mlir
    %s = relay.sort(%r) : (tensor<4x9xf32>) -> tensor<4x9xf32>
    %i = relay.searchsorted(%s, %v) {right = true} : (tensor<4x9xf32>, tensor<4x3xf32>) -> tensor<4x3xi32>
    ```

    """

    name = "relay.searchsorted"
    CONSTRAINTS = {"C1": RankOf(0, 1), "C2": SameElements()}
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    sorted_sequence = operand_def()
    values = operand_def()

    right = bool_property(False)
    dtype = opt_prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of one index for each value; checks C3 and C4."""
        sequence, values = facts.shape(0), facts.shape(1)
        if len(sequence) != 1:
            message = f"the values {facts[1]} do not match the rows of {facts[0]}"
            facts.require_equal_shapes(
                sequence[:-1], values[:-1], "C3", "rows of the sequence and of the values", message
            )
        element = self.element_type_property(self.dtype, i32, "C4")
        facts.require(element in (i32, i64), "C4", lambda: f"indices must be i32 or i64, not {element}")
        return tensor_type(values, element)

    def evaluate(self, sorted_sequence: Array, values: Array) -> Array:
        """Searches row by row, floats in double precision."""
        side = "right" if self.right.value.data else "left"
        result = np.empty(values.shape, self.result_dtype)
        if values.dtype.kind not in "biu":
            sorted_sequence, values = sorted_sequence.astype(np.float64), values.astype(np.float64)
        if sorted_sequence.ndim == 1:
            result[...] = np.searchsorted(sorted_sequence, values, side)
            return result
        for row in np.ndindex(values.shape[:-1]):
            result[row] = np.searchsorted(sorted_sequence[row], values[row], side)
        return result

    def compute(self, build: TopiBuilder) -> Tensors:
        """Counts the elements before each value; with `right`, equal elements are included."""
        from xrelay.dialects.relay.computes.ordering import before, number_by_halving

        rows, values, right = build.operand(0), build.operand(1), bool(self.right.value.data)
        shape = build.shape(rows)

        def is_left(b: Body, place: AffineExpr) -> SSAValue:
            row: list[IndexLike] = [] if len(shape) == 1 else [*b.spatial[:-1]]
            value, found = b.read(values, *b.spatial), b.read(rows, *row, place)
            if not right:
                return before(b, found, value)
            return b.logical_xor(before(b, value, found), b.constant(1, i1))

        places = number_by_halving(build, "searchsorted", build.shape(values), shape[-1], is_left)
        return [build.converted("places", places, build.result_type.element_type)]

    gradient = no_gradients
