"""Two-dimensional convolutions by Winograd's algorithm, and the transform of their weights.

`relay-apply-winograd` replaces `nn.conv2d` by them, and transforms the weight when the program is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Constraints,
    Dim,
    Facts,
    FloatElements,
    HalfPrecision,
    Layout,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    RankOf,
    RelayOp,
    Tensors,
    TopiBuilder,
    int_property,
    ints,
    register_relay_op,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.ops.nn.conv import ConvOp
from xrelay.dialects.shared.winograd import PAIRS, TAPS, points
from xrelay.index_algebra.windows import sides_of


@register_relay_op
class ContribConv2DWinogradWeightTransformOp(RelayOp):
    """The weight (O, I, 3, 3) of a convolution, transformed for tiles of m×m results: (m + 2, m + 2, O, I).

    Element [p, q] of the result is `Σ_{r, s} G[p, r] G[q, s] weight[…, r, s]`. The polynomial M is the product of `x -
    x_p` over the finite points x_p: 0, ±1 for m = 2, and 0, ±5/8, ±3/2 for m = 4. Row p of G is `[1, x_p, x_p²] /
    M'(x_p)`; the last row, of the point ∞, is [0, 0, 1]. TVM has other points for m = 4.

    Constraints:
    - C3: `tile_size` is 2 or 4.
    - C4: the weight has 3 rows and columns.

    Example:
    ```mlir
    %u = relay.nn.contrib_conv2d_winograd_weight_transform(%w) {tile_size = 4}
        : (tensor<8x4x3x3xf32>) -> tensor<6x6x8x4xf32>
    ```

    """

    name = "relay.nn.contrib_conv2d_winograd_weight_transform"
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {"C1": FloatElements(), "C2": RankOf(0, 4, 4)}

    weight = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    tile_size = int_property(4)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with the points first; checks C3 and C4."""
        tile = self.tile_size.value.data
        self.require(tile in PAIRS, "C3", f"tile_size must be {' or '.join(map(str, PAIRS))}, found {tile}")
        (filters, channels, *sizes), element = facts.operand(0)
        for size in sizes:
            facts.require_equal(size, TAPS, "C4", "filter extent, and 3:")
        size = tile + TAPS - 1
        return tensor_type((size, size, filters, channels), element)

    def evaluate(self, weight: Array) -> Array:
        """Multiplies by G from both sides."""
        return transform_weight(weight, self.tile_size.value.data)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sums the elements of a filter, multiplied by constants that the indices select."""
        weight, element = build.operand(0), build.result_type.element_type
        rows = _factors(self.tile_size.value.data)

        def fill(b: Body) -> SSAValue:
            p, q, o, i = b.spatial
            r, s = b.reduction
            constants = [b.constant(number, element) for row in rows for number in row]
            factor = b.times(b.choose(p * TAPS + r, constants), b.choose(q * TAPS + s, constants))
            return b.accumulate_product(b.accumulators[0], b.read(weight, o, i, r, s), factor)

        spatial = dict(zip("pqoi", build.result_shape, strict=True))
        return [build.compute(build.label, spatial, element, fill, reduce={"r": TAPS, "s": TAPS}, init=[0])]


def _factors(tile: int) -> list[list[float]]:
    """Returns the rows of G."""
    finite = points(tile)
    divisors = [prod(point - other for other in finite if other != point) for point in finite]
    rows = [[point**tap / divisor for tap in range(TAPS)] for point, divisor in zip(finite, divisors, strict=True)]
    return [*rows, [0.0] * (TAPS - 1) + [1.0]]


CHUNK: Final = 1024
"""The number of filters times channels to transform at once: the cache holds them, and BLAS starts no threads."""


def transform_weight(weight: Array, tile: int) -> Array:
    """Transforms a weight (O, I, 3, 3) for tiles of `tile` rows to (tile + 2, tile + 2, O, I), in f64."""
    matrix = _filter_matrix(tile)
    both_axes = np.kron(matrix, matrix)
    taps = weight.transpose(2, 3, 0, 1).astype(np.float64).reshape(TAPS**2, -1)
    result = np.empty((len(both_axes), taps.shape[1]), weight.dtype)
    for first in range(0, taps.shape[1], CHUNK):
        result[:, first : first + CHUNK] = both_axes @ taps[:, first : first + CHUNK]
    return result.reshape(len(matrix), len(matrix), *weight.shape[:2])


def _filter_matrix(tile: int) -> Array:
    """Returns G: powers of the points, divided by the derivative of their polynomial."""
    finite = np.array(points(tile))
    derivative = np.polyval(np.polyder(np.poly(finite)), finite)
    return np.vstack([finite[:, None] ** np.arange(TAPS) / derivative[:, None], np.eye(TAPS)[-1:]])


@register_relay_op
class ContribConv2DWinogradWithoutWeightTransformOp(ConvOp):
    """A convolution of stride 1 with 3×3 filters, whose weight `nn.contrib_conv2d_winograd_weight_transform` made.

    A tile of m×m results takes (m + 2)² products for each channel instead of 9 m². The results are those of `nn.conv2d`
    with other rounding errors: the greatest, relative to the greatest result, are about 2e-6 in f32. An inf or NaN that
    one result of a tile reads makes all results of the tile NaN.

    The weight is (m + 2, m + 2, O, I). `kernel_size` is that of the filters before they were transformed.

    Constraints:
    - C3: the weight's in-channels are the data's channels.
    - C5: `channels`, if given, is the weight's number of out-channels.
    - C6: `kernel_size`, if given, is 3 and 3.
    - C9: the padded data has at least 3 rows and columns.
    - C12: `tile_size` is 2 or 4, and the weight has so many rows and columns plus 2.
    - C13: strides, dilation and groups are 1.

    Example:
    ```mlir
    %y = relay.nn.contrib_conv2d_winograd_without_weight_transform(%x, %u) {tile_size = 2, padding = [1, 1, 1, 1]}
        : (tensor<1x4x7x7xf32>, tensor<4x4x8x4xf32>) -> tensor<1x8x7x7xf32>
    ```

    """

    name = "relay.nn.contrib_conv2d_winograd_without_weight_transform"
    AXES = "HW"
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    QUANTIZATION = None
    ARGUMENTS = ("tile_size", *ConvOp.ARGUMENTS)

    tile_size = int_property(4)
    kernel_layout = string_property("HWOI")

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns also C14: transformed weights are fractions."""
        return {**super().constraints_over(axes), "C14": FloatElements()}

    def check_channels(self, facts: Facts, in_channels: Dim, weight: dict[str, Dim]) -> None:
        """Checks C3, C12 and C13."""
        super().check_channels(facts, in_channels, weight)
        tile, groups = self.tile_size.value.data, self.groups.value.data
        self.require(tile in PAIRS, "C12", f"tile_size must be {' or '.join(map(str, PAIRS))}, found {tile}")
        for axis in self.AXES:
            facts.require_equal(weight[axis], tile + TAPS - 1, "C12", f"weight extent {axis}, and tile_size plus 2:")
        steps = [*ints(self.strides), *ints(self.dilation), groups]
        self.require(set(steps) == {1}, "C13", f"strides, dilation and groups must be 1, found {steps}")

    def _check_hints(self, facts: Facts, weight: dict[str, Dim]) -> None:
        super()._check_hints(facts, {**weight, **dict.fromkeys(self.AXES, TAPS)})

    def spatial_extents(self, facts: Facts, data: dict[str, Dim], weight: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the number of windows that fit; checks C9."""
        return self.window_counts(facts, self.window((TAPS, TAPS)), data)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the types as they are: the weight is the result of its transform."""
        return facts

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the layouts."""
        return LayoutRefusal("layouts are chosen before Winograd's algorithm")

    def evaluate(self, data: Array, weight: Array) -> Array:
        """Multiplies each tile of the data, each product, and each tile of the result by the matrices of the points."""
        plain, kernel = self.plain_factors(data, weight)
        tile, window = self.tile_size.value.data, self.window((TAPS, TAPS))
        forward, backward = (matrix.astype(plain.dtype) for matrix in _tile_matrices(tile))
        counts = [axis.count(extent) for axis, extent in zip(window, plain.shape[2:], strict=True)]
        grid = [-(-count // tile) for count in counts]
        ends = [tiles * tile + TAPS - 1 - axis.before for tiles, axis in zip(grid, window, strict=True)]
        cropped = plain[:, :, : ends[0], : ends[1]]
        sides = [(axis.before, end - extent) for axis, end, extent in zip(window, ends, cropped.shape[2:], strict=True)]
        padded = np.pad(cropped, [(0, 0), (0, 0), *sides])
        tiles = np.lib.stride_tricks.sliding_window_view(padded, forward.shape, (2, 3))[:, :, ::tile, ::tile]
        values = np.einsum("pk,ncyxkl,ql->pqnyxc", forward, tiles, forward, optimize=True)
        rows = values.reshape(*forward.shape, prod(values.shape[2:-1]), kernel.shape[1])
        sums = np.matmul(rows, kernel.transpose(2, 3, 1, 0)).reshape(*values.shape[:-1], kernel.shape[0])
        result = np.einsum("ip,pqnyxo,jq->noyixj", backward, sums, backward, optimize=True)
        whole = result.reshape(*result.shape[:2], grid[0] * tile, grid[1] * tile)
        return self.to_layout(whole[:, :, : counts[0], : counts[1]])

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds topi's convolution on blocked channels; other layouts are converted."""
        from xrelay.dialects.relay.computes.layouts import in_layout
        from xrelay.dialects.topi.named import Conv2dNchwcWinogradOp

        layouts, element = self.layouts, build.result_type.element_type
        texts = ("NCHW{}c", "OHWI{}o", "NCHW{}c")
        factors = (layouts[0].factor("C"), layouts[2].factor("C"), layouts[2].factor("C"))
        blocked = [Layout.parse(text.format(factor or 1)) for text, factor in zip(texts, factors, strict=True)]
        data, weight = (
            build.converted("widen", in_layout(build, build.operand(index), layouts[index], blocked[index]), element)
            for index in range(2)
        )
        extents = layouts[2].primal_extents(build.result_shape)
        conv = Conv2dNchwcWinogradOp(
            data,
            weight,
            tensor_type(blocked[2].shape_from(extents), element),
            tile=self.tile_size.value.data,
            padding=sides_of(self.window((TAPS, TAPS))),
        )
        return [in_layout(build, build.insert(conv).results[0], blocked[2], layouts[2])]


def _tile_matrices(tile: int) -> tuple[Array, Array]:
    """Returns the transforms of the lines of data, and of the lines of values to results."""
    finite = points(tile)
    size = len(finite) + 1
    forward = np.zeros((size, size))
    for row, point in enumerate(finite):
        others = [other for other in finite if other != point]
        forward[row, : size - 1] = np.poly(others)[::-1]
    forward[-1] = np.poly(finite)[::-1]
    backward = np.zeros((tile, size))
    backward[:, :-1] = np.array(finite) ** np.arange(tile)[:, None]
    backward[-1, -1] = 1
    return forward, backward
