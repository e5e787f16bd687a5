"""`relay.nn.deformable_conv2d`: a convolution whose taps are read at offsets from an operand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def

from xrelay.dialects.relay.core.sliding_window import HoldsProducts, Numbers
from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    AttributeValue,
    Body,
    Dim,
    Facts,
    FloatElements,
    HalfPrecision,
    IncompleteType,
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
    int_property,
    ints,
    ints_property,
    optional_int,
    optional_int_property,
    optional_ints_property,
    quotient,
    register_relay_op,
    string_property,
    tensor_type,
    with_both_sides,
    without_empty_dtype,
)


@register_relay_op
class DeformableConv2DOp(RelayOp):
    """A convolution of images (N, C, H, W) whose taps are read at positions shifted by `offset`.

    Tap (k, l) of the window at (i, j) is read at the position `offset[n, 2 * t, i, j]` rows and `offset[n, 2 * t + 1,
    i, j]` columns from that of `nn.conv2d`, with t = `(g * rows + k) * columns + l` for the channels of deformable
    group g. Positions between elements are interpolated bilinearly, with zeros after the last row and column; positions
    before the first or beyond the last row or column read 0. For layout "NHWC" the weight is in "HWIO". Sums are
    computed in f32, or in f64 if the data is f64.

    Constraints:
    - C6: `kernel_layout` matches the data's layout; `out_layout` is the data's layout or empty.
    - C7: the data's channels are the weight's times `groups`, and a multiple of `deformable_groups`.
    - C8: the number of filters is a multiple of `groups`, and equal to `channels` if given.
    - C9: the weight's window is `kernel_size` if given.
    - C10: there are two offsets for each tap and deformable group, at each position of the window.
    - C11: the window is no larger than the padded data.
    - C12: the data has at least one element along each spatial axis.

    Example:
    ```mlir
    %y = relay.nn.deformable_conv2d(%x, %o, %w) {padding = [1, 1, 1, 1]}
        : (tensor<1x2x5x4xf32>, tensor<1x18x5x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x4xf32>
    ```

    """

    name = "relay.nn.deformable_conv2d"
    PATTERN = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    MIXED_PRECISION = MixedPrecision.FOLLOW
    HALF_PRECISION = HalfPrecision.SINGLE
    RESULT_ELEMENT = "out_dtype"
    CONSTRAINTS = {
        "C1": FloatElements(),
        "C2": SameElements(),
        "C3": Numbers(("strides", "dilation"), (2,)),
        "C4": Numbers(("padding",), (4,), positive=False),
        "C5": OneOf("data_layout", ("NCHW", "NHWC")),
        "C13": RankOf(0, 4, 4),
        "C14": RankOf(1, 4, 4),
        "C15": RankOf(2, 4, 4),
        "C16": AtLeast("groups"),
        "C17": AtLeast("deformable_groups"),
        "C18": HoldsProducts("out_dtype"),
    }

    data = operand_def()
    offset = operand_def()
    weight = operand_def()

    strides = ints_property(1, 1)
    padding = ints_property(0, 0, 0, 0)
    dilation = ints_property(1, 1)
    deformable_groups = int_property(1)
    groups = int_property(1)
    channels = optional_int_property()
    kernel_size = optional_ints_property()
    data_layout = string_property("NCHW")
    kernel_layout = string_property("OIHW")
    out_layout = string_property("")
    out_dtype = opt_prop_def()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts two numbers of padding, one number as window size, and an empty string for no type."""
        size = attributes.get("kernel_size")
        if isinstance(size, int):
            attributes["kernel_size"] = (size, size)
        return without_empty_dtype(with_both_sides(attributes))

    @property
    def image_axes(self) -> tuple[int, int, int]:
        """The axes of channels, rows and columns."""
        return image_axes(self.data_layout)

    @property
    def weight_axes(self) -> tuple[int, int, int, int]:
        """The axes of the weight: filters, channels of a group, rows and columns."""
        return (0, 1, 2, 3) if self.data_layout.data == "NCHW" else (3, 2, 0, 1)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with one channel for each filter; checks C6 to C12."""
        (shape, element), offsets, window = facts.operand(0), facts.shape(1), facts.shape(2)
        layout, wanted = self.data_layout.data, "OIHW" if self.data_layout.data == "NCHW" else "HWIO"
        found, out = self.kernel_layout.data, self.out_layout.data
        facts.require(
            found == wanted and out in ("", layout), "C6", f"layouts {layout}, {found!r} and {out!r} do not fit"
        )
        filters, depth, *taps = (window[axis] for axis in self.weight_axes)
        channel, *spatial = self.image_axes
        self._require_channels(facts, shape[channel], depth, filters)
        given = ints(self.kernel_size)
        facts.require(len(given) in (0, 2), "C9", f"kernel_size must have two numbers, found {list(given)}")
        for found_taps, number in zip(taps, given, strict=False):
            facts.require_equal(found_taps, number, "C9", "window of the weight and kernel_size")
        result = list(shape)
        result[channel] = filters
        facts.require_equal(offsets[0], shape[0], "C10", "batches of offsets and data")
        count = taps[0] * taps[1] * 2 * self.deformable_groups.value.data
        facts.require_equal(offsets[channel], count, "C10", "offsets, and those of all taps,")
        for k, axis in enumerate(spatial):
            facts.require_at_least(shape[axis], 1, "C12", "spatial extent")
            result[axis] = self._position_count(facts, k, shape[axis], taps[k])
            facts.require_equal(offsets[axis], result[axis], "C10", "places of offsets and of the window")
        return tensor_type(result, self.element_type_property(self.out_dtype, element, "C18"))

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the weight's type from data, `channels` and `kernel_size`, and the offset's from data and weight."""
        data, offset, weight = facts
        if isinstance(data, IncompleteType):
            return facts
        shape, element = facts.operand(0)
        window = self._window(shape) if isinstance(weight, IncompleteType) else facts.shape(2)
        if window is None or len(shape) != 4 or len(window) != 4:
            return facts
        weight = tensor_type(window, element) if isinstance(weight, IncompleteType) else weight
        if not isinstance(offset, IncompleteType):
            return [data, offset, weight]
        _, _, *taps = (window[axis] for axis in self.weight_axes)
        channel, *spatial = self.image_axes
        found = list(shape)
        found[channel] = taps[0] * taps[1] * 2 * self.deformable_groups.value.data
        for k, axis in enumerate(spatial):
            found[axis] = self._position_count(facts, k, shape[axis], taps[k])
        return [data, tensor_type(found, element), weight]

    def _window(self, shape: Shape) -> Shape | None:
        """Returns the shape of the weight for data of `shape`, or None if the attributes do not determine it."""
        filters, taps = optional_int(self.channels), ints(self.kernel_size)
        if filters is None or len(taps) != 2 or len(shape) != 4:
            return None
        depth = quotient(shape[self.image_axes[0]], max(self.groups.value.data, 1))
        extents: dict[int, Dim] = dict(zip(self.weight_axes, (filters, depth, *taps), strict=True))
        return tuple(extents[axis] for axis in range(4))

    def _position_count(self, facts: Facts, axis: int, extent: Dim, taps: Dim) -> Dim:
        """Returns the number of positions of the window along a spatial axis; checks C11."""
        padding = ints(self.padding)
        padded, reach = extent + padding[axis] + padding[axis + 2], (taps - 1) * ints(self.dilation)[axis] + 1
        facts.require_at_least(padded, reach, "C11", "elements with zeros, and of the window,")
        return (padded - reach) // ints(self.strides)[axis] + 1

    def _require_channels(self, facts: Facts, channels: Dim, depth: Dim, filters: Dim) -> None:
        """Checks channels and filters against their groups (C7 and C8)."""
        groups, parts = self.groups.value.data, self.deformable_groups.value.data
        facts.require_equal(depth * groups, channels, "C7", "channels of the weight and the data")
        facts.require_equal(channels % parts, 0, "C7", f"channels {channels} modulo deformable groups {parts}:")
        facts.require_equal(filters % groups, 0, "C8", f"filters {filters} modulo groups {groups}:")
        given = optional_int(self.channels)
        if given is not None:
            facts.require_equal(filters, given, "C8", "filters and channels")

    def evaluate(self, data: Array, offset: Array, weight: Array) -> Array:
        """Samples the data for each tap, followed by a matrix product for each group."""
        order = (0, *self.image_axes)
        image, moves, window = data.transpose(order), offset.transpose(order), weight.transpose(self.weight_axes)
        batch, channels, *_ = image.shape
        filters, depth, rows, columns = window.shape
        parts, groups, (height, width) = self.deformable_groups.value.data, self.groups.value.data, moves.shape[2:]
        moves = moves.reshape(batch, parts, rows * columns, 2, height, width)
        taps = np.zeros((batch, channels, rows * columns, height, width))
        for tap in range(rows * columns):
            y, x = (self._coordinates(axis, divmod(tap, columns)[axis], moves[:, :, tap, axis]) for axis in (0, 1))
            for number, part in np.ndindex(batch, parts):
                own = slice(part * channels // parts, (part + 1) * channels // parts)
                taps[number, own, tap] = _interpolated(image[number, own], y[number, part], x[number, part])
        apart = taps.reshape(batch, groups, depth * rows * columns, height * width)
        matrix = window.reshape(groups, filters // groups, depth * rows * columns).astype(np.float64)
        result = np.einsum("gfk,ngkp->ngfp", matrix, apart).reshape(batch, filters, height, width)
        return cast_once(result.transpose(np.argsort(order)), self.result_dtype)

    def _coordinates(self, axis: int, tap: int, moves: Array) -> Array:
        """Returns the coordinates of a tap along an axis, in the type of the sums."""
        kind = np.dtype(np.float64 if moves.dtype == np.float64 else np.float32)
        steps = np.arange(moves.shape[2 + axis], dtype=np.float64) * ints(self.strides)[axis]
        plain = np.asarray(steps + tap * ints(self.dilation)[axis] - ints(self.padding)[axis], kind)
        return (plain[:, None] if axis == 0 else plain) + moves.astype(kind)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Builds a table of taps (batch, channels, taps, rows, columns), and the sums over those of a group."""
        from xrelay.dialects.relay.computes.interpolation import DeformedTaps
        from xrelay.dialects.relay.computes.layouts import arrange

        weight, element, shape = build.operand(2), build.result_type.element_type, build.result_shape
        filters, depth, rows, columns = (build.shape(weight)[axis] for axis in self.weight_axes)
        taps, real = DeformedTaps(build, self.image_axes, rows, columns).table(), build.element(weight)
        per_group = filters // self.groups.value.data

        def add(b: Body) -> SSAValue:
            channel, row, column = (b.spatial[axis] for axis in self.image_axes)
            part, k, m = b.reduction
            at = arrange(self.weight_axes, (channel, part, k, m))
            own = b.scaled(b.quotient(channel, per_group), depth) + part
            seen = b.read(taps, b.spatial[0], own, b.scaled(k, columns) + m, row, column)
            return b.accumulate_product(b.accumulators[0], seen, b.read(weight, *at))

        reduce = {"c": depth, "k": rows, "l": columns}
        total = build.compute("deformable_conv2d", shape, real, add, reduce=reduce, init=[0.0])
        return [build.converted("rounded", total, element)]


def _interpolated(image: Array, rows: Array, columns: Array) -> Array:
    """Returns the values of an image (C, H, W) at coordinates, in double precision.

    Zeros follow the last row and column; coordinates outside of the image have the value 0.
    """
    height, width = image.shape[1:]
    inside = (rows >= 0) & (columns >= 0) & (rows < height) & (columns < width)
    y, x = np.where(inside, rows, 0), np.where(inside, columns, 0)
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    low, right = (y - np.floor(y)).astype(np.float64), (x - np.floor(x)).astype(np.float64)
    wide = np.pad(image.astype(np.float64), ((0, 0), (0, 1), (0, 1)))
    above = wide[:, top, left] * (1 - right) + wide[:, top, left + 1] * right
    below = wide[:, top + 1, left] * (1 - right) + wide[:, top + 1, left + 1] * right
    return np.where(inside, above * (1 - low) + below * low, 0)
