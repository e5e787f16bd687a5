"""`relay.concatenate` and `relay.split`: concatenation along an axis and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final, cast

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, IntegerType, TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xrelay.dialects.relay.core.attribute_values import IntArrayAttr
from xrelay.dialects.relay.core.constraints import numbers
from xrelay.dialects.relay.op_definition import (
    AnyTensorType,
    Array,
    AxisOf,
    Body,
    Dim,
    Divides,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    Quantization,
    RelayOp,
    Shape,
    TopiBuilder,
    axis_index,
    int_array,
    int_attribute,
    int_property,
    ints,
    known_shape,
    letter_of_axis,
    not_differentiable,
    register_relay_op,
    require_axis,
    shape_of,
    tensor_type,
)
from xrelay.index_algebra.dims import merge_dims

_MAX_PARTS: Final = 2**16


class ConcatenatingOp(RelayOp):
    """Base of the ops that concatenate the tensors of a tuple; `concatenate` documents C1 to C4."""

    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    axis = int_property(0)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with the sum of the extents along `axis`; checks C1 to C4."""
        tuple_type = facts[0]
        if not isinstance(tuple_type, TupleType) or not tuple_type.types.data:
            facts.require(False, "C1", f"the operand must be a tuple of tensors, found {tuple_type}")
            return tuple_type
        parts = Facts(self.name, tuple_type.types.data)
        fields = [parts.operand(index, "C1") for index in range(len(parts))]
        result, element = fields[0]
        axis = require_axis(self, self.axis.value.data, len(result), "C2")
        for index, (shape, found) in enumerate(fields[1:], start=1):
            result = self._joined(facts, result, shape, axis, index)
            if found != element:
                facts.require(False, "C4", f"element types {element} of field 0 and {found} of field {index}")
        return tensor_type(result, element)

    def _joined(self, facts: Facts, result: Shape, shape: Shape, axis: int, index: int) -> Shape:
        facts.require(len(shape) == len(result), "C3", f"field {index} has rank {len(shape)}, field 0 {len(result)}")
        joined: list[Dim] = []
        for position, (left, right) in enumerate(zip(result, shape, strict=True)):
            if position == axis:
                joined.append(left + right)
                continue
            message = f"field {index} has extent {right} along axis {position}, field 0 {left}"
            facts.require_equal(left, right, "C3", f"extents along axis {position} of the fields", message=message)
            # Extents that certainly differ are rejected above.
            merged = merge_dims(left, right)
            joined.append(left if merged is None else merged)
        return tuple(joined)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the fields if blocks of a split axis are full."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        letter = letter_of_axis(layout, self.axis.value.data)
        tuple_type = self.data.type
        factor = layout.factor(letter)
        if factor is not None and isinstance(tuple_type, TupleType):
            for field in tuple_type.types:
                shape = shape_of(field)
                # A field that is already in blocks has full blocks.
                if len(shape) == len(layout.primal) and shape[self.axis.value.data] % factor != 0:
                    return LayoutRefusal(f"blocks of {factor} do not divide a field of shape {list(map(str, shape))}")
        return LayoutDecision((layout,), layout, {"axis": int_attribute(layout.index(letter))})


