"""Ops whose shape is an operand: `relay.dyn.reshape`, `dyn.broadcast_to`, `dyn.full`, `dyn.tile` and `collapse_sum_to`.

If the elements of that operand are known, as numbers or as expressions over named dimensions, so is the type.
`relay-dynamic-to-static` replaces an op whose shape consists of numbers with the static op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.shape_rules import reshaped_to
from xrelay.dialects.relay.gradients.numbered_elements import gradient_by_numbers
from xrelay.dialects.relay.op_definition import (
    ANY,
    AnyDim,
    Array,
    Body,
    Dim,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    Shape,
    TopiBuilder,
    bool_property,
    certainly_differ,
    maximum,
    register_relay_op,
    tensor_type,
)
from xrelay.dialects.shared.types import MAX_AXES
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import broadcast
from xrelay.index_algebra.requirement import Broadcasts


class ShapeOperandOp(RelayOp):
    """Base of the ops whose second operand determines the shape of the result."""

    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    SECOND: ClassVar[str] = "the shape"
    """The name of that operand in messages."""

    @property
    def shape_depends_on_data(self) -> bool:
        """The shape depends on the elements of the second operand."""
        return True

    def wanted(self, facts: Facts) -> tuple[Elements | None, int]:
        """Returns the known elements of the shape, None if they are not known, and their number; checks C1."""
        type, extents = facts.tensor(1), facts.shape(1)
        count = extents[0] if len(extents) == 1 else None
        if not isinstance(count, int) or not isinstance(type.element_type, IntegerType):
            text = f"{self.SECOND} must be a vector of integers of known length, found {type}"
            facts.require(False, "C1", text)
            return None, 0
        facts.require(count <= MAX_AXES, "C1", f"{self.SECOND} has {count} elements, a tensor at most {MAX_AXES} axes")
        return (facts.elements(1) if count else ()), count

    def wanted_extents(self, facts: Facts) -> list[Dim]:
        """Returns the elements of the shape as extents, with new extents for unknown ones; checks C1 and C2."""
        elements, count = self.wanted(facts)
        extents: list[Dim] = []
        for place in range(count):
            extent = None if elements is None else elements[place]
            known = extent is not None and not isinstance(extent, AnyDim)
            facts.require(not isinstance(extent, int) or extent >= 0, "C2", f"the shape has the extent {extent}")
            extents.append(extent if known and extent is not None else facts.new_extent("e", place))
        return extents


@register_relay_op
@irdl_op_definition
class DynReshapeOp(ShapeOperandOp):
    """The data's elements in the shape given by an operand: extents, and -1 for the remaining extent.

    A 0 copies the data's extent at the same index; with `allowzero` it is an extent of 0.

    Constraints:
    - C1: the shape is a vector of integers of known length, at most 64.
    - C2: at most one element is -1, none is less than -1, and a 0 that copies has an extent to copy.
    - C3: the element counts are equal, and divisible if there is a -1.

    Example:
    ```mlir
    %y = relay.dyn.reshape(%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```

    """

    name = "relay.dyn.reshape"
    RESHAPE_ONLY = True

    data = operand_def()
    newshape = operand_def()

    allowzero = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the known elements as extents, with new extents for the others; checks C1 to C3."""
        shape, element = facts.operand(0)
        elements, count = self.wanted(facts)
        if elements is None:
            return tensor_type([facts.new_extent("e", place) for place in range(count)], element)
        return tensor_type(reshaped_to(facts, shape, elements, copies=not self.allowzero.value.data), element)

    def evaluate(self, data: Array, newshape: Array) -> Array:
        """Reshapes; the error for shapes that do not match contains both."""
        extents = [int(extent) for extent in newshape]
        if not self.allowzero.value.data:
            short = next((place for place, extent in enumerate(extents) if extent == 0 and place >= data.ndim), None)
            if short is not None:
                message = f"0 at place {short} of the shape {extents} copies no extent of {list(data.shape)}"
                raise InterpreterError(message)
            extents = [data.shape[place] if extent == 0 else extent for place, extent in enumerate(extents)]
        if extents.count(-1) > 1 or any(extent < -1 for extent in extents):
            raise InterpreterError(f"the shape {extents} is illegal", help="extents are positive, 0, or at most one -1")
        known = int(np.prod([extent for extent in extents if extent != -1], dtype=np.int64))
        if (data.size != known) if -1 not in extents else (known == 0 or data.size % known):
            raise InterpreterError(f"data of shape {list(data.shape)} cannot be reshaped to {extents}")
        return data.reshape(extents)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the element at the same row-major index."""
        from xrelay.dialects.relay.computes.movement import reshaped

        return [reshaped(build)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient in the data's shape; None for the shape."""
        return [build.reshape_like(of, self.data), None]


