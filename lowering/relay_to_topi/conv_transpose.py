"""Transposed convolutions as convolutions of stride 1, one result channel for each phase of the strides.

Along an axis of stride s, element y of the result is number p = (y + before) mod s of the s results that belong to
position q = (y + before) floordiv s of the data, and the taps that reach it are p, p + s, p + 2 s, …: a filter of
ceil(reach / s) taps of its own. So all phases together are one convolution, with s times as many filters, whose results
are put side by side; no product with the zeros between spread elements is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import into_single
from xrelay.dialects.relay.computes.layouts import layout_indices, primal_indices
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_conv_transpose import TRANSPOSED_CONVOLUTIONS, ConvTransposeOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.named import Conv1dNcwOp, Conv2dNchwOp, Conv3dNcdhwOp, ConvPlainOp
from xrelay.dialects.topi.shapes import shape_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis
from xrelay.lowering.relay_to_topi.pool import relayout
from xrelay.lowering.relay_to_topi.registry import implements

TOPI_OPS: dict[str, type[ConvPlainOp]] = {"W": Conv1dNcwOp, "HW": Conv2dNchwOp, "DHW": Conv3dNcdhwOp}


class _PhaseAxis:
    """One spatial axis: the window of the convolution that computes all phases, and where its results belong."""

    def __init__(self, axis: WindowAxis[int], extent: Dim, result: Dim):
        """Raises `LoweringError` if the extent of the result beyond the data's own elements is not known."""
        self.spread, self.phases = axis, axis.stride
        self.taps = -(-axis.reach // axis.stride)
        self.first = min(axis.before // axis.stride, self.taps - 1)
        before = self.taps - 1 - self.first
        needed = (result - 1 + axis.before) // axis.stride + 1 - self.first
        after = needed - 1 + self.taps - extent - before
        if not isinstance(after, int):
            raise LoweringError(
                f"data of extent {extent} become {result} elements; native code needs to know by how much that exceeds "
                f"{axis.stride} * ({extent})",
                help="fix the input shapes with shapes={…}",
            )
        self.window = WindowAxis(self.taps, before=before, after=max(0, after))
        self.count = extent + self.window.count(0)

    def place(self, at: AffineExpr) -> tuple[AffineExpr, AffineExpr]:
        """Phase and position of an element of the result."""
        shifted = at + self.spread.before
        return shifted % self.phases, shifted // self.phases - self.first

    def tap(self, phase: AffineExpr, tap: AffineExpr) -> AffineExpr:
        """Returns the distance in elements from the data at this tap of the convolution to the element of a phase."""
        return tap * -self.phases + phase + self.phases * (self.taps - 1)


@into_single
def build_conv_transpose(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """The filters of all phases, their convolution, and its results side by side."""
    op = cast(ConvTransposeOp, emitter.op)
    data_layout, weight_layout, out_layout = op.layouts
    data, weight, plain = emitter.operand(0), emitter.operand(1), Layout.parse(op.image_axes)
    if data_layout != plain:
        data = relayout(emitter, data, data_layout, plain)
    filters = cast("dict[str, int]", weight_layout.primal_extents(emitter.known(weight, "the weight")))
    primal = out_layout.primal_extents(emitter.result_shape)
    batch, _, *extents = shape_of(data)
    window = op.window([filters[axis] for axis in op.AXES])
    rows = zip(window, extents, (primal[axis] for axis in op.AXES), strict=True)
    axes = [_PhaseAxis(*row) for row in rows]
    channels = filters["O"] * op.groups.value.data * prod(axis.phases for axis in axes)
    conv = TOPI_OPS[op.AXES](
        data,
        _phase_filters(emitter, weight, filters, axes),
        tensor_type((batch, channels, *(axis.count for axis in axes)), emitter.result_type.element_type),
        padding=[*(axis.window.before for axis in axes), *(axis.window.after for axis in axes)],
        groups=op.groups.value.data,
    )
    return [_side_by_side(emitter, emitter.insert(conv).results[0], axes)]


def _phase_filters(
    emitter: TopiBuilder, weight: SSAValue, extents: dict[str, int], axes: Sequence[_PhaseAxis]
) -> SSAValue:
    """The weight as filters of a convolution: (filter and phases, channels of a group, taps)."""
    op, element = cast(ConvTransposeOp, emitter.op), element_of(weight)
    layout, phases = op.layouts[1], prod(axis.phases for axis in axes)
    depth = extents["I"] // op.groups.value.data

    def fill(b: Body) -> SSAValue:
        number, channel, *taps = b.spatial
        filter_ = number // phases
        group = filter_ // extents["O"]
        at: dict[str, AffineExpr] = {"O": filter_ % extents["O"], "I": group * depth + channel}
        conditions: list[tuple[IndexLike, int]] = []
        parts = _digits(number % phases, [axis.phases for axis in axes])
        for letter, axis, phase, tap in zip(op.AXES, axes, parts, taps, strict=True):
            distance, dilation = axis.tap(phase, tap), axis.spread.dilation
            at[letter] = distance // dilation
            conditions += [(at[letter], axis.spread.size), (distance % dilation, 1)]
        inside = b.in_bounds([index for index, _ in conditions], [size for _, size in conditions])
        return b.guard(
            inside, element, lambda: b.read(weight, *layout_indices(layout, at)), lambda: b.constant(0, element)
        )

    shape = (extents["O"] * op.groups.value.data * phases, depth, *(axis.taps for axis in axes))
    return emitter.compute("phase_filters", variables("i", shape), element, fill)


def _side_by_side(emitter: TopiBuilder, results: SSAValue, axes: Sequence[_PhaseAxis]) -> SSAValue:
    """The results of all phases, each at its place, in the op's layout."""
    op, element = cast(ConvTransposeOp, emitter.op), element_of(results)
    layout = op.layouts[2]

    def fill(b: Body) -> SSAValue:
        at = primal_indices(layout, b.spatial)
        channel, positions = at["C"], list[AffineExpr]()
        for letter, axis in zip(op.AXES, axes, strict=True):
            phase, position = axis.place(at[letter])
            channel = channel * axis.phases + phase
            positions.append(position)
        return b.read(results, at["N"], channel, *positions)

    label = f"conv{len(op.AXES)}d_transpose"
    return emitter.compute(label, variables("i", emitter.result_shape), element, fill)


def _digits(number: AffineExpr, bases: Sequence[int]) -> list[AffineExpr]:
    """The digits of a number whose places count to `bases`."""
    digits: list[AffineExpr] = []
    for base in reversed(bases):
        digits.insert(0, number % base)
        number = number // base
    return digits


for _op in TRANSPOSED_CONVOLUTIONS:
    implements(_op, f"conv{len(_op.AXES)}d_transpose.phases")(build_conv_transpose)
