"""Transposed convolutions: `relay.nn.conv1d_transpose`, `relay.nn.conv2d_transpose` and `relay.nn.conv3d_transpose`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

import numpy as np
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.core.sliding_window import Numbers
from xrelay.dialects.relay.gradients.windows import ConvolutionBuilder, exchange_channels
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Constraints,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    IndexLike,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    Tensors,
    TopiBuilder,
    ints,
    ints_property,
    not_differentiable,
    register_relay_op,
    tensor_type,
)
from xrelay.dialects.relay.ops.nn.conv import FilterOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.windows import WindowAxis, each


class ConvTransposeOp(FilterOp):
    """Base of the transposed convolutions; `nn.conv2d_transpose` documents the constraints."""

    FILTERS = "IO"
    ARGUMENTS = (*FilterOp.ARGUMENTS[:-1], "output_padding", "out_dtype")

    output_padding = ints_property(0)

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C12 and the constraints on filters."""
        return {**super().constraints_over(axes), "C12": Numbers(("output_padding",), (1, len(axes)), positive=False)}

    @property
    def extra(self) -> tuple[int, ...]:
        """The number of elements that are appended to each spatial axis."""
        return each(ints(self.output_padding), len(self.AXES))

    def result_channels(self, weight: dict[str, Dim]) -> Dim:
        """Returns one channel for each filter of each group."""
        return weight["O"] * self.groups.value.data

    def weight_channels(self, in_channels: Dim, channels: Dim) -> dict[str, Dim]:
        """Returns the channels of the data, and the filters of a group."""
        return {"I": in_channels, "O": channels // self.groups.value.data}

    def check_channels(self, facts: Facts, in_channels: Dim, weight: dict[str, Dim]) -> None:
        """Checks C3 and C4."""
        groups = self.groups.value.data
        message = f"the weight has {weight['I']} input channels, the data has {in_channels}"
        facts.require_equal(weight["I"], in_channels, "C3", "kernel in-channels", message=message)
        facts.require_equal(weight["I"] % groups, 0, "C4", f"in-channels {weight['I']} modulo groups {groups}:")

    def spatial_extents(self, facts: Facts, data: dict[str, Dim], weight: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the extents that the windows cover, without the padding; checks C6 and C9."""
        window = self.checked_window(facts, [weight[axis] for axis in self.AXES])
        extents: dict[str, Dim] = {}
        for letter, axis, more in zip(self.AXES, window, self.extra, strict=True):
            covered = axis.covered(data[letter])
            extents[letter] = covered - (axis.before + axis.after) + more
            for what, extent in (("data", data[letter]), ("result", extents[letter])):
                message = (
                    f"the {what} has the {letter} extent {extent}: its windows cover {covered}, of which padding is "
                    f"{axis.before + axis.after}"
                )
                facts.require_at_least(extent, 1, "C9", f"{letter} extent of the {what}", message=message)
        return extents

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Refuses, because the sums are those of a convolution in the original layouts."""
        return LayoutRefusal("a transposed convolution supports only its original layouts")

    def evaluate(self, data: Array, weight: Array) -> Array:
        """Multiplies the data by each tap of the filters, and adds the products at their places in the result."""
        (plain, kernel), groups = self.plain_factors(data, weight), self.groups.value.data
        batch, channels, *extents = plain.shape
        window = self.window(kernel.shape[2:])
        filters = kernel.reshape(groups, channels // groups, *kernel.shape[1:])
        images = plain.reshape(batch, groups, channels // groups, *extents)
        rows = zip(window, extents, self.extra, strict=True)
        counts = [axis.covered(extent) - axis.before - axis.after + extra for axis, extent, extra in rows]
        result = np.zeros((batch, groups, filters.shape[2], *counts), plain.dtype)
        for tap in np.ndindex(*kernel.shape[2:]):
            seen, places = zip(*map(_spread, window, tap, extents, counts), strict=True)
            result[(..., *places)] += np.einsum("bgi...,gio->bgo...", images[(..., *seen)], filters[(..., *tap)])
        return self.to_layout(result.reshape(batch, groups * filters.shape[2], *counts))


def _spread(axis: WindowAxis[int], tap: int, extent: int, count: int) -> tuple[slice, slice]:
    """Returns the elements along an axis that a tap adds to a result of `count` elements, and their places in it."""
    from xrelay.dialects.relay.meaning.windows import steps_inside

    first = axis.place(0, tap)
    begin, end = steps_inside(first, axis.stride, extent, count)
    if begin == end:
        return slice(0), slice(0)
    return slice(begin, end), slice(first + begin * axis.stride, first + (end - 1) * axis.stride + 1, axis.stride)


class PhaseAxis:
    """A spatial axis: the window of the convolution that computes all phases, and the places of its results."""

    def __init__(self, axis: WindowAxis[int], extent: Dim, result: Dim):
        """Raises `LoweringError` if the number of elements of the result beyond those of the data is not known."""
        self.spread, self.phases = axis, axis.stride
        self.taps = -(-axis.reach // axis.stride)
        self.first = min(axis.before // axis.stride, self.taps - 1)
        before = self.taps - 1 - self.first
        needed = (result - 1 + axis.before) // axis.stride + 1 - self.first
        after = needed - 1 + self.taps - extent - before
        if not isinstance(after, int):
            raise LoweringError(
                f"data of extent {extent} become {result} elements; for native code the difference from "
                f"{axis.stride} * ({extent}) must be a number",
                help="fix the input shapes with shapes={…}",
            )
        self.window = WindowAxis(self.taps, before=before, after=max(0, after))
        self.count = extent + self.window.count(0)

    def place(self, at: AffineExpr) -> tuple[AffineExpr, AffineExpr]:
        """Returns the phase and the position of an element of the result."""
        shifted = at + self.spread.before
        return shifted % self.phases, shifted // self.phases - self.first

    def distance(self, phase: AffineExpr, tap: AffineExpr) -> AffineExpr:
        """Returns the distance in elements from the data at this tap of the convolution to the element of a phase."""
        return tap * -self.phases + phase + self.phases * (self.taps - 1)


class DirectConvTransposeOp(ConvTransposeOp):
    """Base of the transposed convolutions that multiply floats or integers as they are."""

    HALF_PRECISION = HalfPrecision.SINGLE_RESULTS

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds a convolution of stride 1 with a result channel for each phase of the strides, and joins its results.

        Along an axis of stride s, element y of the result has the phase p = (y + before) mod s and the position q = (y
        + before) floordiv s in the data. The taps p, p + s, p + 2 s, … contribute to it: a filter with ceil(reach / s)
        taps. So all phases together are one convolution with s times as many filters, which computes no product with
        the zeros between spread elements.
        """
        from xrelay.dialects.relay.computes.layouts import in_layout
        from xrelay.dialects.topi.named import Conv1dNcwOp, Conv2dNchwOp, Conv3dNcdhwOp

        data_layout, weight_layout, out_layout = self.layouts
        weight = build.operand(1)
        data = in_layout(build, build.operand(0), data_layout, Layout.parse(self.image_axes))
        filters = cast("dict[str, int]", weight_layout.primal_extents(build.known(weight, "the weight")))
        primal = out_layout.primal_extents(build.result_shape)
        batch, _, *extents = build.shape(data)
        window = self.window([filters[axis] for axis in self.AXES])
        rows = zip(window, extents, (primal[axis] for axis in self.AXES), strict=True)
        axes = [PhaseAxis(*row) for row in rows]
        channels = filters["O"] * self.groups.value.data * prod(axis.phases for axis in axes)
        conv = (Conv1dNcwOp, Conv2dNchwOp, Conv3dNcdhwOp)[len(axes) - 1](
            data,
            self._phase_filters(build, filters, axes),
            tensor_type((batch, channels, *(axis.count for axis in axes)), build.result_type.element_type),
            padding=[*(axis.window.before for axis in axes), *(axis.window.after for axis in axes)],
            groups=self.groups.value.data,
        )
        return [self._joined(build, build.insert(conv).results[0], axes)]

    def _phase_filters(self, build: TopiBuilder, extents: dict[str, int], axes: Sequence[PhaseAxis]) -> SSAValue:
        """Returns the weight as filters of a convolution: (filter and phases, channels of a group, taps)."""
        from xrelay.dialects.relay.computes.layouts import layout_indices

        weight, groups, phases = build.operand(1), self.groups.value.data, prod(axis.phases for axis in axes)
        element, depth = build.element(weight), extents["I"] // groups

        def fill(b: Body) -> SSAValue:
            number, channel, *taps = b.spatial
            filter_ = number // phases
            at: dict[str, AffineExpr] = {
                "O": filter_ % extents["O"],
                "I": filter_ // extents["O"] * depth + channel,
            }
            conditions: list[tuple[IndexLike, int]] = []
            parts = _digits(number % phases, [axis.phases for axis in axes])
            for letter, axis, phase, tap in zip(self.AXES, axes, parts, taps, strict=True):
                distance, dilation = axis.distance(phase, tap), axis.spread.dilation
                at[letter] = distance // dilation
                conditions += [(at[letter], axis.spread.size), (distance % dilation, 1)]
            inside = b.in_bounds([index for index, _ in conditions], [size for _, size in conditions])
            indices = layout_indices(self.layouts[1], at)
            return b.guard(inside, element, lambda: b.read(weight, *indices), 0)

        shape = (extents["O"] * groups * phases, depth, *(axis.taps for axis in axes))
        return build.compute("phase_filters", shape, element, fill)

    def _joined(self, build: TopiBuilder, results: SSAValue, axes: Sequence[PhaseAxis]) -> SSAValue:
        """Returns the results of all phases at their places, in the layout of the op."""
        from xrelay.dialects.relay.computes.layouts import primal_indices

        def fill(b: Body) -> SSAValue:
            at = primal_indices(self.layouts[2], b.spatial)
            channel, positions = at["C"], list[AffineExpr]()
            for letter, axis in zip(self.AXES, axes, strict=True):
                phase, position = axis.place(at[letter])
                channel = channel * axis.phases + phase
                positions.append(position)
            return b.read(results, at["N"], channel, *positions)

        label = f"conv{len(self.AXES)}d_transpose"
        return build.compute(label, build.result_shape, build.element(results), fill)

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns a convolution of the gradient, and the gradient of its weight, with gradient and data exchanged."""
        data, weight, out = self.layouts
        grad, filters = (build.cast_like(of, self.data), out), exchange_channels(weight)
        window = self.known_window(build)
        if any(more >= axis.stride for more, axis in zip(self.extra, window, strict=True)):
            raise not_differentiable(self, "its output_padding is not less than its strides")
        convolution = ConvolutionBuilder(build, window, self.groups.value.data)
        of_data = convolution.convolved(grad, (self.weight, filters), data)
        return [of_data, convolution.weight_gradient((self.data, data), grad, filters)]


def _digits(number: AffineExpr, bases: Sequence[int]) -> list[AffineExpr]:
    """Returns the digits of a number whose digit k is less than `bases[k]`; the last digit is the lowest."""
    digits: list[AffineExpr] = []
    for base in reversed(bases):
        digits.insert(0, number % base)
        number = number // base
    return digits


@register_relay_op
class Conv1DTransposeOp(DirectConvTransposeOp):
    """One-dimensional transposed convolution: data (N, C, W), weight (C, O / groups, KW).

    `nn.conv2d_transpose` documents C3 to C6 and C9.

    Example:
    ```mlir
    %y = relay.nn.conv1d_transpose(%x, %w) {strides = [2], padding = [1, 1], output_padding = [1]}
        : (tensor<1x8x9xf32>, tensor<8x4x3xf32>) -> tensor<1x4x18xf32>
    ```

    """

    name = "relay.nn.conv1d_transpose"
    AXES = "W"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients of `nn.conv2d_transpose` with filters of height 1."""
        return self.gradients_of_twin(Conv2DTransposeOp, of, build, output_padding=(0, *self.extra))


@register_relay_op
class Conv2DTransposeOp(DirectConvTransposeOp):
    """Two-dimensional transposed convolution: the gradient of `nn.conv2d` in its data, also called deconvolution.

    With data (N, C, H, W) and weight (C, O / groups, KH, KW), each element of the data is multiplied by a filter:

        whole[n, o, y * strides[0] + r * dilation[0], x * strides[1] + s * dilation[1]] +=
            data[n, c, y, x] * weight[c, o % (O / groups), r, s]     for the channels c of the group of o

    The result is `whole` without `padding` around it (top, left, bottom, right), and with `output_padding` more rows
    and columns at the end. An element without a product is zero.

    Constraints:
    - C3: the weight's in-channels are the data's channels.
    - C4: `groups` is positive and divides the in-channels.
    - C5: `channels`, if given, is the weight's out-channels times `groups`.
    - C6: `kernel_size`, if given, is the weight's height and width, which are positive.
    - C9: data and result have at least one row and one column.

    Example:
    ```mlir
    %y = relay.nn.conv2d_transpose(%x, %w) {strides = [2, 2], padding = [1, 1, 1, 1], kernel_size = [4, 4]}
        : (tensor<1x16x7x7xf32>, tensor<16x8x4x4xf32>) -> tensor<1x8x14x14xf32>
    ```

    """

    name = "relay.nn.conv2d_transpose"
    AXES = "HW"


@register_relay_op
class Conv3DTransposeOp(DirectConvTransposeOp):
    """Three-dimensional transposed convolution: data (N, C, D, H, W), weight (C, O / groups, KD, KH, KW).

    `nn.conv2d_transpose` documents C3 to C6 and C9.

    Example:
    ```mlir
    %y = relay.nn.conv3d_transpose(%x, %w) {strides = [2, 2, 2]}
        : (tensor<1x4x3x4x4xf32>, tensor<4x2x2x2x2xf32>) -> tensor<1x2x6x8x8xf32>
    ```

    """

    name = "relay.nn.conv3d_transpose"
    AXES = "DHW"
