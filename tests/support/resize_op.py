"""`relay.image.resize`, an out-of-tree operator. Importing this module registers it; use a separate process."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    float_property,
    int_property,
    required_ints_property,
    string_property,
)
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type


@register_relay_op
@irdl_op_definition
class ResizeOp(RelayOp):
    """Resizes images.

    Constraints: none.
    """

    name = "relay.image.resize"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE

    data = operand_def()
    result = result_def()

    size = required_ints_property()
    layout = string_property("NCHW")
    method = string_property("bilinear")
    coordinate_transformation_mode = string_property("half_pixel")
    rounding_method = string_property("")
    bicubic_alpha = float_property(-0.5)
    bicubic_exclude = int_property(0)
    out_dtype = opt_prop_def()

    traits = traits_def(Pure())

    def infer_type(self, facts: Facts) -> Attribute:
        shape, element = facts.operand(0)
        at = [self.layout.data.index(axis) for axis in "HW"]
        extents = list(shape)
        for axis, extent in zip(at, ints(self.size), strict=True):
            extents[axis] = extent
        return tensor_type(extents, self.element_type_property(self.out_dtype, element, "C0"))
