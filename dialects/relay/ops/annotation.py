"""Ops that return their operand: boundaries of fusion and of regions for code generators, marks, and requirements.

`relay.annotation.checkpoint` marks values that a gradient may recompute in Relay, and `relay.require` requires
conditions on named dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    IncompleteType,
    Layout,
    LayoutAnswer,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    Quantization,
    RelayOp,
    Tensors,
    TopiBuilder,
    register_relay_op,
    string_property,
)
from xrelay.dialects.relay.ops.tensor.elementwise import ScalarUnaryOp, UnaryElementwiseOp
from xrelay.dialects.shared.requirements import RequirementsAttr


class WallOp(UnaryElementwiseOp):
    """Base of the ops that return a tensor or tuple and separate the kernels before them from those after them."""

    PATTERN = OpPatternKind.OPAQUE

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type."""
        return facts[0] if isinstance(facts[0], TupleType) else facts.tensor(0)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps any layout of a tensor; the fields of a tuple keep their original layouts."""
        if isinstance(self.data.type, TupleType):
            return LayoutDecision((None,), None)
        return super().propagate_layouts(layouts)

    def evaluate(self, data: object) -> object:
        """Returns the operand, a tensor or a tuple."""
        return data

    def compute(self, build: TopiBuilder) -> Tensors:
        """Reads each element of a tensor."""
        return build.map_elements(build.label, lambda b, values: values[0])

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1."""
        return [of]


@register_relay_op
class StopFusionOp(WallOp):
    """The operand. `relay-fuse-ops` never fuses ops before it with ops after it, and removes it.

    For a tuple, the producer of each field is not fused with the uses of the tuple.

    Constraints:
    - C0: one operand, a tensor or a tuple; the result has its type.

    Example:
    ```mlir
    %y = relay.annotation.stop_fusion(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.annotation.stop_fusion"
    QUANTIZATION = Quantization.MOVEMENT


@register_relay_op
class CheckpointOp(WallOp):
    """The operand, a tensor or tuple. In Relay, a gradient may recompute it.

    The gradient passes of xrelay keep the value, and never recompute it. Like `annotation.stop_fusion`, it separates
    the kernels before it from those after it, and `relay-fuse-ops` removes it.

    Constraints:
    - C0: one operand, a tensor or a tuple; the result has its type.

    Example:
    ```mlir
    %y = relay.annotation.checkpoint(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.annotation.checkpoint"


class CompilerAnnotationOp(RelayOp):
    """Base of the ops that mark the boundary of a region for a code generator. They return their operand."""

    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    INFERS_FROM_INCOMPLETE = True

    data = operand_def()

    compiler = string_property()

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the operand's elements."""
        return facts.elements(0)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type; checks C1."""
        facts.require(bool(self.compiler.data), "C1", "the compiler must have a name, found an empty text")
        return facts[0]

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type if the operand's is not known."""
        return [result_type if isinstance(facts[0], IncompleteType) else facts[0]]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Keeps any layout of a tensor."""
        if isinstance(self.data.type, TupleType):
            return LayoutRefusal("an annotation of a tuple keeps the layouts of its fields")
        return LayoutDecision((layouts[0],), layouts[0])

    def evaluate(self, data: object) -> object:
        """Returns the operand, a tensor or a tuple."""
        return data

    def compute(self, build: TopiBuilder) -> Tensors:
        """Reads each element of a tensor."""
        return build.map_elements(build.label, lambda b, values: values[0])


@register_relay_op
class CompilerBeginOp(CompilerAnnotationOp):
    """The operand, a tensor or tuple, at the boundary where a region for `compiler` begins.

    Constraints:
    - C0: the result has the operand's type.
    - C1: the compiler has a name.

    Example:
    ```mlir
    %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.annotation.compiler_begin"


@register_relay_op
class CompilerEndOp(CompilerAnnotationOp):
    """The operand, a tensor or tuple, at the boundary where a region for `compiler` ends.

    Constraints:
    - C0: the result has the operand's type.
    - C1: the compiler has a name.

    Example:
    ```mlir
    %e = relay.annotation.compiler_end(%y) {compiler = "ccompiler"} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.annotation.compiler_end"


@register_relay_op
class RequireOp(ScalarUnaryOp):
    """The operand, if the conditions `demands` on named dimensions hold. Otherwise a run fails.

    `relay-inline` inserts it for requirements of a call that no op of the inlined body records. The result may have
    other extents than the operand; they are required to be equal.

    Constraints:
    - C0: one tensor operand; the result has its type, with extents that may be equal to the operand's.
    - C1: `demands` hold.

    Example:
    ```mlir
    %y = relay.require(%x) {demands = #relay.requirements<n >= m "C2 rows">}
        : (tensor<?x?xf32, #relay.dims<n, m>>) -> tensor<?x?xf32, #relay.dims<n, m>>
    ```

    """

    name = "relay.require"

    demands = opt_prop_def(RequirementsAttr)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type; records `demands` as requirements."""
        for demand in () if self.demands is None else self.demands.data:
            facts.record(demand)
        return facts.tensor(0)

    def function(self, data: Array) -> Array:
        """Returns the operand."""
        return data

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Returns the element."""
        return x

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is 1."""
        return [of]
