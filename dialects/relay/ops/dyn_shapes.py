"""Ops whose shape is an operand: `relay.dyn.reshape`, `dyn.broadcast_to`, `dyn.full`, `dyn.tile` and `collapse_sum_to`.

If the elements of that operand are known, as numbers or as expressions over named dimensions, so is the type.
`relay-dynamic-to-static` replaces an op whose shape consists of numbers with the static op.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.reshape_codes import reshaped_to
from xrelay.dialects.shared.types import MAX_AXES, tensor_type
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, Shape, broadcast, certainly_differ
from xrelay.index_algebra.requirement import Broadcasts


class ShapeOperandOp(RelayOp):
    """Base of the ops whose second operand determines the shape of the result."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
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
    facts.keep(Broadcasts(have, want, constraint="C2", about="broadcast extents"))
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
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER

    data = operand_def()
    shape = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the known elements as extents; checks C2."""
        own, element = facts.operand(0)
        elements, count = self.wanted(facts)
        facts.require(count <= len(own), "C2", f"{count} axes are more than the {len(own)} of the data")
        given: Elements = (ANY,) * count if elements is None else elements
        pairs = enumerate(zip(own[len(own) - count :], given, strict=True))
        return tensor_type([_collapsed(facts, axis, have, want) for axis, (have, want) in pairs], element)


def _collapsed(facts: Facts, axis: int, have: Dim, want: Dim) -> Dim:
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
    SECOND: ClassVar[str] = "the repetitions"

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
