"""`relay.take`, `relay.gather`, `relay.gather_nd`, `relay.one_hot`: elements at indices that are an operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.axes import axis_index, require_axis
from xrelay.dialects.relay.core.constraints import AtLeast, AxisOf, Constraints, IntegerElements, OneOf
from xrelay.dialects.relay.core.extent_constraints import BatchAxes
from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property, optional_int, optional_int_property, string_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.layout.behaviour import LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import Dim, Shape, minimum, product, shape_text

ALONG_AXIS: Constraints = {"C1": IntegerElements(1), "C2": AxisOf()}
"""The constraints on indices along an axis."""

TAKE_MODES = ("clip", "wrap", "fast", "raise")
"""The treatments of out-of-range indices by `take`."""


def require_same_extents(facts: Facts, lhs: Sequence[Dim], rhs: Sequence[Dim], constraint: str, what: str) -> None:
    """Requires that two shapes are equal, axis by axis."""
    facts.require(
        len(lhs) == len(rhs), constraint, lambda: f"{what}: shapes {shape_text(lhs)} and {shape_text(rhs)} differ"
    )
    for axis, (left, right) in enumerate(zip(lhs, rhs, strict=True)):
        facts.require_equal(left, right, constraint, f"{what}: extents of axis {axis}")


class IndexingOp(RelayOp):
    """Base of the ops whose indices refer to axes of the original layout."""

    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layout, to which the indices refer."""
        return LayoutRefusal("its indices refer to the original layout")


@register_relay_op
@irdl_op_definition
class TakeOp(IndexingOp):
    """The slices of the data at `indices` along `axis`, as `numpy.take`; without an axis, of the flattened data.

    The axis is replaced by the indices' shape. The first `batch_dims` axes are shared by data and indices, as batch
    axes. `mode` is the treatment of out-of-range indices: "clip" clamps them, "wrap" takes them modulo the extent,
    "fast" (undefined in Relay) clamps them too, and "raise" counts negative indices from the end and fails if an index
    is still out of range.

    Constraints:
    - C5: the axis is not empty, unless there are no indices or `mode` is "raise".

    Example:
    ```mlir
    %y = relay.take(%x, %i) {axis = 0} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    ```

    """

    name = "relay.take"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    CONSTRAINTS: ClassVar[Constraints] = {**ALONG_AXIS, "C3": OneOf("mode", TAKE_MODES), "C4": BatchAxes(before="axis")}

    data = operand_def()
    indices = operand_def()

    batch_dims = int_property(0)
    axis = optional_int_property()
    mode = string_property("clip")

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the elements of a vector at known valid indices; negative ones count from the end."""
        elements, places = facts.elements(0), facts.elements(1)
        if elements is None or places is None or len(facts.shape(0)) != 1 or self.batch_dims.value.data:
            return None
        known = [place for place in places if isinstance(place, int) and -len(elements) <= place < len(elements)]
        counts_back = self.mode.data in ("raise", "wrap")
        if len(known) != len(places) or not (counts_back or all(place >= 0 for place in known)):
            return None
        return tuple(elements[place] for place in known)

    def axis_and_batch(self, rank: int, places: int) -> tuple[int | None, int]:
        """Returns the axis from the front, None for the flattened data, and the number of batch axes."""
        number, batch = optional_int(self.axis), self.batch_dims.value.data
        return None if number is None else axis_index(number, rank), batch + places if batch < 0 else batch

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape with the axis replaced by the indices' shape; checks C5."""
        (shape, element), places = facts.operand(0), facts.shape(1)
        axis, batch = self.axis_and_batch(len(shape), len(places))
        extent = product(shape) if axis is None else shape[axis]
        if self.mode.data != "raise":
            message = f"the axis of {shape_text(shape)} has no elements for indices of shape {shape_text(places)}"
            asked = minimum(product(places), 1)
            facts.require_at_least(extent, asked, "C5", "elements to take, and indices", message=message)
        if axis is None:
            return tensor_type(places, element)
        return tensor_type((*shape[:axis], *places[batch:], *shape[axis + 1 :]), element)