@register_relay_op
@irdl_op_definition
class DynBroadcastToOp(ShapeOperandOp):
    """The data broadcast with the shape given by an operand; an extent of 1 on either side broadcasts.

    Constraints:
    - C1: the shape is a vector of integers of known length, at most 64.
    - C2: data and shape broadcast, and no element of the shape is negative.

    Example:
    ```mlir
    %y = relay.dyn.broadcast_to(%x, %shape) : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<?x3x?xf32>
    ```

    """

    name = "relay.dyn.broadcast_to"

    data = operand_def()
    shape = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of the broadcast shapes."""
        own, element = facts.operand(0)
        elements, count = self.wanted(facts)
        rank = max(len(own), count)
        padded: Shape = ((1,) * (rank - len(own))) + own
        given: Elements = (ANY,) * count if elements is None else elements
        wanted: Shape = ((1,) * (rank - count)) + given
        pairs = enumerate(zip(padded, wanted, strict=True))
        return tensor_type([_joined(facts, axis, have, want) for axis, (have, want) in pairs], element)

    def evaluate(self, data: Array, shape: Array) -> Array:
        """Broadcasts in both directions, as numpy does."""
        wanted = tuple(int(extent) for extent in shape)
        if any(extent < 0 for extent in wanted):
            raise InterpreterError(f"the shape {list(wanted)} has a negative extent")
        return np.broadcast_to(data, np.broadcast_shapes(data.shape, wanted)).copy()

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the element that is broadcast to an index."""
        from xrelay.dialects.relay.computes.builder import read_broadcast

        data, shape = build.operand(0), build.result_shape
        return [build.compute("broadcast_to", shape, build.element(data), lambda b: read_broadcast(b, data, shape))]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum over broadcast axes; None for the shape."""
        return [build.sum_like(of, self.data), None]


def _joined(facts: Facts, axis: int, have: Dim, want: Dim) -> Dim:
    """Returns the extent to which two extents broadcast; checks C2.

    An element that is known only at run time becomes a new extent. It is checked even if the result has the data's
    extent.
    """
    if isinstance(want, AnyDim):
        made = facts.new_extent("e", axis)
        return have if isinstance(have, int) and have != 1 else made
    facts.require(not isinstance(want, int) or want >= 0, "C2", f"an extent of the shape is {want}")
    if have == 1 or want in (1, have):
        return want if have == 1 else have
    apart = certainly_differ(have, want) and certainly_differ(have, 1) and certainly_differ(want, 1)
    facts.require(not apart, "C2", f"an extent of {have} does not broadcast to {want}")
    facts.record(Broadcasts(have, want, constraint="C2", about="broadcast extents"))
    return broadcast(have, want)


@register_relay_op
@irdl_op_definition
class CollapseSumToOp(ShapeOperandOp):
    """The data summed to the shape given by an operand: along axes that the shape lacks, or in which its extent is 1.

    It reverses a broadcast, like `collapse_sum_like`.

    Constraints:
    - C1: the shape is a vector of integers of known length, at most 64.
    - C2: the shape broadcasts to the data's.

    Example:
    ```mlir
    %y = relay.collapse_sum_to(%x, %shape) : (tensor<2x4x8xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    ```

    """

    name = "relay.collapse_sum_to"
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE

    data = operand_def()
    shape = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the known elements as extents; checks C2."""
        own, element = facts.operand(0)
        elements, count = self.wanted(facts)
        facts.require(count <= len(own), "C2", f"{count} axes are more than the {len(own)} of the data")
        given: Elements = (ANY,) * count if elements is None else elements
        pairs = enumerate(zip(own[len(own) - count :], given, strict=True))
        return tensor_type([_collapsed_extent(facts, axis, have, want) for axis, (have, want) in pairs], element)

    def evaluate(self, data: Array, shape: Array) -> Array:
        """Sums over the axes that a broadcast from that shape repeats."""
        from xrelay.dialects.relay.meaning.element_types import accumulator

        wanted = tuple(int(extent) for extent in shape)
        lacking = data.ndim - len(wanted)
        pairs = zip(data.shape[max(lacking, 0) :], wanted, strict=False)
        if lacking < 0 or any(want not in (1, own) for own, want in pairs):
            message = f"[{self.name} C2] data of shape {list(data.shape)} does not collapse to {list(wanted)}"
            raise InterpreterError(message)
        axes = tuple(axis for axis in range(data.ndim) if axis < lacking or wanted[axis - lacking] == 1)
        total = np.sum(data.astype(accumulator(data.dtype), copy=False), axis=axes, keepdims=True)
        return np.asarray(total, data.dtype).reshape(wanted)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Sums along axes that the shape lacks and along axes that become shorter.

        An axis that is known only at run time to be kept or summed has `extent / wanted` terms: one, or all.
        """
        data, target = build.operand(0), build.result_shape
        shape, element = build.shape(data), build.element(data)
        lacking = len(shape) - len(target)
        terms: dict[int, Dim] = dict(enumerate(shape[:lacking]))
        for axis, (own, wanted) in enumerate(zip(shape[lacking:], target, strict=True), start=lacking):
            if own != wanted:
                terms[axis] = own if wanted == 1 else own // maximum(1, wanted)

        def add(b: Body) -> SSAValue:
            folded = dict(zip(terms, b.reduction, strict=True))
            kept = zip(range(lacking, len(shape)), b.spatial, strict=True)
            at = [*b.reduction[:lacking], *(index + folded.get(axis, 0) for axis, index in kept)]
            value = b.read(data, *at)
            return b.accumulate(b.accumulators[0], value) if terms else value

        reduce = {f"k{axis}": count for axis, count in terms.items()}
        return [build.compute("collapse_sum", target, element, add, reduce=reduce, init=[0] if terms else [])]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient broadcast to all elements of a sum; None for the shape."""
        return [build.broadcast_like(of, self.data), None]


