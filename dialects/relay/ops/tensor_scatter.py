"""`relay.scatter_elements` and `relay.scatter_nd`: updates of a tensor at indices from an operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.core.constraints import AxisOf, Constraints, IntegerElements, OneOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor_gather import IndexingOp, require_inside, require_same_extents, require_tuples
from xrelay.dialects.shared.types import IncompleteType
from xrelay.index_algebra.dims import shape_text

REDUCTIONS = ("update", "add", "mul", "min", "max")
"""The ways to combine an element and its update."""


class ScatterOp(IndexingOp):
    """Base of the scatters. The operands are data, indices and updates; the result has the data's type."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE

    data = operand_def()
    indices = operand_def()
    updates = operand_def()

    def require_numbers(self, facts: Facts, word: str, constraint: str) -> None:
        """Requires that booleans are not added or multiplied."""
        facts.require(
            facts.element(0) != i1 or word not in ("add", "mul"),
            constraint,
            f"'{word}' is not supported for booleans",
            help="cast to int32, or use max for or, min for and",
        )

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type for the data."""
        if not isinstance(facts[0], IncompleteType):
            return facts
        return [result_type, *facts[1:]]


@register_relay_op
@irdl_op_definition
class ScatterElementsOp(ScatterOp):
    """The data updated at `indices` along `axis` and at the index of the update along the other axes.

    `result[indices[i, j], j] = updates[i, j]` for axis 0 and "update"; of several updates of an element the last in
    row-major order is used. "add", "mul", "min" and "max" combine the update with the element. Negative indices count
    from the end; the op fails if an index is still out of range. Relay's "mean" is not supported.

    Constraints:
    - C5: data and indices have the same rank, and the indices' extents of the other axes are at most the data's.
    - C6: indices and updates have the same shape.
    - C7: booleans are not added or multiplied.

    Example:
    ```mlir
    %y = relay.scatter_elements(%x, %i, %u) {axis = 1, reduction = "add"}
        : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.scatter_elements"
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": IntegerElements(1),
        "C2": AxisOf(),
        "C3": OneOf("reduction", REDUCTIONS),
        "C4": SameElements((0, 2)),
    }

    axis = int_property(0)
    reduction = string_property("update")

    def axis_index(self, rank: int) -> int:
        """Returns the axis from the front."""
        return axis_index(self.axis.value.data, rank)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C5 to C7."""
        places = facts.shape(1)
        require_inside(facts, facts.shape(0), places, self.axis.value.data, "C5")
        require_same_extents(facts, places, facts.shape(2), "C6", "indices and updates")
        self.require_numbers(facts, self.reduction.data, "C7")
        return facts.tensor(0)


@register_relay_op
@irdl_op_definition
class ScatterNDOp(ScatterOp):
    """The data with slices updated at index tuples, which are along the first axis of `indices`.

    `result[indices[0, y…], …, indices[M-1, y…], x…] = updates[y…, x…]` for the mode "update"; of several updates of an
    element the last in row-major order is used. "add", "mul", "min" and "max" combine the update with the element.
    Negative indices count from the end; the op fails if an index is still out of range.

    Constraints:
    - C4: the indices have an axis of known extent M for the tuples, at most the rank of the data.
    - C5: the updates have the indices' shape without its first axis, followed by the data's axes that are not indexed.
    - C6: booleans are not added or multiplied.

    Example:
    ```mlir
    %y = relay.scatter_nd(%x, %i, %u) : (tensor<4x8x3xf32>, tensor<2x5xi64>, tensor<5x3xf32>) -> tensor<4x8x3xf32>
    ```

    """

    name = "relay.scatter_nd"
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": IntegerElements(1),
        "C2": OneOf("mode", REDUCTIONS),
        "C3": SameElements((0, 2)),
    }

    mode = string_property("update")

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C4 to C6."""
        shape, places = facts.shape(0), facts.shape(1)
        parts = require_tuples(facts, places, None, "C4")
        facts.require(parts <= len(shape), "C4", f"tuples of {parts} do not index data of shape {shape_text(shape)}")
        require_same_extents(facts, (*places[1:], *shape[parts:]), facts.shape(2), "C5", "slices and updates")
        self.require_numbers(facts, self.mode.data, "C6")
        return facts.tensor(0)
