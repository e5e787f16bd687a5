"""Ops that say something of a value and give it on: where fusion stops, and which code generator takes a region.

`relay.annotation.checkpoint` says what a gradient may compute again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutAnswer, LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.tensor_elementwise import UnaryElementwiseOp
from xrelay.dialects.shared.types import IncompleteType


class WallOp(UnaryElementwiseOp):
    """Base of the ops that give a tensor or a tuple on, and that nothing before them shares a kernel with behind."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE

    def infer_type(self, facts: Facts) -> Attribute:
        """The operand's type."""
        return facts[0] if isinstance(facts[0], TupleType) else facts.tensor(0)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Any layout of a tensor goes through unchanged; the fields of a tuple stay as the text says."""
        if isinstance(self.data.type, TupleType):
            return LayoutDecision((None,), None)
        return super().propagate_layouts(layouts)


@register_relay_op
@irdl_op_definition
class StopFusionOp(WallOp):
    """The operand itself; `relay-fuse-ops` puts nothing before it and nothing after it into one group, and removes it.

    The operand may be a tuple: then it keeps what makes each field from what uses the tuple.

    Constraints:
    - C0: one operand, a tensor or a tuple; the result has its type.

    Example:
    ```mlir
    %y = relay.annotation.stop_fusion(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.annotation.stop_fusion"


@register_relay_op
@irdl_op_definition
class CheckpointOp(WallOp):
    """The operand itself, a tensor or a tuple, whose parts a gradient may compute again rather than keep.

    The gradients that are made here keep them. As `annotation.stop_fusion` does, it keeps what stands before it and
    behind it in kernels of their own, and `relay-fuse-ops` removes it.

    Constraints:
    - C0: one operand, a tensor or a tuple; the result has its type.

    Example:
    ```mlir
    %y = relay.annotation.checkpoint(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.annotation.checkpoint"


class CompilerAnnotationOp(RelayOp):
    """Base of the ops that mark the border of a region for a code generator; each gives its operand on."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    INFERS_FROM_INCOMPLETE: ClassVar[bool] = True

    data = operand_def()

    compiler = string_property()

    def infer_elements(self, facts: Facts) -> Elements | None:
        """The operand's."""
        return facts.elements(0)

    def infer_type(self, facts: Facts) -> Attribute:
        """The operand's type; C1."""
        facts.require(bool(self.compiler.data), "C1", "the compiler must have a name, found an empty text")
        return facts[0]

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """The result's type, where the operand's is not known."""
        return [result_type if isinstance(facts[0], IncompleteType) else facts[0]]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Any layout of a tensor goes through unchanged."""
        if isinstance(self.data.type, TupleType):
            return LayoutRefusal("an annotation of a tuple keeps the layouts of its fields")
        return LayoutDecision((layouts[0],), layouts[0])


@register_relay_op
@irdl_op_definition
class CompilerBeginOp(CompilerAnnotationOp):
    """The operand itself, a tensor or a tuple, at the border where a region for `compiler` begins.

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
@irdl_op_definition
class CompilerEndOp(CompilerAnnotationOp):
    """The operand itself, a tensor or a tuple, at the border where a region for `compiler` ends.

    Constraints:
    - C0: the result has the operand's type.
    - C1: the compiler has a name.

    Example:
    ```mlir
    %e = relay.annotation.compiler_end(%y) {compiler = "ccompiler"} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.annotation.compiler_end"
