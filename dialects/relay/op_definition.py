"""The names that definitions of operators use, in one import, as `xdsl.irdl` has those of all ops.

Annotations of lowerings use `TopiBuilder`, `Body` and their types. They are real for the type checker only, because
their modules load topi, which the parser of a relay program does not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from xrelay.dialects.shared.dtypes import holds_products, numpy_dtype
from xrelay.dialects.shared.numerics import cast_once
from xrelay.dialects.shared.types import (
    AnyTensorType,
    IncompleteType,
    element_type_of,
    is_complete,
    shape_of,
    tensor_type,
)
from xrelay.index_algebra.dims import (
    ANY,
    MAX_EXTENT,
    AnyDim,
    Dim,
    Shape,
    certainly_differ,
    maximum,
    minimum,
    product,
    quotient,
    shape_text,
)

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import Body, IndexLike, Number, Tensors, TopiBuilder
else:
    Body = IndexLike = Number = Tensors = TopiBuilder = object

__all__ = [
    "ANY",
    "END",
    "MAX_EXTENT",
    "AnyDim",
    "AnyTensorType",
    "Array",
    "AtLeast",
    "AttributeValue",
    "AxisOf",
    "Body",
    "BooleanElements",
    "ConstraintSource",
    "Constraints",
    "Dim",
    "Divides",
    "Elements",
    "Facts",
    "Finite",
    "FloatElements",
    "GradientBuilder",
    "Gradients",
    "HalfPrecision",
    "IncompleteType",
    "IndexLike",
    "IntegerElements",
    "Layout",
    "LayoutAnswer",
    "LayoutDecision",
    "LayoutRefusal",
    "MixedPrecision",
    "Number",
    "OneOf",
    "OpPatternKind",
    "Quantization",
    "RankOf",
    "RelayOp",
    "SameElements",
    "Shape",
    "Tensors",
    "TopiBuilder",
    "VectorsAlong",
    "axis_index",
    "bool_property",
    "cast_once",
    "certainly_differ",
    "element_type_of",
    "float_property",
    "floats",
    "floats_property",
    "holds_products",
    "image_axes",
    "int_array",
    "int_attribute",
    "int_property",
    "ints",
    "ints_property",
    "is_complete",
    "known_shape",
    "letter_of_axis",
    "maximum",
    "minimum",
    "no_gradients",
    "not_differentiable",
    "numpy_dtype",
    "optional_int",
    "optional_int_property",
    "optional_ints_property",
    "product",
    "quotient",
    "register_relay_op",
    "require_axes",
    "require_axis",
    "required_ints_property",
    "shape_of",
    "shape_text",
    "string_attribute",
    "string_property",
    "tensor_type",
    "transform_shape",
    "with_both_sides",
    "with_flat",
    "without_empty_dtype",
]
