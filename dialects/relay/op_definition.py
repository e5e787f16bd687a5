"""The names that definitions of operators use, in one import, as `xdsl.irdl` has those of all ops."""

from __future__ import annotations

from xrelay.dialects.relay.core.attribute_values import (
    AttributeValue,
    floats,
    int_array,
    int_attribute,
    ints,
    string_attribute,
)
from xrelay.dialects.relay.core.axes import axis_index, letter_of_axis, require_axes, require_axis
from xrelay.dialects.relay.core.constraints import (
    AtLeast,
    AxisOf,
    BooleanElements,
    Constraints,
    Divides,
    Finite,
    FloatElements,
    IntegerElements,
    OneOf,
    RankOf,
    SameElements,
    VectorsAlong,
)
from xrelay.dialects.relay.core.facts import ConstraintSource, Elements, Facts
from xrelay.dialects.relay.core.mixed_precision import HalfPrecision, MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp, known_shape
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    bool_property,
    float_property,
    floats_property,
    image_axes,
    int_property,
    ints_property,
    optional_int,
    optional_int_property,
    optional_ints_property,
    required_ints_property,
    string_property,
    with_both_sides,
    with_flat,
    without_empty_dtype,
)
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.gradients.builder import END, GradientBuilder, Gradients, no_gradients, not_differentiable
from xrelay.dialects.relay.layout.behaviour import LayoutAnswer, LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout, transform_shape
from xrelay.dialects.relay.structure.weights import Array

__all__ = [
    "END",
    "Array",
    "AtLeast",
    "AttributeValue",
    "AxisOf",
    "BooleanElements",
    "ConstraintSource",
    "Constraints",
    "Divides",
    "Elements",
    "Facts",
    "Finite",
    "FloatElements",
    "GradientBuilder",
    "Gradients",
    "HalfPrecision",
    "IntegerElements",
    "Layout",
    "LayoutAnswer",
    "LayoutDecision",
    "LayoutRefusal",
    "MixedPrecision",
    "OneOf",
    "OpPatternKind",
    "Quantization",
    "RankOf",
    "RelayOp",
    "SameElements",
    "VectorsAlong",
    "axis_index",
    "bool_property",
    "float_property",
    "floats",
    "floats_property",
    "image_axes",
    "int_array",
    "int_attribute",
    "int_property",
    "ints",
    "ints_property",
    "known_shape",
    "letter_of_axis",
    "no_gradients",
    "not_differentiable",
    "optional_int",
    "optional_int_property",
    "optional_ints_property",
    "register_relay_op",
    "require_axes",
    "require_axis",
    "required_ints_property",
    "string_attribute",
    "string_property",
    "transform_shape",
    "with_both_sides",
    "with_flat",
    "without_empty_dtype",
]
