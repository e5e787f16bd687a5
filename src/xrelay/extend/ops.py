"""Operators at the relay level: the base class, properties, fusion patterns and layout inference.

An operator is one class: `infer_type`, and the methods `evaluate(self, *arrays)` (numpy), `compute(self, build)` (topi
computes by the `TopiBuilder` of `xrelay.extend.strategies`) and `gradient(self, of, build)` (by the `GradientBuilder`
of `xrelay.extend.gradients`). A `CompositeOp` is defined by other operators, and needs `decompose` and `evaluate` only.

    @register_relay_op
    class L1NormalizeOp(RelayOp): …

The name of an operator begins with `relay.` or with the name of a dialect of its package.
"""

from xrelay.dialects.relay.core.axes import require_axis
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import HalfPrecision, MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import (
    bool_property,
    float_property,
    int_property,
    ints_property,
    optional_int_property,
    optional_ints_property,
    required_ints_property,
    string_property,
)
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.core.registry import get_relay_op, register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder, Expansion
from xrelay.dialects.shared.types import IncompleteType, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, Shape

__all__ = [
    "CompositeOp",
    "DecompositionBuilder",
    "Dim",
    "Expansion",
    "Facts",
    "HalfPrecision",
    "IncompleteType",
    "Layout",
    "LayoutDecision",
    "LayoutRefusal",
    "MixedPrecision",
    "OpPatternKind",
    "Quantization",
    "RelayOp",
    "Shape",
    "bool_property",
    "float_property",
    "get_relay_op",
    "int_property",
    "ints_property",
    "optional_int_property",
    "optional_ints_property",
    "register_relay_op",
    "require_axis",
    "required_ints_property",
    "shape_of",
    "string_property",
    "tensor_type",
]