def _collapsed_extent(facts: Facts, axis: int, have: Dim, want: Dim) -> Dim:
    """Returns the extent to which an axis of extent `have` is summed, `have` or 1; checks C2."""
    if isinstance(want, AnyDim):
        want = facts.new_extent("e", axis)
    if want in (1, have):
        return want
    if isinstance(want, int):
        message = f"an extent of {have} does not collapse to {want}"
        facts.require_equal(have, want, "C2", "extents", message=message)
        return want
    facts.require_repeats(want, have, "C2", "extents of the shape and of the data")
    return 1 if have == 1 else want


@register_relay_op
@irdl_op_definition
class DynFullOp(ShapeOperandOp):
    """A tensor of the shape given by the second operand, filled with the first operand.

    Constraints:
    - C1: the shape is a vector of integers of known length, at most 64.
    - C2: no element of the shape is negative.
    - C3: the value has rank 0.

    Example:
    ```mlir
    %y = relay.dyn.full(%value, %shape) : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```

    """

    name = "relay.dyn.full"

    fill_value = operand_def()
    shape = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the known elements as extents, with new extents for the others; checks C1 to C3."""
        value, element = facts.operand(0)
        facts.require(value == (), "C3", lambda: f"the value must have rank 0, found {facts[0]}")
        return tensor_type(self.wanted_extents(facts), element)

    def evaluate(self, fill_value: Array, shape: Array) -> Array:
        """Fills an array."""
        extents = [int(extent) for extent in shape]
        if any(extent < 0 for extent in extents):
            raise InterpreterError(f"the shape {extents} has a negative extent")
        return np.full(extents, fill_value, fill_value.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Fills with the value."""
        return [build.filled(build.operand(0))]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum of the gradient for the scalar; None for the shape."""
        return [build.cast_like(build.op("sum", of), self.fill_value), None]


@register_relay_op
@irdl_op_definition
class DynTileOp(ShapeOperandOp):
    """The tensor repeated along each axis, with the numbers of repetitions from an operand.

    The shorter of the data's shape and the repetitions is padded with leading ones.

    Constraints:
    - C1: the repetitions are a vector of integers of known length, at most 64.
    - C2: no number of repetitions is negative.

    Example:
    ```mlir
    %y = relay.dyn.tile(%x, %reps) : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```

    """

    name = "relay.dyn.tile"
    SECOND = "the repetitions"

    data = operand_def()
    reps = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns each extent times its repetitions, a new extent if they are not known; checks C1 and C2."""
        shape, element = facts.operand(0)
        elements, count = self.wanted(facts)
        rank = max(len(shape), count)
        times: Elements = (ANY,) * count if elements is None else elements
        pairs = zip((1,) * (rank - len(shape)) + shape, (1,) * (rank - count) + times, strict=True)
        extents: list[Dim] = []
        for axis, (extent, often) in enumerate(pairs):
            facts.require(not isinstance(often, int) or often >= 0, "C2", f"the repetitions include {often}")
            extents.append(facts.new_extent("e", axis) if isinstance(often, AnyDim) else extent * often)
        return tensor_type(extents, element)

    def evaluate(self, data: Array, reps: Array) -> Array:
        """Calls `np.tile`."""
        if (reps < 0).any():
            raise InterpreterError(f"[{self.name} C2] a number of repetitions is negative: {reps.tolist()}")
        return np.tile(data, reps.tolist())

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads at the remainder of the index."""
        from xrelay.dialects.relay.computes.movement import tiled

        return tiled(build)

    gradient = gradient_by_numbers
