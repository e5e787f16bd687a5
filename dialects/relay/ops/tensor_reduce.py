"""Reductions: `relay.sum`, `relay.mean`, `relay.max`, `relay.min`, `relay.prod`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import AttributeValue, bool_attribute, int_array, ints
from xrelay.dialects.relay.core.axes import require_axes
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, optional_ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutAnswer, LayoutDecision
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.rank_changes import positions, with_unit_axes, without_axes
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim, Shape


class ReduceOp(RelayOp):
    """Base of the reductions.

    `axis` lists the axes to reduce, by default all. `exclude` reduces the other axes instead. `keepdims` keeps reduced
    axes with extent 1. The result has the data's element type.

    Constraints shared by all:
    - C1: `axis` names distinct axes of the data.
    """

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.COMM_REDUCE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER

    data = operand_def()

    axis = optional_ints_property()
    keepdims = bool_property(False)
    exclude = bool_property(False)

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts a single number as axis."""
        axis = attributes.get("axis")
        if isinstance(axis, int):
            attributes["axis"] = (axis,)
        return attributes

    def reduced_axes(self, rank: int) -> tuple[int, ...]:
        """Returns the reduced axes in ascending order; checks C1."""
        if self.axis is None:
            return () if self.exclude.value.data else tuple(range(rank))
        named = require_axes(self, ints(self.axis), rank, "C1")
        if self.exclude.value.data:
            return tuple(axis for axis in range(rank) if axis not in named)
        return tuple(sorted(named))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the remaining extents; checks C1."""
        shape, element = facts.operand(0)
        return tensor_type(self.result_shape(shape), element)

    def result_shape(self, shape: Shape) -> Shape:
        """Returns the remaining extents of data of `shape`; reduced ones are 1 with `keepdims`."""
        reduced = self.reduced_axes(len(shape))
        if not self.keepdims.value.data:
            return tuple(dim for axis, dim in enumerate(shape) if axis not in reduced)
        result: list[Dim] = [1 if axis in reduced else dim for axis, dim in enumerate(shape)]
        return tuple(result)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Follows the layout of the data. Both parts of a split axis are reduced."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        letters = [layout.primal[axis] for axis in self.reduced_axes(len(layout.primal))]
        axes = sorted(position for letter in letters for position in positions(layout, letter))
        result: Layout | None = None
        if self.keepdims.value.data:
            result = with_unit_axes(layout, letters)
        elif len(letters) < len(layout.primal):
            result = without_axes(layout, letters)
        return LayoutDecision((layout,), result, {"axis": int_array(axes), "exclude": bool_attribute(False)})


@register_relay_op
@irdl_op_definition
class SumOp(ReduceOp):
    """The sum over `axis`; for booleans, whether any is true.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.sum(%x) {axis = [1]} : (tensor<4x8xf32>) -> tensor<4xf32>
    ```

    """

    name = "relay.sum"


@register_relay_op
@irdl_op_definition
class MeanOp(ReduceOp):
    """The mean over `axis`; for integers, the truncated quotient of sum and count.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.mean(%x) {axis = [2, 3], keepdims = true} : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
    ```

    """

    name = "relay.mean"


@register_relay_op
@irdl_op_definition
class MaxOp(ReduceOp):
    """The greatest element over `axis`.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.max(%x) {axis = [1], exclude = true} : (tensor<4x8xf32>) -> tensor<8xf32>
    ```

    """

    name = "relay.max"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW


@register_relay_op
@irdl_op_definition
class MinOp(ReduceOp):
    """The least element over `axis`.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.min(%x) : (tensor<4x8xf32>) -> tensor<f32>
    ```

    """

    name = "relay.min"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW


@register_relay_op
@irdl_op_definition
class ProdOp(ReduceOp):
    """The product over `axis`; for booleans, whether all are true.

    Constraints:
    - C1: `axis` names distinct axes of the data.

    Example:
    ```mlir
    %y = relay.prod(%x) {axis = [0]} : (tensor<4x8xf32>) -> tensor<8xf32>
    ```

    """

    name = "relay.prod"