@register_relay_op
@irdl_op_definition
class ConcatenateOp(ConcatenatingOp):
    """The tensors of a tuple concatenated along `axis`.

    Constraints:
    - C1: the operand is a tuple of at least one tensor.
    - C2: `axis` is an axis of the tensors.
    - C3: they have the same rank, and the same extents except along `axis`.
    - C4: they have the same element type.

    Example:
    ```mlir
    %y = relay.concatenate(%t) {axis = 1} : (tuple<tensor<1x64x8x8xf32>, tensor<1x32x8x8xf32>>) -> tensor<1x96x8x8xf32>
    ```

    """

    name = "relay.concatenate"
    QUANTIZATION = Quantization.JOIN

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the concatenated elements of the fields if these are vectors."""
        tuple_type = facts[0]
        fields = tuple_type.types.data if isinstance(tuple_type, TupleType) else ()
        vectors = all((shape := known_shape(field)) is not None and len(shape) == 1 for field in fields)
        return facts.elements(0) if vectors else None

    def evaluate(self, data: tuple[Array, ...]) -> Array:
        """Calls numpy."""
        return np.concatenate(data, axis=self.axis.value.data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the field that contains the element, selected by a binary tree of guards."""
        fields, shape, element = build.operands_of_tuple(0), build.result_shape, build.result_type.element_type
        axis = self.axis.value.data % len(shape)
        starts: list[Dim] = [0, *accumulate(build.shape(field)[axis] for field in fields[:-1])]

        def fill(b: Body) -> SSAValue:
            def read(index: int) -> SSAValue:
                at = list(b.spatial)
                at[axis] = at[axis] - b.expr(starts[index])
                return b.read(fields[index], *at)

            def choose(first: int, end: int) -> SSAValue:
                if end - first == 1:
                    return read(first)
                middle = (first + end) // 2
                below = b.in_bounds([b.spatial[axis]], [starts[middle]])
                return b.guard(below, element, lambda: choose(first, middle), lambda: choose(middle, end))

            return choose(0, len(fields))

        return [build.compute("concatenate", shape, element, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient split at the bounds of the fields."""
        axis = axis_index(self.axis.value.data, len(build.shape(of)))
        fields = self.data.type.types.data if isinstance(self.data.type, TupleType) else ()
        extents = [shape_of(field)[axis] for field in fields[:-1]]
        known = [extent for extent in extents if isinstance(extent, int)]
        if len(known) != len(extents):
            raise not_differentiable(self, f"the extents of its parts along axis {axis} are known only at run time")
        return [build.op("split", of, indices_or_sections=list(accumulate(known)), axis=axis)]


@register_relay_op
@irdl_op_definition
class SplitOp(RelayOp):
    """A tensor split along `axis` into the fields of a tuple.

    `indices_or_sections` is the number of equal parts, or the array of indices to split at: `[2, 5]` results in the
    parts from 0 to 2, from 2 to 5, and from 5 to the end.

    Constraints:
    - C3: indices ascend and are between 0 and the extent.
    - C4: there are at most 65536 parts.

    Example:
    ```mlir
    %t = relay.split(%x) {indices_or_sections = 2, axis = 1}
        : (tensor<1x6xf32>) -> tuple<tensor<1x3xf32>, tensor<1x3xf32>>
    ```

    """

    name = "relay.split"
    QUANTIZATION = Quantization.MOVEMENT
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": AxisOf(), "C2": Divides("indices_or_sections")}

    data = operand_def()

    indices_or_sections = prop_def(IntArrayAttr | IntegerAttr[IntegerType])
    axis = int_property(0)

    @property
    def field_count(self) -> int:
        """The number of parts, for any operand type."""
        cut = self.indices_or_sections
        return cut.value.data if isinstance(cut, IntegerAttr) else len(ints(cut)) + 1

    def bounds(self, extent: Dim) -> tuple[Dim, ...]:
        """Returns the bounds of the parts: n + 1 indices for n parts."""
        cut = self.indices_or_sections
        if isinstance(cut, IntegerAttr):
            sections = cut.value.data
            part = extent // sections
            return tuple(part * index for index in range(sections + 1))
        return (0, *ints(cut), extent)

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the elements of a vector, whose parts are consecutive."""
        return facts.elements(0) if len(facts.shape(0)) == 1 else None

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the tuple of the parts' types; checks C3 and C4."""
        shape, element = facts.operand(0)
        many = f"{self.field_count} parts exceed the limit of {_MAX_PARTS}"
        facts.require(self.field_count <= _MAX_PARTS, "C4", many)
        axis, parts = axis_index(self.axis.value.data, len(shape)), list[AnyTensorType]()
        message = f"indices {list(numbers(self.indices_or_sections))} do not ascend from 0 to {shape[axis]}"
        for begin, end in pairwise(self.bounds(shape[axis])):
            facts.require_at_least(end, begin, "C3", "an index and the one before it", message=message)
            parts.append(tensor_type((*shape[:axis], end - begin, *shape[axis + 1 :]), element))
        return TupleType(tuple(parts))

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if every part consists of full blocks."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        letter = letter_of_axis(layout, self.axis.value.data)
        properties: dict[str, Attribute] = {"axis": int_attribute(layout.index(letter))}
        factor = layout.factor(letter)
        if factor is not None:
            places = self.bounds(shape_of(self.data.type)[self.axis.value.data])
            if any(place % factor != 0 for place in places):
                return LayoutRefusal(f"blocks of {factor} do not divide the parts cut at {', '.join(map(str, places))}")
            if not isinstance(self.indices_or_sections, IntegerAttr):
                cuts = [place // factor for place in ints(self.indices_or_sections)]
                properties["indices_or_sections"] = int_array(cuts)
        return LayoutDecision((layout,), layout, properties)

    def evaluate(self, data: Array) -> tuple[Array, ...]:
        """Calls numpy."""
        axis = self.axis.value.data
        bounds = cast("tuple[int, ...]", self.bounds(data.shape[axis]))
        return tuple(np.split(data, bounds[1:-1], axis=axis))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds a compute for each part, which reads from the part's first index."""
        data = build.operand(0)
        axis = self.axis.value.data % len(build.shape(data))
        shapes = [build.extents(field) for field in range(len(build.result_types))]
        starts: list[Dim] = [0, *accumulate(shape[axis] for shape in shapes[:-1])]

        def part(shape: Shape, start: Dim) -> SSAValue:
            def fill(b: Body) -> SSAValue:
                at = list(b.spatial)
                at[axis] = at[axis] + b.expr(start)
                return b.read(data, *at)

            return build.compute("split", shape, build.element(data), fill)

        return [part(shape, start) for shape, start in zip(shapes, starts, strict=True)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the concatenated gradients of the parts."""
        return [build.op("concatenate", of, axis=self.axis.value.data)]
