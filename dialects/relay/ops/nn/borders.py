"""`relay.nn.mirror_pad`, and `relay.nn.fifo_buffer`, which holds the last elements of a stream."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import operand_def

from xrelay.dialects.relay.gradients.numbered_elements import gradient_by_numbers, no_numbers, numbered, sum_by_number
from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    AxisOf,
    Body,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RelayOp,
    SameElements,
    Shape,
    Tensors,
    TopiBuilder,
    axis_index,
    int_property,
    ints,
    register_relay_op,
    required_ints_property,
    shape_text,
    string_property,
    with_flat,
)
from xrelay.dialects.relay.ops.tensor.movement import MovementOp
from xrelay.errors import InterpreterError


@register_relay_op
class MirrorPadOp(MovementOp):
    """The data padded by mirroring: `pad_width` lists (before, after) for every axis in one flat array.

    `mode` "SYMMETRIC" mirrors at the outer edges of the outermost elements and repeats these; "REFLECT" mirrors at
    their centres.

    Constraints:
    - C2: `pad_width` has two numbers for each axis, and none is negative.
    - C3: no axis is padded by more than its extent, or by more than one less with "REFLECT".

    Example:
    ```mlir
    %y = relay.nn.mirror_pad(%x) {pad_width = [0, 0, 2, 1]} : (tensor<2x3xf32>) -> tensor<2x6xf32>
    ```

    """

    name = "relay.nn.mirror_pad"
    CONSTRAINTS = {"C1": OneOf("mode", ("SYMMETRIC", "REFLECT"))}

    pad_width = required_ints_property()
    mode = string_property("SYMMETRIC")

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts pairs: `((0, 0), (1, 1))`."""
        return with_flat(attributes, "pad_width")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(before, after) of each axis."""
        widths = ints(self.pad_width)
        return list(zip(widths[::2], widths[1::2], strict=True))

    def result_shape(self, facts: Facts, shape: Shape) -> Shape:
        """Returns the padded extents; checks C2 and C3."""
        widths = ints(self.pad_width)
        legal = len(widths) == 2 * len(shape) and all(width >= 0 for width in widths)
        message = f"pad_width must have {2 * len(shape)} non-negative numbers, found {list(widths)}"
        facts.require(legal, "C2", message)
        for extent, pair in zip(shape, self.pairs, strict=True):
            if any(pair):
                seen = extent - (self.mode.data == "REFLECT")
                facts.require_at_least(seen, max(pair), "C3", f"pad width and mirrored elements of {extent}:")
        return tuple(extent + before + after for extent, (before, after) in zip(shape, self.pairs, strict=True))

    def evaluate(self, data: Array) -> Array:
        """Pads with `np.pad`."""
        for extent, pair in zip(data.shape, self.pairs, strict=True):
            if any(pair) and extent - (self.mode.data == "REFLECT") < max(pair):
                raise InterpreterError(f"an axis of {extent} elements is padded by {pair[0]} and {pair[1]}")
        if not self.pairs:  # numpy rejects an empty list of widths
            return data
        return np.pad(data, self.pairs, mode="symmetric" if self.mode.data == "SYMMETRIC" else "reflect")

    def compute(self, build: TopiBuilder) -> Tensors:
        """Reads at mirrored indices."""
        from xrelay.dialects.relay.computes.movement import read_borders

        data, repeated = build.operand(0), int(self.mode.data == "SYMMETRIC")

        def mirrored(b: Body, at: AffineExpr, extent: Dim) -> AffineExpr:
            inner = b.as_index(b.maximum(b.index(at), b.index(at * -1 - repeated)))
            return b.as_index(b.minimum(b.index(inner), b.index(inner * -1 + b.expr(extent * 2 - 2 + repeated))))

        def read(b: Body) -> SSAValue:
            at = [index - before for index, (before, _) in zip(b.spatial, self.pairs, strict=True)]
            return read_borders(b, data, at, [any(pair) for pair in self.pairs], mirrored)

        return [build.compute("mirror_pad", build.result_shape, build.element(data), read)]

    gradient = gradient_by_numbers


@register_relay_op
class FifoBufferOp(RelayOp):
    """The buffer with its first elements along `axis` removed and the data, as many elements, appended.

    Constraints:
    - C3: data and buffer have the same rank, and equal extents along the other axes.
    - C4: the data has no more elements along the axis than the buffer.

    Example:
    ```mlir
    %y = relay.nn.fifo_buffer(%x, %b) {axis = 1} : (tensor<2x1x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    ```

    """

    name = "relay.nn.fifo_buffer"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {"C1": SameElements(), "C2": AxisOf()}

    data = operand_def()
    buffer = operand_def()

    axis = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the buffer's type; checks C3 and C4."""
        shape, room = facts.shape(0), facts.shape(1)
        message = f"data of shape {shape_text(shape)} for a buffer of shape {shape_text(room)}"
        facts.require(len(shape) == len(room), "C3", message)
        along = axis_index(self.axis.value.data, len(shape))
        for axis, (extent, place) in enumerate(zip(shape, room, strict=True)):
            if axis != along:
                facts.require_equal(extent, place, "C3", "extents of data and buffer", message=message)
        facts.require_at_least(room[along], shape[along], "C4", "elements of the buffer, and of the data,")
        return facts.tensor(1)

    def evaluate(self, data: Array, buffer: Array) -> Array:
        """Drops the first elements of the buffer and appends the data."""
        axis = self.axis.value.data % data.ndim
        if data.shape[axis] > buffer.shape[axis]:
            raise InterpreterError(f"{data.shape[axis]} elements for a buffer of {buffer.shape[axis]}")
        return np.concatenate([np.take(buffer, range(data.shape[axis], buffer.shape[axis]), axis), data], axis)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Reads the kept elements of the buffer, followed by those of the data."""
        data, buffer = build.operand(0), build.operand(1)
        shape, element = build.shape(buffer), build.element(data)
        axis = self.axis.value.data % len(shape)
        count = build.shape(data)[axis]
        kept = shape[axis] - count

        def choose(b: Body) -> SSAValue:
            def read(tensor: SSAValue, shift: Dim) -> SSAValue:
                at = [*b.spatial]
                at[axis] = at[axis] + b.expr(shift)
                return b.read(tensor, *at)

            is_kept = b.in_bounds([b.spatial[axis]], [kept])
            return b.guard(is_kept, element, lambda: read(buffer, count), lambda: read(data, kept * -1))

        return [build.compute("fifo_buffer", shape, element, choose)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients at the elements of data and buffer in the new buffer."""
        rows = (
            (numbered(self.data, build), no_numbers(self.buffer, build)),
            (no_numbers(self.data, build), numbered(self.buffer, build)),
        )
        numbers = [build.op("nn.fifo_buffer", *row, **self.properties) for row in rows]
        return [sum_by_number(each, of, value, build) for each, value in zip(numbers, self.operands, strict=True)]
