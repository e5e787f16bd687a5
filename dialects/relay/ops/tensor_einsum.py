"""`relay.einsum`: sums of products with axes labelled by an equation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, TupleType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.einsum_equation import Equation
from xrelay.dialects.shared.types import tensor_type
from xrelay.errors import ConstraintError
from xrelay.index_algebra.dims import Dim, Shape


@register_relay_op
@irdl_op_definition
class EinsumOp(RelayOp):
    """The sum of products of a tuple of tensors, with axes labelled by `equation`; `"ij,jk->ik"` is a matrix product.

    Labels that the result lacks are summed over. A label that occurs twice in an operand selects its diagonal. `...`
    matches axes without labels, which broadcast, as do axes with the same label. Without `->` the result has the axes
    of `...` followed by the labels that occur once, in alphabetical order.

    Constraints:
    - C1: the operand is a tuple of at least one tensor.
    - C2: `equation` labels the axes of each tensor; the labels of the result are distinct labels of the operands.
    - C3: the tensors have the same element type, not boolean.
    - C4: the extents of a label broadcast; within one tensor they are equal.

    Example:
    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<4x8xf32>, tensor<8x3xf32>) -> tuple<tensor<4x8xf32>, tensor<8x3xf32>>
    %y = relay.einsum(%t) {equation = "ij,jk->ik"} : (tuple<tensor<4x8xf32>, tensor<8x3xf32>>) -> tensor<4x3xf32>
    ```

    """

    name = "relay.einsum"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.ALWAYS

    data = operand_def()

    equation = string_property()

    def labelled(self, ranks: Sequence[int]) -> Equation:
        """Returns the equation for tensors of these ranks; checks C2."""
        found = Equation.of(self.equation.data, ranks)
        if isinstance(found, str):
            raise ConstraintError(self.name, "C2", found)
        return found

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with the extents of the result's labels; checks C1 to C4."""
        type = facts[0]
        if not isinstance(type, TupleType) or not type.types.data:
            facts.require(False, "C1", f"the operand must be a tuple of tensors, found {type}")
            return type
        parts = Facts(self.name, type.types.data)
        elements = [parts.element(index, "C1") for index in range(len(parts))]
        first = elements[0]
        is_boolean = isinstance(first, IntegerType) and first.width.data == 1
        facts.require(
            not is_boolean and all(element == first for element in elements),
            "C3",
            f"the tensors must have one element type, of numbers, found {', '.join(map(str, elements))}",
        )
        shapes = [parts.shape(index) for index in range(len(parts))]
        equation = self.labelled([len(shape) for shape in shapes])
        extents = label_extents(facts, equation, shapes)
        return tensor_type([extents[label] for label in equation.result], first)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layout, whose axes the equation labels."""
        return LayoutRefusal("relay.einsum supports only original layouts")


def label_extents(facts: Facts, equation: Equation, shapes: Sequence[Shape]) -> dict[str, Dim]:
    """Returns the broadcast extent of each label; checks C4."""
    extents: dict[str, Dim] = {}
    for index, (labels, shape) in enumerate(zip(equation.operands, shapes, strict=True)):
        own: dict[str, Dim] = {}
        for label, extent in zip(labels, shape, strict=True):
            if label in own:
                facts.require_equal(own[label], extent, "C4", f"extents of label {label!r} in tensor {index}")
            own.setdefault(label, extent)
        for label, extent in own.items():
            known = extents.get(label, extent)
            (extents[label],) = facts.broadcast_shapes(((known,), (extent,)), "C4", f"extents of label {label!r}")
    return extents
