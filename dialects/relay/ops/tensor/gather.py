"""`relay.take`, `relay.gather`, `relay.gather_nd`, `relay.one_hot`: elements at indices that are an operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from xrelay.dialects.relay.core.constraints import BatchAxes
from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    AxisOf,
    Body,
    Constraints,
    Dim,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    IntegerElements,
    Layout,
    LayoutRefusal,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    Quantization,
    RelayOp,
    Shape,
    TopiBuilder,
    axis_index,
    element_type_of,
    int_property,
    minimum,
    not_differentiable,
    optional_int,
    optional_int_property,
    product,
    register_relay_op,
    require_axis,
    shape_text,
    string_property,
    tensor_type,
)

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

    MIXED_PRECISION = MixedPrecision.FOLLOW

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
    QUANTIZATION = Quantization.MOVEMENT
    PATTERN = OpPatternKind.INJECTIVE
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

    def evaluate(self, data: Array, indices: Array) -> Array:
        """Takes slices along the axis, for each index of the batch."""
        axis, batch = self.axis_and_batch(data.ndim, indices.ndim)
        if axis is None:
            data, axis = data.reshape(-1), 0
        places = self._in_range(indices, data.shape[axis])
        shape = (*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :])
        result = np.empty(shape, data.dtype)
        for point in np.ndindex(data.shape[:batch]):
            result[point] = data[point].take(places[point], axis - batch) if result[point].size else result[point]
        return result

    def _in_range(self, indices: Array, size: int) -> Array:
        """Returns indices in [0, size), as `mode` specifies."""
        from xrelay.dialects.relay.meaning.checked_indices import checked

        if self.mode.data == "raise":
            return checked(indices, size)
        wide = indices.astype(np.uint64 if indices.dtype.kind == "u" else np.int64)
        if not size:
            return wide.astype(np.int64)
        limit = wide.dtype.type(size)
        places = wide % limit if self.mode.data == "wrap" else np.clip(wide, 0, limit - wide.dtype.type(1))
        return places.astype(np.int64)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the data at the indices along the axis."""
        from xrelay.dialects.relay.computes.checked_indices import checked_indices
        from xrelay.dialects.relay.computes.movement import reshaped_indices

        data, indices = build.operand(0), build.operand(1)
        shape, places = build.shape(data), build.shape(indices)
        axis, batch = self.axis_and_batch(len(shape), len(places))
        flat, along = (shape, axis) if axis is not None else ((product(shape),), 0)
        is_checked = self.mode.data == "raise"
        known = checked_indices(build, indices, flat[along]) if is_checked else indices

        def fill(b: Body) -> SSAValue:
            after = along + len(places) - batch
            place = b.read(known, *b.spatial[:batch], *b.spatial[along:after])
            index = b.as_index(place if is_checked else self._index_in_range(b, place, flat[along]))
            at = [*b.spatial[:along], index, *b.spatial[after:]]
            return b.read(data, *(at if axis is not None else reshaped_indices(b, at, flat, shape)))

        return [build.compute("take", build.result_shape, build.element(data), fill)]

    def _index_in_range(self, b: Body, place: SSAValue, size: Dim) -> SSAValue:
        """Maps an index to [0, size): modulo for "wrap", else clamped."""
        from xdsl.dialects import arith

        from xrelay.dialects.relay.computes.checked_indices import as_index
        from xrelay.dialects.topi.build import is_unsigned

        unsigned, type = is_unsigned(place.type), IndexType()
        index, zero, extent = as_index(b, place), b.constant(0, type), b.size(size, type)
        if self.mode.data == "wrap":
            rest = b.add((arith.RemUIOp if unsigned else arith.RemSIOp)(index, extent))
            return b.select(b.compare(rest, "lt", zero), b.plus(rest, extent), rest)
        last = b.size(size - 1, type)
        return b.add(arith.MinUIOp(index, last)) if unsigned else b.minimum(b.maximum(index, zero), last)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns a scatter-add along the axis, which is moved to the front; None for the indices."""
        rank, places = len(build.shape(self.data)), len(build.shape(self.indices))
        axis, batch = self.axis_and_batch(rank, places)
        if batch:
            raise not_differentiable(self, f"batch_dims is {batch}")
        flat = self.data if axis is not None else build.op("reshape", self.data, newshape=[-1])
        axis = 0 if axis is None else axis
        others = len(build.shape(flat)) - 1
        front = [axis, *range(axis), *range(axis + 1, others + 1)]
        updates = [*range(axis, axis + places), *range(axis), *range(axis + places, others + places)]
        zeros = build.zeros_like(build.transposed(flat, front))
        indices = build.op("expand_dims", self._read_indices(build.shape(flat)[axis], build), axis=0)
        total = build.op("scatter_nd", zeros, indices, build.transposed(of, updates), mode="add")
        back = sorted(range(len(front)), key=front.__getitem__)
        return [build.reshape_like(build.transposed(total, back), self.data), None]

    def _read_indices(self, extent: Dim, build: GradientBuilder) -> SSAValue:
        """Returns the indices of the elements that are read; those of mode "raise" are in range."""
        if self.mode.data == "raise":
            return self.indices
        if not isinstance(extent, int):
            raise not_differentiable(self, "the extent of its axis is known only at run time")
        indices = build.wide_enough(self.indices, extent)
        if self.mode.data == "wrap":
            return build.op("floor_mod", indices, extent)
        return build.op("minimum", build.op("maximum", indices, 0), extent - 1)


@register_relay_op
@irdl_op_definition
class GatherOp(IndexingOp):
    """The elements of the data at `indices` along `axis` and at the index in the result along the other axes.

    `result[i, j] = data[indices[i, j], j]` for axis 0. Negative indices count from the end; the op fails if an index is
    still out of range.

    Constraints:
    - C3: data and indices have the same rank, and along each other axis the indices' extent is at most the data's.

    Example:
    ```mlir
    %y = relay.gather(%x, %i) {axis = 1} : (tensor<4x16xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
    ```

    """

    name = "relay.gather"
    PATTERN = OpPatternKind.INJECTIVE
    CONSTRAINTS = ALONG_AXIS

    data = operand_def()
    indices = operand_def()

    axis = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the indices' shape with the data's element type; checks C3."""
        (shape, element), places = facts.operand(0), facts.shape(1)
        require_inside(facts, shape, places, self.axis.value.data, "C3")
        return tensor_type(places, element)

    def evaluate(self, data: Array, indices: Array) -> Array:
        """Takes elements at the indices along the axis, and at the result's index along the others."""
        from xrelay.dialects.relay.meaning.checked_indices import indices_along

        axis = self.axis.value.data % data.ndim
        return data[indices_along(indices, axis, data.shape[axis])]

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the data at the index along the axis, and at the result's index along the others."""
        from xrelay.dialects.relay.computes.checked_indices import checked_indices

        data, axis = build.operand(0), self.axis.value.data % len(build.result_shape)
        known = checked_indices(build, build.operand(1), build.shape(data)[axis])

        def fill(b: Body) -> SSAValue:
            at = list(b.spatial)
            at[axis] = b.read_index(known, *b.spatial)
            return b.read(data, *at)

        return [build.compute("gather", build.result_shape, build.element(data), fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns a scatter-add along the axis; None for the indices."""
        zeros, axis = build.zeros_like(self.data), self.axis.value.data
        return [build.op("scatter_elements", zeros, self.indices, of, axis=axis, reduction="add"), None]


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
    PATTERN = OpPatternKind.INJECTIVE
    CONSTRAINTS = {"C1": IntegerElements(1), "C4": BatchAxes(skipped=1)}

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

    def evaluate(self, data: Array, indices: Array) -> Array:
        """Takes slices at index tuples, after the batch axes."""
        from xrelay.dialects.relay.meaning.checked_indices import index_tuples

        batch, places = self.batch_dims.value.data, indices.shape[1:]
        own = [values.reshape(values.shape[: len(places)]) for values in np.indices(places, sparse=True)[:batch]]
        at = (*own, *index_tuples(indices, data.shape[batch:]))
        return data[at] if at else np.broadcast_to(data, (*places, *data.shape))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the data at the batch indices, the components of the index tuple, and the indices of the slice."""
        from xrelay.dialects.relay.computes.checked_indices import index_tuples

        data, indices, batch = build.operand(0), build.operand(1), self.batch_dims.value.data
        rank = len(build.shape(indices)) - 1
        parts = index_tuples(build, indices, build.shape(data)[batch:])

        def fill(b: Body) -> SSAValue:
            place = b.spatial[:rank]
            at = [b.read_index(part, *place) for part in parts]
            return b.read(data, *place[:batch], *at, *b.spatial[rank:])

        return [build.compute("gather_nd", build.result_shape, build.element(data), fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns a scatter-add at the index tuples; None for these."""
        if self.batch_dims.value.data:
            raise not_differentiable(self, f"batch_dims is {self.batch_dims.value.data}")
        return [build.op("scatter_nd", build.zeros_like(self.data), self.indices, of, mode="add"), None]


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
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    CONSTRAINTS = {"C1": IntegerElements(), "C2": AtLeast("depth", 0)}

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

    def evaluate(self, indices: Array, on_value: Array, off_value: Array) -> Array:
        """Compares the indices with the numbers along the new axis."""
        axis = self.axis_index(indices.ndim)
        counts = np.arange(self.depth.value.data).reshape(-1, *(1,) * (indices.ndim - axis))
        return np.where(np.expand_dims(indices, axis) == counts, on_value, off_value)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Selects between both values by comparing the index with the new axis."""
        from xrelay.dialects.relay.computes.checked_indices import as_index

        indices, on_value, off_value = (build.operand(index) for index in range(3))
        axis = self.axis_index(len(build.shape(indices)))

        def fill(b: Body) -> SSAValue:
            place = as_index(b, b.read(indices, *b.spatial[:axis], *b.spatial[axis + 1 :]))
            is_on = b.compare(place, "eq", b.index(b.spatial[axis]))
            return b.select(is_on, b.read(on_value), b.read(off_value))

        return [build.compute("one_hot", build.result_shape, build.result_type.element_type, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sums of the gradient over on and off elements; None for the indices."""
        on, off = build.scalar(1, of), build.scalar(0, of)
        properties = {**self.properties, "dtype": element_type_of(of.type)}
        is_on = build.op("one_hot", self.indices, on, off, **properties)
        total = build.op("sum", build.op("multiply", of, is_on))
        rest = build.op("sum", build.op("multiply", of, build.op("subtract", 1, is_on)))
        return [None, total, rest]
