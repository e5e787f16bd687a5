"""Convolutions of one, two and three spatial axes: `relay.nn.conv1d`, `relay.nn.conv2d` and `relay.nn.conv3d`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.core.sliding_window import Factors, HoldsProducts, InLayouts, Layouts, WindowedOp
from xrelay.dialects.relay.gradients.windows import (
    ConvolutionBuilder,
    gradients_of_twin,
    layout_with_height,
    window_with_height,
    with_height,
)
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    Body,
    Constraints,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    IncompleteType,
    Layout,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    Quantization,
    SameElements,
    Shape,
    Tensors,
    TopiBuilder,
    int_attribute,
    int_property,
    ints,
    known_shape,
    not_differentiable,
    optional_int,
    optional_int_property,
    optional_ints_property,
    register_relay_op,
    shape_of,
    string_attribute,
    string_property,
    tensor_type,
)
from xrelay.index_algebra.windows import WindowAxis

_EXTENTS = {"D": "depth", "H": "height", "W": "width"}


class FilterOp(WindowedOp):
    """Base of the ops that slide filters: data and weight, groups, layouts; `channels` and `kernel_size` as hints."""

    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.ALWAYS
    RESULT_ELEMENT = "out_dtype"
    QUANTIZATION = Quantization.PRODUCT
    CHOOSES_LAYOUT = True
    SIZE = "kernel_size"
    INFERENCE_HINT = "pass channels and kernel_size, or the type of the weight"
    ARGUMENTS = (
        "strides",
        "padding",
        "dilation",
        "groups",
        "channels",
        "kernel_size",
        "data_layout",
        "kernel_layout",
        "out_layout",
        "out_dtype",
    )

    data = operand_def()
    weight = operand_def()

    groups = int_property(1)
    channels = optional_int_property()
    kernel_size = optional_ints_property()
    data_layout = string_property("")
    kernel_layout = string_property("")
    out_layout = string_property("")
    out_dtype = opt_prop_def()

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns C1, C2, C10, C11 and the constraints on windows."""
        own: tuple[tuple[str, str], ...] = (("data_layout", f"NC{axes}"), ("kernel_layout", f"{cls.FILTERS}{axes}"))
        return {
            **super().constraints_over(axes),
            "C1": Layouts((*own, ("out_layout", f"NC{axes}"))),
            "C2": InLayouts(own),
            "C10": SameElements(),
            "C11": HoldsProducts("out_dtype"),
        }

    def result_channels(self, weight: dict[str, Dim]) -> Dim:
        """Returns the number of channels of the result."""
        raise NotImplementedError(f"{self.name} does not define the channels of its result")

    def check_channels(self, facts: Facts, in_channels: Dim, weight: dict[str, Dim]) -> None:
        """Checks the extents of the weight against the channels of the data (C3 and C4)."""
        raise NotImplementedError(f"{self.name} does not define a check of its channels")

    def weight_channels(self, in_channels: Dim, channels: Dim) -> dict[str, Dim]:
        """Returns the extents O and I of the weight for these channels of data and result."""
        raise NotImplementedError(f"{self.name} does not define the channels of its weight")

    def spatial_extents(self, facts: Facts, data: dict[str, Dim], weight: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the extent of each spatial axis of the result; checks C6 to C9."""
        raise NotImplementedError(f"{self.name} does not define the extents of its result")

    @property
    def layouts(self) -> tuple[Layout, Layout, Layout]:
        """The layouts of data, weight and result."""
        data = self.layout_over(self.data_layout.data, self.image_axes)
        weight = self.layout_over(self.kernel_layout.data, f"{self.FILTERS}{self.AXES}")
        out = self.out_layout.data
        return data, weight, self.layout_over(out, self.image_axes) if out else data

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with the batch of the data and the channels of the weight; checks C3 to C6 and C9."""
        data_shape, element = facts.operand(0)
        self._check_groups()
        data_layout, weight_layout, out_layout = self.layouts
        data, weight = self.extents_in(data_layout, data_shape), self.extents_in(weight_layout, facts.shape(1))
        self.check_channels(facts, data["C"], weight)
        self._check_hints(facts, weight)
        result = {"N": data["N"], "C": self.result_channels(weight)} | self.spatial_extents(facts, data, weight)
        return tensor_type(out_layout.shape_from(result), self.element_type_property(self.out_dtype, element, "C11"))

    def _check_groups(self) -> None:
        groups = self.groups.value.data
        self.require(groups > 0, "C4", f"groups must be positive, found {groups}")

    def _check_hints(self, facts: Facts, weight: dict[str, Dim]) -> None:
        channels = optional_int(self.channels)
        if channels is not None:
            found = self.result_channels(weight)
            facts.require_equal(found, channels, "C5", "kernel out-channels and channels differ:")
        if self.kernel_size is not None:
            sizes, rank = ints(self.kernel_size), len(self.AXES)
            wanted = "one number" if rank == 1 else f"{_NUMBERS[rank]} numbers"
            self.require(len(sizes) == rank, "C6", f"kernel_size must be {wanted}, found {list(sizes)}")
            for axis, size in zip(self.AXES, sizes, strict=True):
                facts.require_equal(weight[axis], size, "C6", f"kernel {_EXTENTS[axis]} and kernel_size differ:")

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the type of the weight for `channels`, `kernel_size` and the channels of the data."""
        data, weight = facts
        if isinstance(data, IncompleteType) or not isinstance(weight, IncompleteType):
            return facts
        data_shape, element = facts.operand(0)
        shape = self._weight_shape(data_shape, known_shape(result_type))
        return facts if shape is None else [data, tensor_type(shape, element)]

    def _weight_shape(self, data_shape: Shape, result_shape: Shape | None) -> Shape | None:
        self._check_groups()
        data_layout, weight_layout, out_layout = self.layouts
        channels: Dim | None = optional_int(self.channels)
        if channels is None and result_shape is not None:
            channels = self.extents_in(out_layout, result_shape)["C"]
        sizes = ints(self.kernel_size)
        if channels is None or len(sizes) != len(self.AXES):
            return None
        extents = self.weight_channels(self.extents_in(data_layout, data_shape)["C"], channels)
        return weight_layout.shape_from(extents | dict(zip(self.AXES, sizes, strict=True)))

    def plain_factors(self, data: Array, weight: Array) -> tuple[Array, Array]:
        """Converts data and weight to the plain orders of their axes and to the type of the accumulators."""
        from xrelay.dialects.relay.meaning.element_types import accumulator
        from xrelay.dialects.relay.meaning.layouts import to_plain

        data_layout, weight_layout, _ = self.layouts
        factors = (
            to_plain(data, data_layout, self.image_axes),
            to_plain(weight, weight_layout, f"{self.FILTERS}{self.AXES}"),
        )
        plain, kernel = (each.astype(accumulator(self.result_dtype), copy=False) for each in factors)
        return plain, kernel

    def to_layout(self, result: Array) -> Array:
        """Converts a result in the plain order of axes to its layout and element type."""
        from xrelay.dialects.relay.meaning.layouts import from_plain

        return from_plain(result, self.image_axes, self.layouts[2]).astype(self.result_dtype, copy=False)

    def known_window(self, build: GradientBuilder) -> tuple[WindowAxis[int], ...]:
        """Returns the window. Raises `PassError` if an extent of the weight is dynamic."""
        extents = self.layouts[1].primal_extents(build.shape(self.weight))
        sizes: list[int] = []
        for axis in self.AXES:
            extent = extents[axis]
            if not isinstance(extent, int):
                raise not_differentiable(self, f"the extent {extent} of the weight is not known")
            sizes.append(extent)
        return self.window(sizes)

    def gradients_of_twin(
        self, twin: type[FilterOp], of: SSAValue, build: GradientBuilder, **attributes: AttributeValue
    ) -> Gradients:
        """Returns the gradients of an op over the width by those of `twin`, with filters and images of height 1."""
        data, weight, out = self.layouts
        (axis,) = self.known_window(build)
        other = twin.call(
            with_height(self.data, data, build),
            with_height(self.weight, weight, build),
            **window_with_height(axis),
            groups=self.groups.value.data,
            data_layout=layout_with_height(data),
            kernel_layout=layout_with_height(weight),
            out_layout=layout_with_height(out),
            **attributes,
        )
        return gradients_of_twin(other, build.cast_like(of, self.data), out, [data, weight], build)


_NUMBERS = {2: "two", 3: "three"}


class ConvOp(FilterOp):
    """Base of the convolutions; `nn.conv2d` documents the constraints."""

    @classmethod
    def constraints_over(cls, axes: str) -> Constraints:
        """Returns the constraints on filters; bytes may be multiplied as they are."""
        return {**super().constraints_over(axes), "C10": Factors()}

    def result_channels(self, weight: dict[str, Dim]) -> Dim:
        """Returns one channel for each filter."""
        return weight["O"]

    def weight_channels(self, in_channels: Dim, channels: Dim) -> dict[str, Dim]:
        """Returns the filters, and the channels of a group."""
        return {"O": channels, "I": in_channels // self.groups.value.data}

    def check_channels(self, facts: Facts, in_channels: Dim, weight: dict[str, Dim]) -> None:
        """Checks C3 and C4."""
        groups = self.groups.value.data
        what = "kernel in-channels" if groups == 1 else f"kernel in-channels {weight['I']} times groups {groups}:"
        message = f"the weight has {weight['I']} input channels, the data has {in_channels} (groups = {groups})"
        facts.require_equal(weight["I"] * groups, in_channels, "C3", what, message=message)
        facts.require_equal(weight["O"] % groups, 0, "C4", f"out-channels {weight['O']} modulo groups {groups}:")

    def spatial_extents(self, facts: Facts, data: dict[str, Dim], weight: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the number of windows that fit."""
        window = self.checked_window(facts, [weight[axis] for axis in self.AXES])
        return self.window_counts(facts, window, data)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data: any order of axes, and channels in blocks that divide those of a group."""
        data, weight, out = self.layouts
        wanted = layouts[0] if layouts[0] is not None else data
        block = wanted.factor("C")
        split = any(wanted.factor(letter) for letter in f"N{self.AXES}")
        if sorted(wanted.primal) != sorted(self.image_axes) or split:
            return LayoutRefusal(f"a convolution does not support layout {wanted}")
        if str(wanted.text) != str(data) or str(out) != str(data):
            return LayoutRefusal(f"it supports {data} and {out}, its data has layout {wanted.text}")
        kernel = layouts[1]
        if kernel is None:
            kernel = weight if block is None else LayoutPermutation.of(self.blocked_kernel(block), weight)
        return self.with_layouts(wanted, kernel, wanted)

    @property
    def is_depthwise(self) -> bool:
        """Whether every channel is a group of its own, with one result."""
        weight = self.layouts[1].primal_extents(shape_of(self.weight.type))
        return self.groups.value.data > 1 and weight["I"] == 1 and weight["O"] == self.groups.value.data

    def blocked_kernel(self, block: int) -> Layout:
        """Returns the layout of the kernel for data and result in blocks of `block` channels."""
        return Layout.parse(f"OI{self.AXES}{1 if self.is_depthwise else block}i{block}o")

    def with_layouts(
        self, data: Layout, weight: Layout, out: Layout, *, pads: bool = False
    ) -> LayoutDecision | LayoutRefusal:
        """Returns the decision for these layouts, or a refusal if blocks do not divide the channels of a group.

        If it `pads`, blocks need not divide the out-channels: filters of zeros fill up the last block.
        """
        extents = self.layouts[1].primal_extents(shape_of(self.weight.type))
        depth, filters, groups = extents["I"], extents["O"], self.groups.value.data
        whole = self.is_depthwise
        blocks = (
            ("in-channels", depth * groups if whole else depth, data.factor("C")),
            ("in-channels", depth, weight.factor("I")),
            ("out-channels", filters if whole else filters // groups, weight.factor("O")),
            ("out-channels", filters if whole else filters // groups, out.factor("C")),
        )
        of_group = " of a group" if groups > 1 and not whole else ""
        for what, channels, factor in blocks:
            if factor is not None and channels % factor != 0 and not (pads and what == "out-channels"):
                return LayoutRefusal(f"blocks of {factor} do not divide the {channels} {what}{of_group}")
        properties: dict[str, Attribute] = {
            "data_layout": string_attribute(str(data)),
            "kernel_layout": string_attribute(str(weight)),
            "out_layout": string_attribute("" if out == data else str(out)),
        }
        block = out.factor("C")
        if pads and self.channels is not None and block is not None:
            properties["channels"] = int_attribute(-(-filters // block) * block)
        return LayoutDecision((data, weight), out, properties, pads=pads)

    def evaluate(self, data: Array, weight: Array) -> Array:
        """Multiplies the weight by the unfolded windows, for each image and group."""
        plain, kernel = self.plain_factors(data, weight)
        return self.to_layout(convolve(plain, kernel, self.window(kernel.shape[2:]), self.groups.value.data))


def convolve(data: Array, kernel: Array, window: Sequence[WindowAxis[int]], groups: int) -> Array:
    """Returns the convolution (N, O, …) of data (N, C, …) with kernels (O, C / groups, …)."""
    from xrelay.dialects.relay.meaning.windows import taps

    batch, channels = data.shape[:2]
    out_channels = kernel.shape[0]
    counts = [axis.count(extent) for axis, extent in zip(window, data.shape[2:], strict=True)]
    depth, points = channels // groups * prod(kernel.shape[2:]), prod(counts)
    matrix = kernel.reshape(groups, out_channels // groups, depth)
    result = np.empty((batch, groups, out_channels // groups, points), data.dtype)
    for image in range(batch):
        columns = np.stack(list(taps(data[image : image + 1], window, counts, 0)), axis=2)
        np.matmul(matrix, columns.reshape(groups, depth, points), out=result[image])
    return result.reshape(batch, out_channels, *counts)


class DirectConvOp(ConvOp):
    """Base of `nn.conv1d`, `nn.conv2d` and `nn.conv3d`, which multiply floats or integers as they are."""

    HALF_PRECISION = HalfPrecision.SINGLE_RESULTS

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sums products, in any layouts. Strategies are faster in the layouts of topi's named ops."""
        from xrelay.dialects.relay.computes.layouts import layout_indices, primal_indices
        from xrelay.dialects.topi.named.base import TAPS

        data, weight, element = build.operand(0), build.operand(1), build.result_type.element_type
        data_layout, weight_layout, out_layout = self.layouts
        image_extents = data_layout.primal_extents(build.shape(data))
        filters = weight_layout.primal_extents(build.known(weight, "the weight"))
        per_group = filters["O"] // self.groups.value.data
        window = self.window([filters[axis] for axis in self.AXES])

        def fill(b: Body) -> SSAValue:
            at = primal_indices(out_layout, b.spatial)
            k, *taps = b.reduction
            rows = zip(self.AXES, window, taps, strict=True)
            places = {letter: axis.place(at[letter], tap) for letter, axis, tap in rows}
            channel = b.scaled(b.quotient(at["C"], per_group), filters["I"]) + k
            image = layout_indices(data_layout, {"N": at["N"], "C": channel, **places})
            tap = layout_indices(weight_layout, {"O": at["C"], "I": k, **dict(zip(self.AXES, taps, strict=True))})

            def product() -> SSAValue:
                a = b.convert(b.read(data, *image), element)
                return b.times(a, b.convert(b.read(weight, *tap), element))

            inside = b.in_bounds(list(places.values()), [image_extents[axis] for axis in self.AXES])
            return b.accumulate(b.accumulators[0], b.guard(inside, element, product, 0))

        reduce = {"k": filters["I"], **{TAPS[axis]: filters[axis] for axis in self.AXES}}
        label = f"conv{len(self.AXES)}d"
        return [build.compute(label, build.result_shape, element, fill, reduce=reduce, init=[0])]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns a transposed convolution of the gradient, and the gradient of the weight, an op of its own."""
        data, weight, out = self.layouts
        image, grad = (self.data, data), (build.cast_like(of, self.data), out)
        convolution = ConvolutionBuilder(build, self.known_window(build), self.groups.value.data)
        of_weight = convolution.weight_gradient(grad, image, weight)
        return [convolution.data_gradient(image, grad, (self.weight, weight)), of_weight]


@register_relay_op
class Conv1DOp(DirectConvOp):
    """One-dimensional convolution: data (N, C, W), weight (O, C / groups, KW).

    `nn.conv2d` documents C3 to C6 and C9.

    Example:
    ```mlir
    %y = relay.nn.conv1d(%x, %w) {padding = [1, 1], channels = 32, kernel_size = [3]}
        : (tensor<1x16x50xf32>, tensor<32x16x3xf32>) -> tensor<1x32x50xf32>
    ```

    """

    name = "relay.nn.conv1d"
    AXES = "W"

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients of `nn.conv2d` with filters of height 1."""
        return self.gradients_of_twin(Conv2DOp, of, build)


@register_relay_op
class Conv2DOp(DirectConvOp):
    """Two-dimensional convolution (cross-correlation, as in every deep-learning framework).

    With data (N, C, H, W) and weight (O, C / groups, KH, KW):

        result[n, o, y, x] = sum over (i, r, s) of
            padded[n, g * C/groups + i, y * strides[0] + r * dilation[0], x * strides[1] + s * dilation[1]]
            * weight[o, i, r, s]     where g = o // (O / groups)

    `padding` is one number for all sides, two (height, width) or four (top, left, bottom, right). `channels` and
    `kernel_size` may be left out if the type of the weight is known. Layouts permute and block the axes (`NHWC`,
    `NCHW16c`, `HWIO`, `OIHW16i16o`); `out_layout` and `out_dtype` are by default those of the data.

    Constraints:
    - C3: the weight's in-channels times `groups` are the data's channels.
    - C4: `groups` is positive and divides the out-channels.
    - C5: `channels`, if given, is the weight's number of out-channels.
    - C6: `kernel_size`, if given, is the weight's height and width, which are positive.
    - C9: the dilated kernel is not larger than the padded data.

    Example:
    ```mlir
    %y = relay.nn.conv2d(%x, %w) {strides = [2, 2], padding = [1, 1, 1, 1], channels = 32, kernel_size = [3, 3]}
        : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x112x112xf32>
    ```

    """

    name = "relay.nn.conv2d"
    AXES = "HW"


@register_relay_op
class Conv3DOp(DirectConvOp):
    """Three-dimensional convolution: data (N, C, D, H, W), weight (O, I, KD, KH, KW).

    `nn.conv2d` documents C3 to C6 and C9.

    Example:
    ```mlir
    %y = relay.nn.conv3d(%x, %w) {padding = [1, 1, 1, 1, 1, 1], channels = 16, kernel_size = [3, 3, 3]}
        : (tensor<1x8x4x9x9xf32>, tensor<16x8x3x3x3xf32>) -> tensor<1x16x4x9x9xf32>
    ```

    """

    name = "relay.nn.conv3d"
    AXES = "DHW"


CONVOLUTIONS = (Conv1DOp, Conv2DOp, Conv3DOp)
