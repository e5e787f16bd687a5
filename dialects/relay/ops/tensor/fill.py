"""Tensors of one value, evenly spaced numbers, and `relay.stack`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, TupleType, f32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.op_definition import (
    AnyDim,
    Array,
    AtLeast,
    Body,
    Dim,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    SameElements,
    TopiBuilder,
    axis_index,
    cast_once,
    element_type_of,
    int_property,
    ints,
    known_shape,
    no_gradients,
    numpy_dtype,
    register_relay_op,
    require_axis,
    required_ints_property,
    tensor_type,
)
from xrelay.dialects.relay.structure.tuples import field_count
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import is_nonnegative


class FillOp(RelayOp):
    """Base of the ops that fill a tensor with a scalar, the last operand."""

    PATTERN = OpPatternKind.ELEM_WISE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Fills with the scalar, converted to the element type of the result."""
        return [build.filled(build.operand(len(self.operands) - 1))]


class ConstantFillOp(RelayOp):
    """Base of the ops that fill a tensor with one number."""

    PATTERN = OpPatternKind.ELEM_WISE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    NUMBER: ClassVar[int]

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Fills with the number."""
        number, element = self.NUMBER, build.result_type.element_type
        return [build.compute("constant_like", build.result_shape, element, lambda b: b.constant(number, element))]

    gradient = no_gradients


@register_relay_op
@irdl_op_definition
class FullOp(FillOp):
    """A tensor of `shape` filled with the scalar `fill_value`, with its element type or `dtype`.

    Example:
    ```mlir
    %y = relay.full(%x) {shape = [2, 3]} : (tensor<f32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.full"
    CONSTRAINTS = {"C1": RankOf(0, 0, 0), "C2": AtLeast("shape", 0)}
    RESULT_ELEMENT = "dtype"

    fill_value = operand_def()

    shape = required_ints_property()
    dtype = opt_prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns `shape` with the element type."""
        return tensor_type(ints(self.shape), self.element_type_property(self.dtype, facts.element(0), "C0"))

    def evaluate(self, fill_value: Array) -> Array:
        """Fills an array."""
        dtype = fill_value.dtype if self.dtype is None else numpy_dtype(self.dtype)
        return np.full(ints(self.shape), cast_once(fill_value, dtype), dtype)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum of the gradient."""
        return [build.cast_like(build.op("sum", of), self.fill_value)]


@register_relay_op
@irdl_op_definition
class FullLikeOp(FillOp):
    """A tensor of the type of `data` filled with the scalar `fill_value`, converted to its element type.

    Example:
    ```mlir
    %y = relay.full_like(%x, %v) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.full_like"
    CONSTRAINTS = {"C1": RankOf(1, 0, 0)}

    data = operand_def()
    fill_value = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts.tensor(0)

    def evaluate(self, data: Array, fill_value: Array) -> Array:
        """Fills an array."""
        return np.full(data.shape, cast_once(fill_value, data.dtype), data.dtype)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum of the gradient for the scalar, None for the data."""
        return [None, build.cast_like(build.op("sum", of), self.fill_value)]


class ConstantLikeOp(ConstantFillOp):
    """Base of the ops that fill a tensor of the type of `data` with one number."""

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts.tensor(0)

    def evaluate(self, data: Array) -> Array:
        """Fills an array."""
        return np.full(data.shape, self.NUMBER, data.dtype)


@register_relay_op
@irdl_op_definition
class ZerosLikeOp(ConstantLikeOp):
    """A tensor of zeros with the type of `data`.

    Example:
    ```mlir
    %y = relay.zeros_like(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.zeros_like"
    NUMBER = 0


@register_relay_op
@irdl_op_definition
class OnesLikeOp(ConstantLikeOp):
    """A tensor of ones with the type of `data`.

    Example:
    ```mlir
    %y = relay.ones_like(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    """

    name = "relay.ones_like"
    NUMBER = 1


class ConstantOfShapeOp(ConstantFillOp):
    """Base of the ops that fill a tensor of a given type with one number."""

    CONSTRAINTS = {"C1": AtLeast("shape", 0)}
    RESULT_ELEMENT = "dtype"

    shape = required_ints_property()
    dtype = opt_prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns `shape` with the element type; checks C2."""
        return tensor_type(ints(self.shape), self.element_type_property(self.dtype, f32, "C2"))

    def evaluate(self) -> Array:
        """Fills an array."""
        return np.full(ints(self.shape), self.NUMBER, numpy_dtype(element_type_of(self.result.type)))


@register_relay_op
@irdl_op_definition
class ZerosOp(ConstantOfShapeOp):
    """A tensor of zeros with shape `shape` and element type `dtype`, by default f32.

    Constraints:
    - C2: `dtype` is an element type.

    Example:
    ```mlir
    %y = relay.zeros() {shape = [2, 3], dtype = i32} : () -> tensor<2x3xi32>
    ```

    """

    name = "relay.zeros"
    NUMBER = 0


@register_relay_op
@irdl_op_definition
class OnesOp(ConstantOfShapeOp):
    """A tensor of ones with shape `shape` and element type `dtype`, by default f32.

    Constraints:
    - C2: `dtype` is an element type.

    Example:
    ```mlir
    %y = relay.ones() {shape = [2, 3]} : () -> tensor<2x3xf32>
    ```

    """

    name = "relay.ones"
    NUMBER = 1


@register_relay_op
@irdl_op_definition
class StackOp(RelayOp):
    """The fields of a tuple, which have the same type, joined along a new axis `axis` of the result.

    Constraints:
    - C1: the operand is a tuple of at least one tensor.
    - C2: `axis` is an axis of the result.
    - C3: the fields have the same shape and element type.

    Example:
    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tuple<tensor<4x8xf32>, tensor<4x8xf32>>
    %y = relay.stack(%t) {axis = 1} : (tuple<tensor<4x8xf32>, tensor<4x8xf32>>) -> tensor<4x2x8xf32>
    ```

    """

    name = "relay.stack"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    axis = int_property(0)

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the fields' elements if these are scalars or vectors, interleaved if the new axis is last."""
        elements, type = facts.elements(0), facts[0]
        fields = [known_shape(field) for field in type.types] if isinstance(type, TupleType) else []
        if elements is None or any(shape is None or len(shape) > 1 for shape in fields):
            return None
        if axis_index(self.axis.value.data, len(fields[0] or ()) + 1) == 0:
            return elements
        count = len(elements) // len(fields)
        return tuple(element for place in range(count) for element in elements[place::count])

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the fields' shape with one more axis; checks C1 to C3."""
        type = facts[0]
        fields = list(type.types) if isinstance(type, TupleType) else []
        facts.require(bool(fields), "C1", lambda: f"the operand must be a tuple of tensors, found {type}")
        parts = Facts(self.name, fields)
        shape, element = parts.operand(0, "C1")
        for index in range(1, len(fields)):
            other, found = parts.operand(index, "C1")
            message = f"field {index} is {fields[index]}, field 0 {fields[0]}"
            facts.require(found == element and len(other) == len(shape), "C3", message)
            for first, extent in zip(shape, other, strict=True):
                facts.require_equal(first, extent, "C3", "extents of the fields", message=message)
        axis = require_axis(self, self.axis.value.data, len(shape) + 1, "C2")
        return tensor_type((*shape[:axis], len(fields), *shape[axis:]), element)

    def evaluate(self, data: tuple[Array, ...]) -> Array:
        """Stacks the fields."""
        return np.stack(data, self.axis.value.data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the field at the index along the new axis, selected by a binary tree of guards."""
        parts, shape = build.operands_of_tuple(0), build.result_shape
        axis, element = self.axis.value.data % len(shape), build.element(parts[0])

        def read(b: Body) -> SSAValue:
            others = [index for position, index in enumerate(b.spatial) if position != axis]

            def choose(first: int, end: int) -> SSAValue:
                if end - first == 1:
                    return b.read(parts[first], *others)
                middle = (first + end) // 2
                below = b.in_bounds([b.spatial[axis]], [middle])
                return b.guard(below, element, lambda: choose(first, middle), lambda: choose(middle, end))

            return choose(0, len(parts))

        return [build.compute("stack", shape, element, read)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the slices of the gradient."""
        count, axis = field_count(self.data) or 0, axis_index(self.axis.value.data, len(build.shape(of)))
        parts = build.op("split", of, indices_or_sections=count, axis=axis)
        return [build.tuple(*(build.op("squeeze", build.item(parts, n), axis=[axis]) for n in range(count)))]


MAX_ELEMENTS = 64
"""The greatest number of elements that are inferred."""


@register_relay_op
@irdl_op_definition
class ArangeOp(RelayOp):
    """The `max(ceil((stop - start) / step), 0)` numbers `start + i * step` for i from 0.

    Their number is known if start, stop and step are known integers, or if step is 1 and `stop - start` is a known
    extent that is not negative.

    Constraints:
    - C2: start, stop and step have rank 0 and are not booleans.
    - C3: `step` is not 0.

    Example:
    ```mlir
    %y = relay.arange(%start, %stop, %step) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    ```

    """

    name = "relay.arange"
    CONSTRAINTS = {"C1": SameElements()}
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER

    start = operand_def()
    stop = operand_def()
    step = operand_def()

    @property
    def shape_depends_on_data(self) -> bool:
        """The shape depends on the values of the operands."""
        return True

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the numbers if they are known and few."""
        bounds, count = _bounds(facts), _count(facts)
        if bounds is None or not isinstance(count, int) or count > MAX_ELEMENTS:
            return None
        return tuple(bounds[0] + place * bounds[2] for place in range(count))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a vector type, with a new extent if the number of elements is not known; checks C2 and C3."""
        element = facts.element(0)
        numbers = isinstance(element, AnyFloat) or (isinstance(element, IntegerType) and element.width.data > 1)
        scalars = all(facts.shape(index) == () for index in range(3))
        facts.require(
            numbers and scalars, "C2", lambda: f"three numbers are expected, found {', '.join(map(str, facts))}"
        )
        count = _count(facts)
        return tensor_type((facts.new_extent("r") if count is None else count,), element)

    def evaluate(self, start: Array, stop: Array, step: Array) -> Array:
        """Computes the number of elements exactly for integers, and in double precision for floats."""
        first, last, by = (bound.item() for bound in (start, stop, step))
        if by == 0 or not all(math.isfinite(bound) for bound in (first, last, by)):
            raise InterpreterError(f"from {first} to {last} by {by} the number of elements is undefined")
        count = -((first - last) // by) if start.dtype.kind in "iu" else math.ceil((last - first) / by)
        places: Array = np.arange(max(int(count), 0), dtype=np.int64).astype(start.dtype)
        return np.asarray(start + places * step, start.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Computes the start plus the index times the step."""
        from xrelay.dialects.upstream.arith_extras import IndexCastOp

        start, _, step = (build.operand(index) for index in range(3))
        element = build.result_type.element_type

        def fill(b: Body) -> SSAValue:
            place = b.convert(b.add(IndexCastOp(b.index(b.spatial[0]), i64)), element)
            return b.plus(b.read(start), b.times(place, b.read(step)))

        return [build.compute("arange", build.result_shape, element, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum of the gradient for the start, weighted by index for the step, and None for the end."""
        places = build.op("cumsum", build.ones_like(of), axis=0, exclusive=True)
        start, step = build.op("sum", of), build.op("sum", build.op("multiply", of, places))
        return [build.cast_like(start, self.start), None, build.cast_like(step, self.step)]


def _bounds(facts: Facts) -> tuple[Dim, Dim, Dim] | None:
    """Returns the known elements start, stop and step; None if any of them is not known."""
    known = [elements[0] for index in range(3) if (elements := facts.elements(index)) and len(elements) == 1]
    return (known[0], known[1], known[2]) if len(known) == 3 else None


def _count(facts: Facts) -> Dim | None:
    """Returns the number of elements, None if it is not known; checks C3."""
    bounds = _bounds(facts)
    if bounds is None:
        return None
    start, stop, step = bounds
    facts.require(step != 0, "C3", "the step is 0")
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return max(-((start - stop) // step), 0)
    if step != 1 or isinstance(start, AnyDim) or isinstance(stop, AnyDim):
        return None
    count = stop - start
    return count if is_nonnegative(count) else None
