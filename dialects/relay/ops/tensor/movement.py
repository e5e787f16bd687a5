"""Ops that move elements: slices, reversals, repetitions, broadcasting and triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.shape_rules import places_of_slice, within_reach
from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    AxisOf,
    Body,
    Dim,
    Elements,
    Facts,
    GradientBuilder,
    Gradients,
    IndexLike,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    Quantization,
    RankOf,
    RelayOp,
    Shape,
    TopiBuilder,
    axis_index,
    bool_property,
    int_array,
    int_property,
    ints,
    ints_property,
    letter_of_axis,
    not_differentiable,
    optional_ints_property,
    register_relay_op,
    required_ints_property,
    shape_text,
    string_property,
    tensor_type,
)
from xrelay.errors import InterpreterError

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr

INDEX_LIMIT = 1 << 62
"""An index beyond the end of any axis."""

_KEEP: Final = 0
_SPLIT: Final = -4
_REST: Final = -1
"""Codes of `reshape`: a kept extent, an extent split into the two after the code, and an inferred extent."""


class MovementOp(RelayOp):
    """Base of the ops whose result consists of elements of the first operand."""

    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the result's shape for data of `shape`; by default the same."""
        return shape

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the result's shape with the data's element type."""
        shape, element = facts.operand(0)
        return tensor_type(self.result_shape(facts, shape), element)


@register_relay_op
@irdl_op_definition
class StridedSliceOp(MovementOp):
    """The elements from `begin` to before `end`, `strides` apart, along `axes` (by default the first ones).

    Negative numbers count from the end of the axis, and numbers out of range are clamped, as in numpy. A single stride
    applies to all axes. With `slice_mode` "size", `end` holds sizes; -1 is the rest of the axis.

    Constraints:
    - C3: `begin`, `end` and `axes` have one number for each sliced axis; `strides` too, or a single number.
    - C4: no stride is 0; with "size" they are 1.
    - C5: the number of elements kept along an axis with a symbolic extent can be expressed as a dimension.

    Example:
    ```mlir
    %y = relay.strided_slice(%x) {begin = [1, 7], end = [3, -9], strides = [1, -2]}
        : (tensor<4x8xf32>) -> tensor<2x4xf32>
    ```

    """

    name = "relay.strided_slice"
    QUANTIZATION = Quantization.MOVEMENT
    CONSTRAINTS = {"C1": AxisOf("axes"), "C2": OneOf("slice_mode", ("end", "size"))}

    begin = required_ints_property()
    end = required_ints_property()
    strides = ints_property(1)
    slice_mode = string_property("end")
    axes = optional_ints_property()

    def steps(self, facts: Facts, shape: Shape) -> dict[int, tuple[Dim, Dim, int]]:
        """Returns for each sliced axis the first index, the number of elements and the step; checks C3 to C5."""
        begin, end, strides = ints(self.begin), ints(self.end), ints(self.strides)
        axes = tuple(range(len(begin))) if self.axes is None else ints(self.axes)
        strides = strides * len(begin) if len(strides) == 1 else strides
        counts = (len(begin), len(end), len(strides), len(axes))
        text = "{} begins, {} ends, {} strides and {} axes of a tensor of rank {}".format(*counts, len(shape))
        facts.require(len(set(counts)) == 1 and len(axes) <= len(shape), "C3", text)
        by_size = self.slice_mode.data == "size"
        fits = all(strides) and not (by_size and any(stride != 1 for stride in strides))
        facts.require(fits, "C4", f"strides are {list(strides)} with slice_mode {self.slice_mode.data!r}")
        found: dict[int, tuple[Dim, Dim, int]] = {}
        for named, first, last, step in zip(axes, begin, end, strides, strict=True):
            axis = axis_index(named, len(shape))
            stop = _stop_of_size(first, last) if by_size else last
            found[axis] = _slice_range(facts, shape[axis], first, stop, step)
        return found

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the sliced elements of a vector."""
        elements, shape = facts.elements(0), facts.shape(0)
        if elements is None or len(shape) != 1:
            return None
        first, count, step = self.steps(facts, shape).get(0, (0, len(elements), 1))
        if not isinstance(first, int) or not isinstance(count, int):
            return None
        return tuple(elements[first + place * step] for place in range(count))

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if it does not split the sliced axes."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        axes = range(len(ints(self.begin))) if self.axes is None else ints(self.axes)
        letters = [letter_of_axis(layout, axis) for axis in axes]
        split = next((letter for letter in letters if layout.factor(letter) is not None), None)
        if split is not None:
            return LayoutRefusal(f"layout {layout} splits the axis {split}, which is sliced")
        return LayoutDecision((layout,), layout, {"axes": int_array([layout.index(letter) for letter in letters])})

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the sliced extents; checks C3 to C5."""
        found = self.steps(facts, shape)
        return tuple(found[axis][1] if axis in found else extent for axis, extent in enumerate(shape))

    def evaluate(self, data: Array) -> Array:
        """Slices as numpy does; a slice by size may reach the end of the axis."""
        begin, end, strides = ints(self.begin), ints(self.end), ints(self.strides)
        places = [slice(None)] * data.ndim
        for number, axis in enumerate(range(len(begin)) if self.axes is None else ints(self.axes)):
            first, last = begin[number], end[number]
            if self.slice_mode.data == "size":
                stop = first + last
                last = None if last < 0 or first < 0 <= stop else stop
            places[axis] = slice(first, last, strides[number % len(strides)])
        return data[tuple(places)]

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads with a first index and a step along each sliced axis."""
        from xrelay.dialects.relay.computes.movement import moved

        steps = self.steps(Facts(self.name, self.operand_types), build.shape(build.operand(0)))

        def place(b: Body, axis: int, index: AffineExpr) -> IndexLike:
            if axis not in steps:
                return index
            first, _, step = steps[axis]
            return index * step + b.expr(first)

        return moved(build, "strided_slice", place)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient at the indices of the elements, with zeros elsewhere."""
        shape = build.shape(self.data)
        steps = self.steps(Facts(self.name, self.operand_types), shape)
        dilation, widths = [1] * len(shape), [0] * (2 * len(shape))
        for axis, (first, number, step) in steps.items():
            if step < 0:
                of = build.op("reverse", of, axis=axis)
                first = first + (number - 1) * step
            dilation[axis] = abs(step)
            covered: Dim = (number - 1) * abs(step) + 1 if abs(step) > 1 else number
            before, after = first, shape[axis] - first - covered
            if number == 0:
                return [None]
            if not isinstance(before, int) or not isinstance(after, int):
                raise not_differentiable(self, f"how much of axis {axis} it leaves out is known only at run time")
            widths[2 * axis : 2 * axis + 2] = before, after
        if any(each > 1 for each in dilation):
            of = build.op("nn.dilate", of, strides=dilation)
        return [build.op("nn.pad", of, 0, pad_width=widths)]


def _stop_of_size(begin: int, size: int) -> int:
    """Returns the end of a slice of `size` elements from `begin`."""
    stop = begin + size
    return INDEX_LIMIT if size < 0 or begin < 0 <= stop else stop


def _slice_range(facts: Facts, extent: Dim, begin: int, end: int, step: int) -> tuple[Dim, Dim, int]:
    """Returns the first index, the number of elements and the step along an axis; checks C5."""
    first, kept = places_of_slice(extent, begin, end, step)
    facts.require(
        kept is not None,
        "C5",
        lambda: f"the number of elements of {begin}:{end}:{step} of an axis of extent {extent} is unknown",
        help="use static shapes",
    )
    return first, 0 if kept is None else kept, within_reach(step)


@register_relay_op
@irdl_op_definition
class ReverseSequenceOp(MovementOp):
    """The first elements of each sequence in reverse order, followed by the others unchanged.

    `seq_lengths` has the number of elements along `seq_axis` to reverse for each index along `batch_axis`. A number
    that is not between 0 and the extent is an error at run time, unless there are no elements.

    Constraints:
    - C3: `seq_lengths` is a vector of integers, one for each index along `batch_axis`.
    - C4: `seq_axis` and `batch_axis` differ.

    Example:
    ```mlir
    %y = relay.reverse_sequence(%x, %n) {seq_axis = 1, batch_axis = 0}
        : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.reverse_sequence"
    CONSTRAINTS = {"C1": AxisOf("seq_axis"), "C2": AxisOf("batch_axis")}

    data = operand_def()
    seq_lengths = operand_def()

    seq_axis = int_property(1)
    batch_axis = int_property(0)

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the data's shape; checks C3 and C4."""
        along, batch = (axis_index(each.value.data, len(shape)) for each in (self.seq_axis, self.batch_axis))
        facts.require(along != batch, "C4", f"seq_axis and batch_axis are both {along}")
        lengths, element = facts.operand(1)
        is_list = isinstance(element, IntegerType) and element.width.data > 1 and len(lengths) == 1
        message = f"seq_lengths is {facts[1]} for {shape[batch]} sequences"
        facts.require(is_list, "C3", message)
        facts.require_equal(lengths[0], shape[batch], "C3", "seq_lengths and sequences", message=message)
        return shape

    def evaluate(self, data: Array, seq_lengths: Array) -> Array:
        """Reverses sequence by sequence. Lengths are not checked if there are no elements."""
        if not data.size:
            return data
        axes = self.batch_axis.value.data, self.seq_axis.value.data
        rows = np.moveaxis(data, axes, (0, 1)).copy()
        for row, length in zip(rows, seq_lengths.tolist(), strict=True):
            if not 0 <= length <= row.shape[0]:
                raise InterpreterError(f"seq_lengths has {length}, a sequence has {row.shape[0]} elements")
            row[:length] = row[:length][::-1].copy()
        return np.moveaxis(rows, (0, 1), axes)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads at reversed indices up to the sequence length, which is checked at run time."""
        data, lengths = build.operand(0), build.operand(1)
        shape = build.shape(data)
        along, batch = self.seq_axis.value.data % len(shape), self.batch_axis.value.data % len(shape)

        def read(b: Body) -> SSAValue:
            length = b.checked_index(b.read(lengths, b.spatial[batch]), shape[along] + 1)
            here = b.index(b.spatial[along])
            mirrored = b.minus(b.minus(length, here), 1)
            at = list(b.spatial)
            at[along] = b.as_index(b.select(b.compare(here, "lt", length), mirrored, here))
            return b.read(data, *at)

        return [build.compute("reverse_sequence", shape, build.element(data), read)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient reversed in the same way; None for the lengths."""
        return [build.op("reverse_sequence", of, self.seq_lengths, **self.properties), None]


@register_relay_op
@irdl_op_definition
class TileOp(MovementOp):
    """The tensor repeated `reps` times along each axis.

    The shorter of shape and `reps` is padded with leading ones.

    Example:
    ```mlir
    %y = relay.tile(%x) {reps = [2, 1, 3]} : (tensor<4x8xf32>) -> tensor<2x4x24xf32>
    ```

    """

    name = "relay.tile"
    QUANTIZATION = Quantization.MOVEMENT
    CONSTRAINTS = {"C1": AtLeast("reps", 0)}
    PATTERN = OpPatternKind.BROADCAST

    reps = required_ints_property()

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns each extent times its repetitions."""
        reps = ints(self.reps)
        rank = max(len(reps), len(shape))
        extents: list[Dim] = [1] * (rank - len(shape)) + list(shape)
        times = [1] * (rank - len(reps)) + list(reps)
        return tuple(extent * rep for extent, rep in zip(extents, times, strict=True))

    def evaluate(self, data: Array) -> Array:
        """Calls numpy."""
        return np.tile(data, ints(self.reps))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads at the remainder of the index."""
        from xrelay.dialects.relay.computes.movement import tiled

        return tiled(build)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum over the copies."""
        reps = ints(self.reps)
        reps = (1,) * (len(build.shape(self.data)) - len(reps)) + reps
        codes = [code for number in reps for code in (_SPLIT, number, _REST)]
        copies = tuple(range(0, 2 * len(reps), 2))
        total = build.op("sum", build.op("reshape", of, newshape=codes), axis=copies)
        return [build.reshape_like(total, self.data)]


@register_relay_op
@irdl_op_definition
class RepeatOp(MovementOp):
    """Each element repeated `repeats` times consecutively along `axis`.

    Example:
    ```mlir
    %y = relay.repeat(%x) {repeats = 3, axis = 1} : (tensor<4x8xf32>) -> tensor<4x24xf32>
    ```

    """

    name = "relay.repeat"
    QUANTIZATION = Quantization.MOVEMENT
    CONSTRAINTS = {"C1": AxisOf("axis"), "C2": AtLeast("repeats", 0)}
    PATTERN = OpPatternKind.BROADCAST

    repeats = int_property()
    axis = int_property(0)

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the shape with the axis multiplied by `repeats`."""
        axis, repeats = axis_index(self.axis.value.data, len(shape)), self.repeats.value.data
        return (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :])

    def evaluate(self, data: Array) -> Array:
        """Calls numpy."""
        return np.repeat(data, self.repeats.value.data, self.axis.value.data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads at the quotient of the index."""
        from xrelay.dialects.relay.computes.movement import moved

        repeated, count = self.axis.value.data % len(build.result_shape), self.repeats.value.data
        return moved(build, "repeat", lambda b, axis, i: i // count if axis == repeated and count > 1 else i)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum over the copies, which are consecutive."""
        rank = len(build.shape(self.data))
        axis = axis_index(self.axis.value.data, rank)
        codes = [*[_KEEP] * axis, _SPLIT, _REST, self.repeats.value.data, *[_KEEP] * (rank - axis - 1)]
        return [build.op("sum", build.op("reshape", of, newshape=codes), axis=axis + 1)]


@register_relay_op
@irdl_op_definition
class BroadcastToOp(MovementOp):
    """The data broadcast to `shape`.

    Constraints:
    - C2: `shape` has at least as many axes as the data; aligned at the last axis, each extent of the data is equal or
      1.

    Example:
    ```mlir
    %y = relay.broadcast_to(%x) {shape = [2, 4, 8]} : (tensor<4x1xf32>) -> tensor<2x4x8xf32>
    ```

    """

    name = "relay.broadcast_to"
    QUANTIZATION = Quantization.MOVEMENT
    CONSTRAINTS = {"C1": AtLeast("shape", 0)}
    PATTERN = OpPatternKind.BROADCAST

    shape = required_ints_property()

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns `shape`; checks C2."""
        target = ints(self.shape)
        message = f"shape {shape_text(shape)} does not broadcast to {list(target)}"
        require_broadcast(facts, shape, target, "C2", message)
        return target

    def evaluate(self, data: Array) -> Array:
        """Broadcasts to a new array."""
        return np.broadcast_to(data, ints(self.shape)).copy()

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Broadcasts as numpy does."""
        return build.map_elements("broadcast_to", lambda b, values: values[0])

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum over broadcast axes."""
        return [build.sum_like(of, self.data)]


def require_broadcast(facts: Facts, shape: Shape, target: Shape, constraint: str, message: str) -> None:
    """Requires that `shape` broadcasts to exactly `target`; `message` is the error message."""
    facts.require(len(target) >= len(shape), constraint, message)
    for own, wanted in zip(reversed(shape), reversed(target), strict=False):
        # A target of 1 requires an extent of 1; other targets also allow 1.
        if own in (1, wanted):
            continue
        if wanted == 1 or isinstance(own, int):
            facts.require_equal(own, wanted, constraint, "extents", message=message)
        else:
            facts.require_repeats(own, wanted, constraint, "extents")


@register_relay_op
@irdl_op_definition
class TriluOp(MovementOp):
    """The upper triangle of each matrix (the lower one if `upper` is false), with zeros elsewhere.

    The edge of the triangle, which belongs to it, is `k` elements to the right of the main diagonal.

    Constraints:
    - C2: `k` is an integer.

    Example:
    ```mlir
    %y = relay.trilu(%x, %k) {upper = false} : (tensor<2x4x4xf32>, tensor<i32>) -> tensor<2x4x4xf32>
    ```

    """

    name = "relay.trilu"
    CONSTRAINTS = {"C1": RankOf(0, 2)}
    PATTERN = OpPatternKind.ELEM_WISE

    data = operand_def()
    k = operand_def()

    upper = bool_property(True)

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the data's shape; checks C2."""
        at, element = facts.operand(1)
        is_number = at == () and isinstance(element, IntegerType) and element.width.data > 1
        facts.require(is_number, "C2", lambda: f"k is {facts[1]}, it must be an integer of rank 0")
        return shape

    def evaluate(self, data: Array, k: Array) -> Array:
        """Selects by distance from the diagonal; the edge may be outside of the matrix."""
        right: Array = np.diff(np.indices(data.shape[-2:]), axis=0)[0]
        kept: Array = right >= k.item() if self.upper.value.data else right <= k.item()
        return np.where(kept, data, np.zeros((), data.dtype))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Selects by the distance to the right of the main diagonal."""
        from xrelay.dialects.upstream.arith_extras import CmpiOp

        data, k = build.operand(0), build.operand(1)
        element, predicate = build.element(data), "sge" if self.upper.value.data else "sle"

        def choose(b: Body) -> SSAValue:
            row, column = b.spatial[-2:]
            right = b.number(column - row, i64)
            is_kept = b.add(CmpiOp(right, b.convert(b.read(k), i64), predicate))
            return b.select(is_kept, b.read(data, *b.spatial), 0)

        return [build.compute("trilu", build.shape(data), element, choose)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of the triangle; None for the number of the diagonal."""
        return [build.op("trilu", of, self.k, upper=self.upper), None]


@register_relay_op
@irdl_op_definition
class ReverseOp(RelayOp):
    """The data with the elements along `axis` in reverse order.

    Example:
    ```mlir
    %y = relay.reverse(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.reverse"
    QUANTIZATION = Quantization.MOVEMENT
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": AxisOf()}

    data = operand_def()

    axis = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type."""
        return facts.tensor(0)

    def evaluate(self, data: Array) -> Array:
        """Reverses the elements along the axis."""
        return np.flip(data, self.axis.value.data)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads at reversed indices along the axis."""
        data, shape = build.operand(0), build.result_shape
        axis = self.axis.value.data % len(shape)

        def fill(b: Body) -> SSAValue:
            at = list(b.spatial)
            at[axis] = at[axis] * -1 + b.expr(shape[axis] - 1)
            return b.read(data, *at)

        return [build.compute("reverse", shape, build.element(data), fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient in reverse order."""
        return [build.op("reverse", of, axis=self.axis.value.data)]
