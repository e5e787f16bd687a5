"""Floats split into parts of bf16, and products of such data with f32 results, which CPUs compute on tiles.

`relay-split-products` replaces products and convolutions of f32 by them, and splits the weight when the program is
compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, Float32Type
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.core.sliding_window import extents_in, require_blocks
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Constraints,
    Dim,
    Facts,
    Layout,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    Tensors,
    TopiBuilder,
    numpy_dtype,
    optional_int,
    optional_int_property,
    register_relay_op,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.ops.nn.conv import ConvOp, convolve
from xrelay.dialects.relay.ops.nn.dense import packed_block, packed_layout
from xrelay.dialects.shared.split_floats import CHANNELS, LARGEST, PAIRS, PARTS
from xrelay.index_algebra.windows import sides_of

BEFORE = "layouts are chosen before products are split"


SPLIT_AT_ONCE = 1 << 16
"""The number of floats that are split at a time, so that all intermediate results stay in the cache."""


def split_array(data: Array) -> Array:
    """Returns the high and the low parts of f32 numbers."""
    half, flat = numpy_dtype(BFloat16Type()), data.reshape(-1)
    parts = np.empty((PARTS, flat.size), half)
    for start in range(0, flat.size, SPLIT_AT_ONCE):
        some = slice(start, start + SPLIT_AT_ONCE)
        with np.errstate(invalid="ignore"):
            high = np.clip(flat[some], np.float32(-LARGEST), np.float32(LARGEST)).astype(half)
            parts[0, some] = high
            parts[1, some] = (flat[some] - high.astype(np.float32)).astype(half)
    return parts.reshape(PARTS, *data.shape)


def split_filters(weight: Array) -> Array:
    """Returns filters (O, C, …) of f32 as the weight (O, 2 D, …) of `nn.contrib_conv2d_split`.

    The parts of all channels at one tap of a filter are contiguous.
    """
    channels_last = np.moveaxis(weight, 1, -1)
    missing = -channels_last.shape[-1] % CHANNELS
    if missing:
        channels_last = np.pad(channels_last, [*[(0, 0)] * (weight.ndim - 1), (0, missing)])
    *outer, channels = channels_last.shape
    parts = split_array(channels_last.reshape(*outer, channels // CHANNELS, CHANNELS))
    low_first = np.moveaxis(parts[::-1], 0, -2)
    return np.moveaxis(low_first.reshape(*outer, PARTS * channels), -1, 1)


@register_relay_op
class ContribSplitFloatsOp(RelayOp):
    """Each element as a sum of two bf16 numbers: data (…) gives (2, …), first the high parts, then the low parts.

    The high part is the element rounded to bf16, the low part is the rest rounded to bf16. Their sum differs from the
    element by at most 2⁻¹⁷ of it. The high part of an infinity is the greatest number of its sign, and the low part the
    infinity; the parts of NaN are NaN. CPUs may replace subnormal parts by 0.

    Constraints:
    - C1: the elements are f32.

    Example:
    ```mlir
    %y = relay.nn.contrib_split_floats(%x) : (tensor<4x64xf32>) -> tensor<2x4x64xbf16>
    ```

    """

    name = "relay.nn.contrib_split_floats"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.NEVER

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the shape after an axis of 2 parts; checks C1."""
        shape, element = facts.operand(0)
        facts.require(element == Float32Type(), "C1", lambda: f"the elements must be f32, found {element}")
        return tensor_type((PARTS, *shape), BFloat16Type())

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the layouts."""
        return LayoutRefusal(BEFORE)

    def evaluate(self, data: Array) -> Array:
        """Rounds the data and its difference from the high parts."""
        return split_array(data)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Computes both parts of each element and selects one by the first index."""
        from xrelay.dialects.topi.named.split_products import parts_of_float

        data = build.operand(0)

        def fill(b: Body) -> SSAValue:
            part, *at = b.spatial
            return b.choose(part, parts_of_float(b, b.read(data, *at)))

        return [build.compute(build.label, build.result_shape, BFloat16Type(), fill)]


