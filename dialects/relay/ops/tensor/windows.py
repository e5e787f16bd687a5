"""Slices and windows of tensors: `relay.strided_set`, `relay.sliding_window` and `relay.adv_index`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType, TupleType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.gradients.numbered_elements import gradient_by_numbers, no_numbers, numbered, sum_by_number
from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    AxisOf,
    Body,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    IndexLike,
    IntegerElements,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    SameElements,
    Shape,
    TopiBuilder,
    axis_index,
    int_property,
    ints,
    register_relay_op,
    required_ints_property,
    shape_text,
    tensor_type,
)
from xrelay.dialects.relay.ops.tensor.movement import MovementOp
from xrelay.dialects.relay.structure.tuples import field_count


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
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {
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

    def evaluate(self, data: Array, v: Array, begin: Array, end: Array, strides: Array) -> Array:
        """Assigns the elements that the slice and `v` have in common."""
        result, bounds = data.copy(), [each.astype(np.int64).tolist() for each in (begin, end, strides)]
        if 0 in bounds[2]:
            return result
        part = result[tuple(slice(*numbers) for numbers in zip(*bounds, strict=True))]
        common = tuple(slice(0, min(extents)) for extents in zip(part.shape, v.shape, strict=True))
        part[common] = v[common]
        return result

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the new values in the slice, else the data."""
        from xrelay.dialects.upstream.arith_extras import CmpiOp

        data, new = build.operand(0), build.operand(1)
        shape, element, room = build.shape(data), build.element(data), build.shape(new)
        count = build.known(build.operand(2), "begin")[0]
        bounds = [self._bounds(build, axis, shape[axis]) for axis in range(count)]

        def choose(b: Body) -> SSAValue:
            is_set = b.constant(1, i1)
            at: list[IndexLike] = [*b.spatial]
            for axis, bound in enumerate(bounds):
                first, stride, number = (b.read(bound, place) for place in range(3))
                way = b.minus(b.number(b.spatial[axis], i64), first)
                place = b.divide(way, stride)
                is_step = b.compare(b.times(place, stride), "eq", way)
                is_within = b.add(CmpiOp(place, number, "ult"))
                is_set = b.logical_and(is_set, b.logical_and(is_step, is_within))
                at[axis] = b.as_index(place)
            is_set = b.logical_and(is_set, b.in_bounds(at, room))
            return b.guard(is_set, element, lambda: b.read(new, *at), lambda: b.read(data, *b.spatial))

        return [build.compute("strided_set", shape, element, choose)]

    def _bounds(self, build: TopiBuilder, axis: int, extent: Dim) -> SSAValue:
        """Returns the first index of a slice along an axis, its nonzero stride, and its number of elements."""
        from xrelay.dialects.upstream.arith_extras import CmpiOp

        def bound(b: Body) -> SSAValue:
            begin, end, stride = (b.convert(b.read(build.operand(number), axis), i64) for number in (2, 3, 4))
            zero, one, size = b.constant(0, i64), b.constant(1, i64), b.size(extent, i64)
            is_back, is_none = (b.add(CmpiOp(stride, zero, word)) for word in ("slt", "eq"))
            low = b.select(is_back, -1, zero)
            high = b.select(is_back, b.minus(size, one), size)

            def brought(number: SSAValue) -> SSAValue:
                is_from_end = b.compare(number, "lt", zero)
                number = b.select(is_from_end, b.plus(number, size), number)
                return b.minimum(b.maximum(number, low), high)

            first, last = brought(begin), brought(end)
            step = b.select(is_none, one, stride)
            way = b.minus(last, first)
            inner = b.select(is_back, b.plus(way, one), b.minus(way, one))
            signed = b.select(is_back, b.minus(zero, way), way)
            is_some = b.select(is_none, b.constant(0, i1), b.compare(signed, "gt", zero))
            count = b.select(is_some, b.plus(b.divide(inner, step), one), zero)
            which = b.index(b.spatial[0])
            is_first, is_second = (b.compare(which, "eq", place) for place in (0, 1))
            return b.select(is_first, first, b.select(is_second, step, count))

        return build.compute("slice_bounds", {"k": 3}, i64, bound)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns zero for replaced elements, the gradient in the slice for `v`; None for the other operands."""
        part = (self.begin, self.end, self.strides)
        data = build.op("strided_set", of, build.zeros_like(self.v), *part)
        numbers = build.op("strided_set", no_numbers(self.data, build), numbered(self.v, build), *part)
        return [data, sum_by_number(numbers, of, self.v, build), None, None, None]


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
    CONSTRAINTS = {"C1": AxisOf(), "C2": AtLeast("window_shape"), "C3": AtLeast("strides")}

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

    def evaluate(self, data: Array) -> Array:
        """Uses `sliding_window_view` with strides."""
        axis = self.axis.value.data % data.ndim
        axes = tuple(range(axis, data.ndim))
        windows = np.lib.stride_tricks.sliding_window_view(data, ints(self.window_shape), axes)
        steps = tuple(slice(None, None, step) for step in ints(self.strides))
        return np.ascontiguousarray(windows[(slice(None),) * axis + steps])

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the element at an index of a window."""
        data, strides = build.operand(0), ints(self.strides)
        axis = self.axis.value.data % len(build.shape(data))
        count = len(strides)

        def read(b: Body) -> SSAValue:
            places, taps = b.spatial[axis : axis + count], b.spatial[axis + count :]
            at = [place * stride + tap for place, stride, tap in zip(places, strides, taps, strict=True)]
            return b.read(data, *b.spatial[:axis], *at)

        return [build.compute("sliding_window", build.result_shape, build.element(data), read)]

    gradient = gradient_by_numbers


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
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW

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

    def evaluate(self, inputs: tuple[Array, ...]) -> Array:
        """Indexes as numpy does."""
        from xrelay.dialects.relay.meaning.checked_indices import checked

        data, *indices = inputs
        return data[tuple(checked(each, size) for each, size in zip(indices, data.shape, strict=False))]

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads the element at the indices, which are checked at run time."""
        from xrelay.dialects.relay.computes.checked_indices import checked_indices

        data, *indices = build.operands_of_tuple(0)
        shape, result = build.shape(data), build.result_shape
        tables = [checked_indices(build, each, shape[axis]) for axis, each in enumerate(indices)]
        rank = len(result) - len(shape) + len(indices)

        def place(b: Body, table: SSAValue) -> IndexLike:
            extents = build.shape(table)
            first = rank - len(extents)
            rows = zip(b.spatial[first:rank], extents, result[first:rank], strict=True)
            return b.read_index(table, *(b.broadcast(at, extent, space) for at, extent, space in rows))

        def read(b: Body) -> SSAValue:
            return b.read(data, *(place(b, table) for table in tables), *b.spatial[rank:])

        return [build.compute("adv_index", result, build.element(data), read)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sums over the reads of an element; None for the indices."""
        fields = [build.item(self.inputs, number) for number in range(field_count(self.inputs) or 0)]
        numbers = build.op("adv_index", build.tuple(numbered(fields[0], build), *fields[1:]))
        found = sum_by_number(numbers, of, fields[0], build)
        return [build.tuple(found, *(build.zeros_like(each) for each in fields[1:]))]
