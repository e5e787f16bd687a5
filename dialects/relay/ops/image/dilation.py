"""`relay.image.dilation2d`: greyscale dilation, a convolution with sums for products and maxima for sums."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.core.sliding_window import ElementType, Numbers
from xrelay.dialects.relay.gradients.numbered_elements import numbered, sum_by_number
from xrelay.dialects.relay.op_definition import (
    Array,
    AttributeValue,
    Body,
    Facts,
    GradientBuilder,
    Gradients,
    IndexLike,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RankOf,
    RelayOp,
    SameElements,
    Shape,
    Tensors,
    TopiBuilder,
    cast_once,
    image_axes,
    ints,
    ints_property,
    not_differentiable,
    register_relay_op,
    string_property,
    tensor_type,
    with_both_sides,
    without_empty_dtype,
)
from xrelay.index_algebra.windows import window_of


@register_relay_op
class Dilation2DOp(RelayOp):
    """The maximum of `data + weight` in a window that slides over each channel; the data is padded with zeros.

    `result[n, c, i, j]` is the maximum over (k, l) of `data[n, c, i * strides[0] + k * dilations[0] - top, j *
    strides[1] + l * dilations[1] - left] + weight[c, k, l]`. `padding` lists the rows and columns of zeros above, left,
    below and right. Sums are computed in `out_dtype`, by default the data's type.

    Constraints:
    - C7: `kernel_layout` is "IHW" for the layout "NCHW", "HWI" for "NHWC".
    - C8: data and weight have the same number of channels.
    - C9: the window has an element and is no larger than the padded data.
    - C10: booleans are not added.

    Example:
    ```mlir
    %y = relay.image.dilation2d(%x, %w) {padding = [1, 1, 1, 1]}
        : (tensor<1x3x6x6xf32>, tensor<3x3x3xf32>) -> tensor<1x3x6x6xf32>
    ```

    """

    name = "relay.image.dilation2d"
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    CONSTRAINTS = {
        "C1": SameElements(),
        "C2": RankOf(0, 4, 4),
        "C3": RankOf(1, 3, 3),
        "C4": Numbers(("strides", "dilations"), (2,)),
        "C5": Numbers(("padding",), (4,), positive=False),
        "C6": OneOf("data_layout", ("NCHW", "NHWC")),
        "C11": ElementType("out_dtype"),
    }

    data = operand_def()
    weight = operand_def()

    strides = ints_property(1, 1)
    padding = ints_property(0, 0, 0, 0)
    dilations = ints_property(1, 1)
    data_layout = string_property("NCHW")
    kernel_layout = string_property("IHW")
    out_dtype = opt_prop_def()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts two numbers of padding, one for both sides of each axis, and an empty string for no type."""
        return without_empty_dtype(with_both_sides(attributes))

    @property
    def image_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns of the data."""
        return image_axes(self.data_layout)

    @property
    def weight_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns of the weight."""
        return (0, 1, 2) if self.data_layout.data == "NCHW" else (2, 0, 1)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with one element for each position of the window; checks C7 to C10."""
        (shape, element), window = facts.operand(0), facts.shape(1)
        layout, wanted = self.data_layout.data, "IHW" if self.data_layout.data == "NCHW" else "HWI"
        found = self.kernel_layout.data
        facts.require(found == wanted, "C7", f"the kernel layout of {layout} is {wanted}, found {found!r}")
        axes, own = self.image_axes, self.weight_axes
        facts.require_equal(shape[axes[0]], window[own[0]], "C8", "channels of data and weight")
        result, padding = list(shape), ints(self.padding)
        for k, (stride, dilation) in enumerate(zip(ints(self.strides), ints(self.dilations), strict=True)):
            count = window[own[k + 1]]
            facts.require_at_least(count, 1, "C9", "elements of the window")
            padded, reach = shape[axes[k + 1]] + padding[k] + padding[k + 2], (count - 1) * dilation + 1
            facts.require_at_least(padded, reach, "C9", "elements with zeros, and of the window,")
            result[axes[k + 1]] = (padded - reach) // stride + 1
        facts.require(element != i1, "C10", "booleans are not added", help="cast the operands first")
        return tensor_type(result, self.element_type_property(self.out_dtype, element, "C11"))

    def evaluate(self, data: Array, weight: Array) -> Array:
        """Computes the maximum over the taps of the window."""
        from xrelay.dialects.relay.meaning.windows import taps

        dtype, order = self.result_dtype, (0, *self.image_axes)
        image, filters = cast_once(data, dtype).transpose(order), cast_once(weight, dtype).transpose(self.weight_axes)
        window = window_of(filters.shape[1:], ints(self.strides), ints(self.dilations), ints(self.padding))
        counts = [axis.count(extent) for axis, extent in zip(window, image.shape[2:], strict=True)]
        seen = zip(taps(image, window, counts, 0), product(*map(range, filters.shape[1:])), strict=True)
        values = (value + filters[:, k, m, None, None] for value, (k, m) in seen)
        return reduce(np.maximum, values).transpose(np.argsort(order))

    def compute(self, build: TopiBuilder) -> Tensors:
        """Folds the maximum of sums of data and window elements; the data is padded with zeros."""
        from xrelay.dialects.relay.computes.layouts import arrange
        from xrelay.dialects.topi.build import lowest

        data, weight, element = build.operand(0), build.operand(1), build.result_type.element_type
        shape, window = build.shape(data), build.shape(weight)
        strides, dilations, padding = ints(self.strides), ints(self.dilations), ints(self.padding)
        axes, own = self.image_axes, self.weight_axes

        def fold(b: Body) -> SSAValue:
            at: list[IndexLike] = [*b.spatial]
            for k in (0, 1):
                at[axes[k + 1]] = b.spatial[axes[k + 1]] * strides[k] + b.reduction[k] * dilations[k] - padding[k]
            inside = b.in_bounds([at[axis] for axis in axes[1:]], [shape[axis] for axis in axes[1:]])

            def read() -> SSAValue:
                return b.convert(b.read(data, *at), element)

            value = b.guard(inside, element, read, 0)
            places = arrange(own, (b.spatial[axes[0]], *b.reduction))
            return b.largest(b.accumulators[0], b.plus(value, b.convert(b.read(weight, *places), element)))

        reduced, init = {"k": window[own[1]], "l": window[own[2]]}, [lowest(element)]
        return [build.compute("dilation2d", build.result_shape, element, fold, reduce=reduced, init=init)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Adds the gradient to the element and the weight of the first tap whose sum is the result; ignores padding."""
        plain, back = [0, *self.image_axes], [[0, *self.image_axes].index(axis) for axis in range(4)]
        data, result, given = (build.transposed(value, plain) for value in (self.data, self.result, of))
        data, weight = (
            build.cast_like(data, given),
            build.transposed(build.cast_like(self.weight, given), self.weight_axes),
        )
        rows, columns = self._known(build.shape(weight)[1:])
        counts = self._known(build.shape(result)[2:])
        padded, numbers = (self._padded(value, build) for value in (data, numbered(data, build)))
        zeros, open_places = build.zeros_like(given), build.op("equal", result, result)
        updates, seen_numbers, of_taps = list[SSAValue](), list[SSAValue](), list[SSAValue]()
        for tap in np.ndindex(rows, columns):
            seen, at = (self._seen(value, tap, counts, build) for value in (padded, numbers))
            end = [place + 1 for place in tap]
            total = build.op("add", seen, build.op("strided_slice", weight, begin=list(tap), end=end, axes=[1, 2]))
            wins = build.op("logical_and", open_places, build.op("equal", total, result))
            open_places = build.op("logical_and", open_places, build.op("logical_not", wins))
            share = build.op("where", wins, given, zeros)
            updates.append(share)
            seen_numbers.append(at)
            of_taps.append(build.op("sum", share, axis=[0, 2, 3]))
        joined = [build.op("concatenate", build.tuple(*each), axis=0) for each in (seen_numbers, updates)]
        of_data = build.transposed(sum_by_number(joined[0], joined[1], data, build), back)
        of_weight = build.reshape_like(build.op("stack", build.tuple(*of_taps), axis=1), weight)
        turned = [self.weight_axes.index(axis) for axis in range(3)]
        return [build.cast_like(of_data, self.data), build.cast_like(build.transposed(of_weight, turned), self.weight)]

    def _known(self, extents: Shape) -> list[int]:
        """Returns extents that must be integers."""
        known = [extent for extent in extents if isinstance(extent, int)]
        if len(known) < len(extents):
            raise not_differentiable(self, "the extents of its images are not known")
        return known

    def _padded(self, value: SSAValue, build: GradientBuilder) -> SSAValue:
        """Pads images with zeros."""
        top, left, bottom, right = ints(self.padding)
        return build.op("nn.pad", value, 0, pad_width=(0, 0, 0, 0, top, bottom, left, right))

    def _seen(self, value: SSAValue, tap: tuple[int, ...], counts: Sequence[int], build: GradientBuilder) -> SSAValue:
        """Returns the elements under a tap in all windows."""
        strides = ints(self.strides)
        begin = [step * place for step, place in zip(ints(self.dilations), tap, strict=True)]
        end = [first + (count - 1) * step + 1 for first, count, step in zip(begin, counts, strides, strict=True)]
        return build.op("strided_slice", value, begin=begin, end=end, strides=list(strides), axes=[2, 3])
