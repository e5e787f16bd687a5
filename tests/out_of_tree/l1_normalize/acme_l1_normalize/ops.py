"""The operator and its dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects import math
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.extend.ops import (
    Facts,
    HalfPrecision,
    OpPatternKind,
    RelayOp,
    int_property,
    register_relay_op,
    require_axis,
)

if TYPE_CHECKING:
    from xrelay.extend.gradients import GradientBuilder, Gradients
    from xrelay.extend.interpreter import Array
    from xrelay.extend.strategies import Body, TopiBuilder


@register_relay_op
class L1NormalizeOp(RelayOp):
    """Each element divided by the sum of the absolute values along `axis`.

    - C1: `axis` is an axis of the data.
    - C2: the element type is a float.
    """

    name = "acme.l1_normalize"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    HALF_PRECISION: ClassVar[HalfPrecision] = HalfPrecision.SINGLE
    data = operand_def()
    result = result_def()
    axis = int_property(-1)
    traits = traits_def(Pure())

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the operand's type; checks C1 and C2."""
        shape, element = facts.operand(0)
        require_axis(self, self.axis.value.data, len(shape), "C1")
        facts.require(isinstance(element, AnyFloat), "C2", f"the element type must be a float, found {element}")
        return facts[0]

    def evaluate(self, data: Array) -> Array:
        """Computes in f64, and rounds once."""
        wide = data.astype(np.float64)
        return (wide / np.abs(wide).sum(axis=self.axis.value.data, keepdims=True)).astype(data.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Sums each row, and divides its elements by the sum."""
        data = build.operand(0)
        shape, element = build.shape(data), build.element(data)
        axis = self.axis.value.data % len(shape)

        def add(b: Body) -> SSAValue:
            at = [*b.spatial[:axis], b.reduction[0], *b.spatial[axis:]]
            return b.accumulate(b.accumulators[0], b.add(math.AbsFOp(b.read(data, *at))))

        rows = [*shape[:axis], *shape[axis + 1 :]]
        total = build.compute("l1_sum", rows, element, add, reduce={"k": shape[axis]}, init=[0.0])

        def divide(b: Body) -> SSAValue:
            return b.divide(b.read(data, *b.spatial), b.read(total, *b.spatial[:axis], *b.spatial[axis + 1 :]))

        return [build.compute("l1_normalize", shape, element, divide)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """`(g - sign(x) * sum(g * y)) / sum(|x|)`, where y is the result."""
        axis = [self.axis.value.data]
        total = build.op("sum", build.op("abs", self.data), axis=axis, keepdims=True)
        share = build.op("sum", build.op("multiply", of, self.result), axis=axis, keepdims=True)
        moved = build.op("multiply", build.op("sign", self.data), share)
        return [build.op("divide", build.op("subtract", of, moved), total)]


ACME = Dialect("acme", [L1NormalizeOp])
