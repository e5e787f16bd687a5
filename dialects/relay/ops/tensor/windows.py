"""Slices and windows of tensors: `relay.strided_set`, `relay.sliding_window` and `relay.adv_index`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, TensorType, TupleType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.core.constraints import AtLeast, AxisOf, Constraints, IntegerElements, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property, required_ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.tensor_movement import MovementOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Shape, shape_text


@register_relay_op
@irdl_op_definition
class StridedSetOp(RelayOp):
    """The data with the slice from `begin` to before `end` by `strides`, along the first axes, replaced by `v`.

    Negative numbers count from the end of the axis, and numbers out of range are clamped, as in numpy. A stride of 0
    selects nothing. If the slice has more elements than `v`, the remaining ones keep the data.

    Constraints:
    - C4: `v` has as many axes as the data.
    - C5: `begin`, `end` and `strides` are vectors of the same known length, at most the rank of the data.

    Example:
    ```mlir
    %y = relay.strided_set(%x, %v, %b, %e, %s)
        : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.strided_set"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": SameElements((0, 1)),
        "C2": SameElements((2, 3, 4)),
        "C3": IntegerElements(2),
    }

    data = operand_def()
    v = operand_def()
    begin = operand_def()
    end = operand_def()
    strides = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C4 and C5."""
        shape, new = facts.shape(0), facts.shape(1)
        message = f"{len(new)} axes are set in {len(shape)}"
        facts.require(len(shape) == len(new), "C4", message)
        lengths = [facts.shape(index) for index in (2, 3, 4)]
        alike = all(len(each) == 1 and isinstance(each[0], int) and each == lengths[0] for each in lengths)
        fits = alike and all(isinstance(extent, int) and extent <= len(shape) for extent in lengths[0])
        texts = ", ".join(map(shape_text, lengths))
        facts.require(fits, "C5", f"begin, end and strides of shapes {texts} for {len(shape)} axes")
        return facts.tensor(0)


@register_relay_op
@irdl_op_definition
class SlidingWindowOp(MovementOp):
    """Windows over the axes from `axis` to the last: `result[x…, i…, k…] = data[x…, i * strides + k …]`.

    Constraints:
    - C4: `window_shape` and `strides` have one number for each of these axes.
    - C5: a window is no longer than its axis.

    Example:
    ```mlir
    %y = relay.sliding_window(%x) {axis = 1, window_shape = [2, 3], strides = [1, 2]}
        : (tensor<2x4x7xf32>) -> tensor<2x3x3x2x3xf32>
    ```

    """

    name = "relay.sliding_window"
    CONSTRAINTS: ClassVar[Constraints] = {"C1": AxisOf(), "C2": AtLeast("window_shape"), "C3": AtLeast("strides")}

    axis = int_property()
    window_shape = required_ints_property()
    strides = required_ints_property()

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the leading axes, the numbers of windows and the window's shape; checks C4 and C5."""
        axis, window, strides = (
            axis_index(self.axis.value.data, len(shape)),
            ints(self.window_shape),
            ints(self.strides),
        )
        found = shape[axis:]
        message = f"windows {list(window)} with strides {list(strides)} over {shape_text(found)}"
        facts.require(len(window) == len(strides) == len(found), "C4", message)
        for extent, length in zip(found, window, strict=True):
            facts.require_at_least(extent, length, "C5", "elements of an axis, and of a window,")
        places = [(extent - length) // step + 1 for extent, length, step in zip(found, window, strides, strict=True)]
        return (*shape[:axis], *places, *window)


@register_relay_op
@irdl_op_definition
class AdvIndexOp(RelayOp):
    """`data[i, j, …]` for indices i, j, … of the first axes, which broadcast, as in numpy.

    The operand is the tuple of the data and the indices. In the result, these axes are replaced by the broadcast shape
    of the indices. Negative indices count from the end; the op fails if an index is still out of range.

    Constraints:
    - C1: the operand is a tuple of a tensor and at least one integer tensor, at most one for each of its axes.
    - C2: the indices broadcast.

    Example:
    ```mlir
    %t = relay.tuple(%x, %i, %j) : (tensor<4x8x3xf32>, tensor<2x1xi64>, tensor<5xi64>)
        -> tuple<tensor<4x8x3xf32>, tensor<2x1xi64>, tensor<5xi64>>
    %y = relay.adv_index(%t) : (tuple<tensor<4x8x3xf32>, tensor<2x1xi64>, tensor<5xi64>>) -> tensor<2x5x3xf32>
    ```

    """

    name = "relay.adv_index"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    inputs = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the indices' broadcast shape followed by the axes that are not indexed; checks C1 and C2."""
        type = facts[0]
        fields = list(type.types) if isinstance(type, TupleType) else []
        parts = Facts(self.name, fields)
        tensors = len(fields) > 1 and all(isinstance(field, TensorType) for field in fields)
        message = f"a tuple of a tensor and of indices of its axes is expected, found {type}"
        facts.require(tensors and len(fields) - 1 <= len(parts.shape(0)), "C1", message)
        kinds = [parts.element(number) for number in range(1, len(fields))]
        whole = all(isinstance(kind, IntegerType) and kind.width.data > 1 for kind in kinds)
        facts.require(whole, "C1", message)
        shape, element = parts.operand(0)
        places = facts.broadcast_shapes([parts.shape(number) for number in range(1, len(fields))], "C2", "indices of")
        return tensor_type((*places, *shape[len(kinds) :]), element)
