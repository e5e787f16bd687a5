"""Conversion of elements: by value, and of their bits."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xrelay.dialects.relay.core.element_rules import converted
from xrelay.dialects.relay.op_definition import (
    Array,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    TopiBuilder,
    cast_once,
    numpy_dtype,
    register_relay_op,
    tensor_type,
)


@register_relay_op
@irdl_op_definition
class CastOp(RelayOp):
    """Each element converted to `dtype`. Floats are truncated to integers; booleans are `x != 0`.

    The integer for NaN, or for a float out of range, depends on the machine.

    Constraints:
    - C1: `dtype` is an element type.

    Example:
    ```mlir
    %y = relay.cast(%x) {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
    ```

    """

    name = "relay.cast"
    PATTERN = OpPatternKind.ELEM_WISE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()
    dtype = prop_def()

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the known integers converted to the new type."""
        return converted(facts, self.dtype)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's shape with the new element type; checks C1."""
        shape, element = facts.operand(0)
        return tensor_type(shape, self.element_type_property(self.dtype, element, "C1"))

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps any layout of the data."""
        return LayoutDecision((layouts[0],), layouts[0])

    def evaluate(self, data: Array) -> Array:
        """Converts with one rounding; numpy also truncates towards zero."""
        return cast_once(data, numpy_dtype(self.dtype))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Converts each element."""
        target = build.result_type.element_type
        return build.map_elements(build.label, lambda b, values: b.convert(values[0], target))

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient in the data's element type; rounding is ignored."""
        return [build.cast_like(of, self.data)]


@register_relay_op
@irdl_op_definition
class ReinterpretOp(RelayOp):
    """The bits of each element as an element of `dtype`: 1.0 in f32 is the integer 0x3F800000.

    Constraints:
    - C1: `dtype` is an element type.
    - C2: both element types have the same number of bits, and both or neither are boolean.

    Example:
    ```mlir
    %y = relay.reinterpret(%x) {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
    ```

    """

    name = "relay.reinterpret"
    PATTERN = OpPatternKind.ELEM_WISE
    MIXED_PRECISION = MixedPrecision.NEVER

    data = operand_def()
    dtype = prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's shape with the new element type; checks C1 and C2."""
        shape, element = facts.operand(0)
        target = self.element_type_property(self.dtype, element, "C1")
        facts.require(_bits(element) == _bits(target), "C2", f"{element} and {target} have different widths")
        return tensor_type(shape, target)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps any layout of the data."""
        return LayoutDecision((layouts[0],), layouts[0])

    def evaluate(self, data: Array) -> Array:
        """Returns a view of the same bytes."""
        return data.view(numpy_dtype(self.dtype))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Emits a bitcast of each element."""
        target = build.result_type.element_type
        return build.map_elements(build.label, lambda b, values: b.bitcast(values[0], target))


def _bits(element: Attribute) -> int | None:
    """Returns the number of bits of an element."""
    return element.bitwidth if isinstance(element, FixedBitwidthType) else None
