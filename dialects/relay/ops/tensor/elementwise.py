"""Bases of the elementwise operators: of one operand, also composite, and of two with broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.broadcast import broadcast_layouts
from xrelay.dialects.relay.core.constraints import Broadcasting
from xrelay.dialects.relay.core.element_rules import Combine, binary_elements
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Constraints,
    Elements,
    Facts,
    FloatElements,
    IncompleteType,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    SameElements,
    TopiBuilder,
    cast_once,
    known_shape,
    shape_of,
    tensor_type,
)
from xrelay.dialects.relay.structure.composite import CompositeOp

FLOATS: Constraints = {"C1": FloatElements()}
"""The constraint of functions that are defined only on floats."""


class UnaryElementwiseOp(RelayOp):
    """Base of the unary elementwise ops: the result has the operand's type (Relay's IdentityRel)."""

    PATTERN = OpPatternKind.ELEM_WISE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type."""
        return facts.tensor(0)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type if the operand's is not known."""
        return [result_type if isinstance(facts[0], IncompleteType) else facts[0]]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Keeps any layout of the data."""
        return LayoutDecision((layouts[0],), layouts[0])


class BinaryBroadcastOp(RelayOp):
    """Base of the binary ops with numpy's broadcasting (Relay's BroadcastRel)."""

    PATTERN = OpPatternKind.BROADCAST
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": SameElements(), "C2": Broadcasting()}

    ON_ELEMENTS: ClassVar[Combine | None] = None
    """Combines two integer elements, which may be symbolic expressions; None if elements are not inferred."""

    lhs = operand_def()
    rhs = operand_def()

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Combines the operands element by element."""
        combine = type(self).ON_ELEMENTS
        return None if combine is None else binary_elements(facts, combine)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the broadcast shape with the common element type."""
        return facts[0] if facts[0] == facts[1] else tensor_type(facts.broadcast("C2"), facts.element(0))

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type for an unknown operand if the other has rank 0; others are not determined."""
        known = [type for type in facts if not isinstance(type, IncompleteType)]
        if len(known) != 1 or known_shape(known[0]) != ():
            return facts
        return [result_type if isinstance(type, IncompleteType) else type for type in facts]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the operand with a layout if the other one broadcasts to it."""
        return broadcast_layouts(layouts, [shape_of(operand.type) for operand in self.operands])


class ScalarUnaryOp(UnaryElementwiseOp):
    """Base of the unary ops that are computed element by element."""

    ON_ARRAYS: ClassVar[np.ufunc]
    """The function of arrays, unless `function` is overridden."""

    ON_SCALARS: ClassVar[str]
    """The op of xDSL's math dialect that computes one float, unless `scalar` is overridden."""

    def function(self, data: Array) -> Array:
        """Returns the function of an array, by default `ON_ARRAYS`."""
        return self.ON_ARRAYS(data)

    def scalar(self, b: Body, x: SSAValue) -> SSAValue:
        """Returns the function of one element, by default `ON_SCALARS`."""
        from xdsl.dialects import math

        return b.add(getattr(math, self.ON_SCALARS)(x))

    def evaluate(self, data: Array) -> Array:
        """Applies the function to the array."""
        return np.asarray(self.function(data), data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Applies the function to each element."""
        return build.map_elements(build.label, lambda b, values: self.scalar(b, values[0]))


class FloatFunctionOp(ScalarUnaryOp):
    """Base of the unary ops that are defined only on floats."""

    CONSTRAINTS = FLOATS


class ElementwiseCompositeOp(UnaryElementwiseOp, CompositeOp):
    """Base of the unary composite ops of floats that fuse as one elementwise op."""

    CONSTRAINTS = FLOATS
    ON_ARRAYS: ClassVar[np.ufunc]
    """The function of arrays, unless `function` is overridden."""

    def function(self, x: Array) -> Array:
        """Returns the function of an array of f64, by default `ON_ARRAYS`."""
        return self.ON_ARRAYS(x)

    def evaluate(self, data: Array) -> Array:
        """Applies the function in double precision and rounds once."""
        return cast_once(self.function(data.astype(np.float64)), data.dtype)


class ScalarBinaryOp(BinaryBroadcastOp):
    """Base of the binary ops that are computed element by element, with broadcasting."""

    ON_ARRAYS: ClassVar[np.ufunc]
    """The function of arrays, unless `function` is overridden."""

    ON_SCALARS: ClassVar[str]
    """The method of `Body` that computes one element, unless `scalar` is overridden."""

    def function(self, lhs: Array, rhs: Array) -> Array:
        """Returns the function of two arrays, which broadcast, by default `ON_ARRAYS`."""
        return self.ON_ARRAYS(lhs, rhs)

    def scalar(self, b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
        """Returns the function of two elements, by default `ON_SCALARS`."""
        return getattr(b, self.ON_SCALARS)(x, y)

    def evaluate(self, lhs: Array, rhs: Array) -> Array:
        """Applies the function to the arrays."""
        return np.asarray(self.function(lhs, rhs), lhs.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Applies the function to each pair of elements."""
        return build.map_elements(build.label, lambda b, values: self.scalar(b, *values))
