"""`relay.arange`: evenly spaced numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    SameElements,
    register_relay_op,
)
from xrelay.dialects.shared.types import tensor_type
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import AnyDim, Dim, is_nonnegative

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder
    from xrelay.dialects.topi.build import Body

MOST_ELEMENTS = 64
"""The greatest number of elements that are inferred."""


@register_relay_op
@irdl_op_definition
class ArangeOp(RelayOp):
    """The `max(ceil((stop - start) / step), 0)` numbers `start + i * step` for i from 0.

    Their number is known if start, stop and step are known integers, or if start is 0, step is 1 and stop is a named
    extent.

    Constraints:
    - C2: start, stop and step have rank 0 and are not booleans.
    - C3: `step` is not 0.

    Example:
    ```mlir
    %y = relay.arange(%start, %stop, %step) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    ```

    """

    name = "relay.arange"
    CONSTRAINTS = {"C1": SameElements()}
    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER

    start = operand_def()
    stop = operand_def()
    step = operand_def()

    @property
    def shape_depends_on_data(self) -> bool:
        """The shape depends on the values of the operands."""
        return True

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the numbers if they are known and few."""
        bounds, count = _bounds(facts), _count(facts)
        if bounds is None or not isinstance(count, int) or count > MOST_ELEMENTS:
            return None
        return tuple(bounds[0] + place * bounds[2] for place in range(count))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns a vector type, with a new extent if the number of elements is not known; checks C2 and C3."""
        element = facts.element(0)
        numbers = isinstance(element, AnyFloat) or (isinstance(element, IntegerType) and element.width.data > 1)
        scalars = all(facts.shape(index) == () for index in range(3))
        facts.require(
            numbers and scalars, "C2", lambda: f"three numbers are expected, found {', '.join(map(str, facts))}"
        )
        count = _count(facts)
        return tensor_type((facts.new_extent("r") if count is None else count,), element)

    def evaluate(self, start: Array, stop: Array, step: Array) -> Array:
        """Computes the number of elements exactly for integers, and in double precision for floats."""
        first, last, by = (bound.item() for bound in (start, stop, step))
        if by == 0 or not all(math.isfinite(bound) for bound in (first, last, by)):
            raise InterpreterError(f"from {first} to {last} by {by} there is no number of elements")
        count = -((first - last) // by) if start.dtype.kind in "iu" else math.ceil((last - first) / by)
        places: Array = np.arange(max(int(count), 0), dtype=np.int64).astype(start.dtype)
        return np.asarray(start + places * step, start.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Computes the start plus the index times the step."""
        from xrelay.dialects.upstream.arith_extras import IndexCastOp

        start, _, step = (build.operand(index) for index in range(3))
        element = build.result_type.element_type

        def fill(b: Body) -> SSAValue:
            place = b.convert(b.add(IndexCastOp(b.index(b.spatial[0]), i64)), element)
            return b.plus(b.read(start), b.times(place, b.read(step)))

        return [build.compute("arange", build.result_shape, element, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum of the gradient for the start, weighted by index for the step, and None for the end."""
        places = build.op("cumsum", build.ones_like(of), axis=0, exclusive=True)
        start, step = build.op("sum", of), build.op("sum", build.op("multiply", of, places))
        return [build.cast_like(start, self.start), None, build.cast_like(step, self.step)]


def _bounds(facts: Facts) -> tuple[Dim, Dim, Dim] | None:
    """Returns the known elements start, stop and step; None if any of them is not known."""
    known = [elements[0] for index in range(3) if (elements := facts.elements(index)) and len(elements) == 1]
    return (known[0], known[1], known[2]) if len(known) == 3 else None


def _count(facts: Facts) -> Dim | None:
    """Returns the number of elements, None if it is not known; checks C3."""
    bounds = _bounds(facts)
    if bounds is None:
        return None
    start, stop, step = bounds
    facts.require(step != 0, "C3", "the step is 0")
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return max(-((start - stop) // step), 0)
    counts_up = start == 0 and step == 1 and not isinstance(stop, AnyDim) and is_nonnegative(stop)
    return stop if counts_up else None
