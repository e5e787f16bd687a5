"""The base of ops that compute along one axis and preserve the type of their data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.core.axes import letter_of_axis, require_axis
from xrelay.dialects.relay.core.constraints import AxisOf, Constraints, FloatElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.properties import int_property
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.rank_changes import positions
from xrelay.dialects.shared.types import IncompleteType, is_complete, tensor_type


class AlongAxisOp(RelayOp):
    """Base of functions of floats along `axis`. The result has the data's type.

    The following operands, which are vectors along `axis`, have the same form in any layout.
    """

    MIXED_PRECISION = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf(), "C2": FloatElements()}

    data = operand_def()

    axis = int_property(-1)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts.tensor(0)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type for the data, and vectors as long as the axis for other operands."""
        return data_and_vectors(self, self.axis.value.data, facts, result_type)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if it does not split the axis."""
        return follow_along_axis(self.name, self.axis.value.data, layouts)


def data_and_vectors(op: RelayOp, axis: int, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
    """Returns the operand types of an op with the result type of its data; other operands are vectors along `axis`."""
    types = [result_type if isinstance(facts[0], IncompleteType) else facts[0], *facts[1:]]
    if not (is_complete(types[0]) and any(isinstance(type, IncompleteType) for type in types[1:])):
        return types
    shape, element = Facts(op.name, types).operand(0)
    vector = tensor_type([shape[require_axis(op, axis, len(shape), "C1")]], element)
    return [types[0], *(vector if isinstance(type, IncompleteType) else type for type in types[1:])]


def follow_along_axis(
    name: str, axis: int, layouts: Sequence[Layout | None], *, keeps_first: bool = False
) -> LayoutDecision | LayoutRefusal:
    """Decides that the op `name`, which computes along `axis`, follows the layout of its data if the axis is not split.

    The data is the first operand; other operands keep their layout. With `keeps_first`, the first axis of the original
    layout has to be the first axis.
    """
    layout, others = layouts[0], [None] * len(layouts[1:])
    if layout is None:
        return LayoutDecision((None, *others), None)
    letter = letter_of_axis(layout, axis)
    if layout.factor(letter) is not None:
        return LayoutRefusal(f"layout {layout} splits the axis along which {name} computes")
    if keeps_first and positions(layout, layout.primal[0]) != (0,):
        return LayoutRefusal(f"{name} has its samples along the first axis, layout {layout} does not")
    return LayoutDecision((layout, *others), layout, {"axis": int_attribute(layout.index(letter))})