@register_relay_op
class ContribDenseSplitOp(RelayOp):
    """Matrix product in f32 of split data (2, …, k) and a split packed weight (2, units / b, k / t, b, t): (…, units).

    A weight (2, s…, units / b, k / t, b, t) is a stack of matrices for data (2, s…, …, k).

    `nn.contrib_split_floats` splits the data, and the weight of `nn.contrib_dense_pack` in `weight_layout`. The result
    is the sum of three products: high × high, high × low and low × high parts. Its greatest error, relative to the
    greatest result, is about 4e-6. An infinity times a number of 2⁻¹²⁶ to 2⁸ is an infinity, and times others perhaps
    NaN, as is a result that overflows.

    Constraints:
    - C1: the data has at least two axes, the weight has the rank of `weight_layout` plus 1, and both begin with an axis
      of 2 parts. The axes of a stack follow in both, with the same extents.
    - C2: `weight_layout` is NC with N in blocks, followed by blocks of C, e.g. NC16n2c, and the weight has its extents
      in the last axes.
    - C3: the last axis of the data is as long as the weight's C.
    - C4: `units`, rounded up to whole blocks, equals the weight's N; by default it is N.
    - C5: data and weight are bf16.

    Example:
    ```mlir
    %y = relay.nn.contrib_dense_split(%x, %w) {weight_layout = "NC16n2c"}
        : (tensor<2x4x64xbf16>, tensor<2x2x32x16x2xbf16>) -> tensor<4x32xf32>
    ```

    """

    name = "relay.nn.contrib_dense_split"
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.NEVER

    data = operand_def()
    weight = operand_def()

    units = optional_int_property()
    weight_layout = string_property("NC16n2c")

    @property
    def layout(self) -> Layout:
        """The layout of a part of the weight; checks C2."""
        layout = packed_layout(self, self.weight_layout.data, "C2", in_terms=True)
        self.require(layout.factor("C") is not None, "C2", f"weight_layout {layout} has no blocks of C")
        return layout

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's shape without the parts and with the units as last extent; checks C1 to C5."""
        (data, data_element), (weight, weight_element) = facts.operand(0), facts.operand(1)
        layout = self.layout
        axes = len(layout.axes)
        stack = weight[1:-axes]
        ranks = (len(data), len(weight))
        facts.require(
            ranks[0] >= 2 + len(stack) and ranks[1] > axes,
            "C1",
            f"needs data of rank 2 or more and a weight of rank {1 + axes}, and as much more for a stack, found ranks "
            f"{ranks[0]} and {ranks[1]}",
        )
        for extent in (data[0], weight[0]):
            facts.require_equal(extent, PARTS, "C1", "number of parts, and 2:")
        for extent, own in zip(data[1:], stack, strict=False):
            facts.require_equal(extent, own, "C1", "extents of the stack of the data and of the weight differ:")
        weight = (weight[0], *weight[-axes:])
        extents = extents_in(self, layout, weight[1:], "C2")
        require_blocks(facts, layout, weight[1:], "C2")
        facts.require_equal(data[-1], extents["C"], "C3", "data's last extent and the weight's C differ:")
        units = optional_int(self.units)
        if units is not None:
            block = packed_block(layout)
            padded = -(-units // block) * block
            facts.require_equal(extents["N"], padded, "C4", f"the weight's N and {units} units in blocks differ:")
        elements = {data_element, weight_element}
        facts.require(elements == {BFloat16Type()}, "C5", lambda: f"element types {data_element}, {weight_element}")
        return tensor_type((*data[1:-1], extents["N"] if units is None else units), Float32Type())

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the layouts."""
        return LayoutRefusal(BEFORE)

    def evaluate(self, data: Array, weight: Array) -> Array:
        """Adds the products of three pairs of parts."""
        from xrelay.dialects.relay.meaning.layouts import to_plain

        left, axes = data.astype(np.float32), len(self.layout.axes)
        stack, matrix = weight.shape[1:-axes], weight.shape[-axes:]
        extents = cast("dict[str, int]", self.layout.primal_extents(matrix))
        right = np.empty((PARTS, *stack, extents["C"], extents["N"]), np.float32)
        for at in np.ndindex(weight.shape[:-axes]):
            right[at] = to_plain(weight[at], self.layout, "NC").T
        inner = left.shape[1 + len(stack) : -1]
        rows = left.reshape(PARTS, *stack, prod(inner), left.shape[-1])
        sums = np.asarray(sum(rows[p] @ right[q] for p, q in PAIRS))
        return sums.reshape(*stack, *inner, right.shape[-1])[..., : optional_int(self.units)]

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds `topi.matmul_split`; the weight has static extents."""
        from xrelay.dialects.topi.named import MatmulSplitOp

        build.known(build.operand(1), "the weight")
        return build.insert(MatmulSplitOp(build.operand(0), build.operand(1), build.result_type)).results


@register_relay_op
class ContribConv2DSplitOp(ConvOp):
    """A convolution of f32 in which each number is the sum of two parts of bf16; the weight is split before.

    The weight is (O, 2 D, KH, KW), with D = C rounded up to a multiple of 32 by filters of zeros: the low parts of 32
    channels, then their high parts, then the next 32 channels. The op splits the data as `nn.contrib_split_floats`. The
    result is that of `nn.conv2d` as the sum of three products: high × high, high × low and low × high parts. Its
    greatest error, relative to the greatest result, is about 5e-6. Infinities are as in `nn.contrib_dense_split`.

    Constraints:
    - C3: the weight has 2 D in-channels.
    - C4: there is one group.
    - C5: `channels`, if given, is the weight's number of out-channels.
    - C6: `kernel_size`, if given, is the weight's.
    - C9: the padded data is at least as large as the filter.
    - C10: the data is f32 and the weight bf16.

    Example:
    ```mlir
    %y = relay.nn.contrib_conv2d_split(%x, %w) {padding = [1, 1, 1, 1]}
        : (tensor<1x4x7x7xf32>, tensor<8x64x3x3xbf16>) -> tensor<1x8x7x7xf32>
    ```

    """

    name = "relay.nn.contrib_conv2d_split"
    AXES = "HW"
    MIXED_PRECISION = MixedPrecision.NEVER
    QUANTIZATION = None

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns the constraints on filters, without C10."""
        return {name: check for name, check in super().constraints_over(axes).items() if name != "C10"}

    def check_channels(self, facts: Facts, in_channels: Dim, weight: dict[str, Dim]) -> None:
        """Checks C3, C4 and C10."""
        groups, elements = self.groups.value.data, (facts.element(0), facts.element(1))
        self.require(groups == 1, "C4", f"groups must be 1, found {groups}")
        depth = -(-in_channels // CHANNELS) * CHANNELS * PARTS
        facts.require_equal(weight["I"], depth, "C3", "in-channels of the weight, and those of both parts:")
        legal = elements == (Float32Type(), BFloat16Type())
        facts.require(legal, "C10", lambda: f"element types {elements[0]} and {elements[1]}, not f32 and bf16")

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the types as they are: the weight is a constant."""
        return facts

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the layouts."""
        return LayoutRefusal(BEFORE)

    def evaluate(self, data: Array, weight: Array) -> Array:
        """Adds the convolutions of three pairs of parts."""
        plain, kernel = self.plain_factors(data, weight)
        count, channels, *taps = kernel.shape
        depth = channels // PARTS
        low_first = np.moveaxis(kernel.reshape(count, depth // CHANNELS, PARTS, CHANNELS, *taps), 2, 0)
        filters = [part.reshape(count, depth, *taps) for part in low_first[::-1]]
        missing = depth - plain.shape[1]
        images = split_array(np.pad(plain, [(0, 0), (0, missing), (0, 0), (0, 0)])).astype(np.float32)
        window = self.window(kernel.shape[2:])
        sums = [convolve(images[p], filters[q], window, 1) for p, q in PAIRS]
        return self.to_layout(np.asarray(sum(sums)))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds topi's convolution on blocked channels; other layouts are converted."""
        from xrelay.dialects.relay.computes.layouts import in_layout
        from xrelay.dialects.topi.named import Conv2dNchwcSplitOp

        layouts, element = self.layouts, build.result_type.element_type
        block = layouts[2].factor("C") or 1
        texts = (f"NCHW{layouts[0].factor('C') or 1}c", f"OIHW{block}o2i", f"NCHW{block}c")
        blocked = [Layout.parse(text) for text in texts]
        data, weight = (in_layout(build, build.operand(index), layouts[index], blocked[index]) for index in range(2))
        window = self.window(build.known(weight, "the weight")[2:4])
        conv = Conv2dNchwcSplitOp(
            data,
            weight,
            tensor_type(blocked[2].shape_from(layouts[2].primal_extents(build.result_shape)), element),
            strides=[axis.stride for axis in window],
            padding=sides_of(window),
            dilation=[axis.dilation for axis in window],
        )
        return [in_layout(build, build.insert(conv).results[0], blocked[2], layouts[2])]