@register_relay_op
@irdl_op_definition
class GatherOp(IndexingOp):
    """The elements of the data at `indices` along `axis` and at the index in the result along the other axes.

    `result[i, j] = data[indices[i, j], j]` for axis 0. Negative indices count from the end; the op fails if an index is
    still out of range.

    Constraints:
    - C3: data and indices have the same rank, and the indices' extents of the other axes are at most the data's.

    Example:
    ```mlir
    %y = relay.gather(%x, %i) {axis = 1} : (tensor<4x16xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
    ```

    """

    name = "relay.gather"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    CONSTRAINTS: ClassVar[Constraints] = ALONG_AXIS

    data = operand_def()
    indices = operand_def()

    axis = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the indices' shape with the data's element type; checks C3."""
        (shape, element), places = facts.operand(0), facts.shape(1)
        require_inside(facts, shape, places, self.axis.value.data, "C3")
        return tensor_type(places, element)


def require_inside(facts: Facts, shape: Shape, places: Shape, axis: int, constraint: str) -> None:
    """Requires that extents of the indices' shape `places` are at most the data's, except along `axis`."""
    axis = axis_index(axis, len(shape))
    facts.require(
        len(shape) == len(places),
        constraint,
        lambda: f"data of shape {shape_text(shape)} and indices of shape {shape_text(places)} differ in rank",
    )
    for other, (extent, reach) in enumerate(zip(shape, places, strict=True)):
        if other != axis:
            message = f"the indices have {reach} elements along axis {other}, the data has {extent}"
            what = f"elements along axis {other} of the data and the indices"
            facts.require_at_least(extent, reach, constraint, what, message=message)


@register_relay_op
@irdl_op_definition
class GatherNDOp(IndexingOp):
    """The slices of the data at index tuples, which are along the first axis of `indices`.

    With `batch_dims` B, `result[y_0, …, y_K, x…] = data[y_0, …, y_(B-1), indices[0, y…], …, indices[M-1, y…], x…]`.
    `index_rank` specifies M if the indices' type does not. Negative indices count from the end; the op fails if an
    index is still out of range.

    Constraints:
    - C2: the indices have an axis of known extent M for the tuples.
    - C3: the length of a tuple plus the number of batch axes is at most the rank of the data.

    Example:
    ```mlir
    %y = relay.gather_nd(%x, %i) : (tensor<16x16x3xf32>, tensor<2x5xi64>) -> tensor<5x3xf32>
    ```

    """

    name = "relay.gather_nd"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.INJECTIVE
    CONSTRAINTS: ClassVar[Constraints] = {"C1": IntegerElements(1), "C4": BatchAxes(skipped=1)}

    data = operand_def()
    indices = operand_def()

    batch_dims = int_property(0)
    index_rank = optional_int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the indices' shape without its first axis, then the data's remaining axes; checks C2 and C3."""
        (shape, element), places = facts.operand(0), facts.shape(1)
        parts = require_tuples(facts, places, optional_int(self.index_rank), "C2")
        batch, places = self.batch_dims.value.data, places[1:]
        facts.require(
            0 <= batch <= len(places) and parts + batch <= len(shape),
            "C3",
            f"tuples of {parts} after {batch} batch axes and indices of shape "
            f"{shape_text(places)} do not match data of shape {shape_text(shape)}",
        )
        return tensor_type((*places, *shape[batch + parts :]), element)


def require_tuples(facts: Facts, places: Shape, said: int | None, constraint: str) -> int:
    """Returns the length of the index tuples along the first axis of the indices."""
    facts.require(len(places) > 0, constraint, "the indices have no axis of index tuples")
    parts = places[0] if isinstance(places[0], int) else said
    facts.require(
        parts is not None,
        constraint,
        f"the first extent of the indices, {places[0]}, is unknown",
        help="set index_rank to the length of an index tuple",
    )
    known = parts if parts is not None else 0
    facts.require_equal(known, said if said is not None else known, constraint, "index_rank")
    return known


@register_relay_op
@irdl_op_definition
class OneHotOp(IndexingOp):
    """`on_value` at the index along a new axis of extent `depth`, `off_value` elsewhere.

    An index outside of [0, depth) sets no element to `on_value`.

    Constraints:
    - C3: both values have rank 0 and the same element type, which is `dtype` if given.
    - C4: `axis` is an axis of the result.

    Example:
    ```mlir
    %y = relay.one_hot(%i, %on, %off) {depth = 4} : (tensor<3xi64>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
    ```

    """

    name = "relay.one_hot"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    CONSTRAINTS: ClassVar[Constraints] = {"C1": IntegerElements(), "C2": AtLeast("depth", 0)}

    indices = operand_def()
    on_value = operand_def()
    off_value = operand_def()

    depth = int_property()
    axis = int_property(-1)
    dtype = opt_prop_def(Attribute)

    def axis_index(self, rank: int) -> int:
        """Returns the position of the new axis from the front, for indices of rank `rank`; checks C4."""
        return require_axis(self, self.axis.value.data, rank + 1, "C4")

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the indices' shape with the new axis, and the values' element type; checks C3 and C4."""
        places = facts.shape(0)
        (on_shape, on), (off_shape, off) = facts.operand(1), facts.operand(2)
        element = self.element_type_property(self.dtype, on, "C3")
        facts.require(
            on_shape == off_shape == () and on == off == element,
            "C3",
            lambda: f"the values must both be tensor<{element}>, found {facts[1]} and {facts[2]}",
        )
        depth = self.depth.value.data
        axis = self.axis_index(len(places))
        return tensor_type((*places[:axis], depth, *places[axis:]), element)
