"""`relay.transpose`, `relay.layout_transform`, `relay.nn.pad`: permutations and padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.sliding_window import require_blocks
from xrelay.dialects.relay.gradients.numbered_elements import numbered, sum_by_number
from xrelay.dialects.relay.layout.behaviour import LayoutRenaming
from xrelay.dialects.relay.layout.layout import LayoutError
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.op_definition import (
    END,
    AnyDim,
    Array,
    AttributeValue,
    Body,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    IncompleteType,
    Layout,
    LayoutAnswer,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    Quantization,
    RelayOp,
    TopiBuilder,
    axis_index,
    int_array,
    ints,
    minimum,
    optional_ints_property,
    register_relay_op,
    require_axes,
    required_ints_property,
    shape_of,
    string_property,
    tensor_type,
    transform_shape,
    with_flat,
)

PAD_MODES = ("constant", "edge", "reflect")
"""The ways in which `nn.pad` fills."""


@register_relay_op
@irdl_op_definition
class TransposeOp(RelayOp):
    """The data with permuted axes: axis i of the result is axis `axes[i]` of the data. By default, axes are reversed.

    Constraints:
    - C1: `axes` is a permutation of the data's axes.

    Example:
    ```mlir
    %y = relay.transpose(%x) {axes = [0, 2, 3, 1]} : (tensor<1x3x8x9xf32>) -> tensor<1x8x9x3xf32>
    ```

    """

    name = "relay.transpose"
    QUANTIZATION = Quantization.MOVEMENT
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    axes = optional_ints_property()

    def permutation(self, rank: int) -> tuple[int, ...]:
        """Returns the axis of the data for each axis of the result; checks C1."""
        if self.axes is None:
            return tuple(reversed(range(rank)))
        axes = ints(self.axes)
        self.require(len(axes) == rank, "C1", f"axes {list(axes)} are not a permutation of {rank} axes")
        return require_axes(self, axes, rank, "C1")

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's extents in the new order; checks C1."""
        shape, element = facts.operand(0)
        return tensor_type([shape[axis] for axis in self.permutation(len(shape))], element)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's extents in the old order."""
        if not isinstance(facts[0], IncompleteType) or isinstance(result_type, IncompleteType):
            return facts
        shape, element = Facts(self.name, [result_type]).operand(0)
        extents = dict(zip(self.permutation(len(shape)), shape, strict=True))
        return [tensor_type([extents[axis] for axis in range(len(shape))], element)]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Renames the layout: the operand is the result, with its original layout permuted."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        before = layout.text.axes
        text = Layout(tuple(before[axis] for axis in self.permutation(len(before))))
        # With inner axes, a permutation may not be a valid layout.
        return LayoutRenaming(LayoutPermutation.of(Layout(layout.axes), Layout.parse(str(text))))

    def evaluate(self, data: Array) -> Array:
        """Permutes the axes."""
        return data.transpose(self.permutation(data.ndim))

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads with permuted axes."""
        from xrelay.dialects.relay.computes.layouts import arrange

        data = build.operand(0)
        rank = len(build.shape(data))
        axes = [axis % rank for axis in build.ints("axes")] or list(reversed(range(rank)))

        def fill(b: Body) -> SSAValue:
            return b.read(data, *arrange(axes, b.spatial))

        return [build.compute("transpose", build.result_shape, build.element(data), fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient with the inverse permutation of axes."""
        if self.axes is None:
            return [build.op("transpose", of)]
        axes = [axis_index(axis, len(build.shape(of))) for axis in ints(self.axes)]
        back = sorted(range(len(axes)), key=axes.__getitem__)
        return [build.op("transpose", of, axes=back)]


@register_relay_op
@irdl_op_definition
class LayoutTransformOp(RelayOp):
    """The same tensor in another layout; partial blocks are filled with zeros.

    Constraints:
    - C1: both layouts are well-formed and have the same primal axes.
    - C2: the data has the rank and inner extents of `src_layout`.

    Example:
    ```mlir
    %y = relay.layout_transform(%x) {src_layout = "NCHW", dst_layout = "NCHW16c"}
        : (tensor<1x64x56x56xf32>) -> tensor<1x4x56x56x16xf32>
    ```

    """

    name = "relay.layout_transform"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()

    src_layout = string_property()
    dst_layout = string_property()

    @property
    def layouts(self) -> tuple[Layout, Layout]:
        """Source and target layout; checks C1."""
        try:
            source, target = Layout.parse(self.src_layout.data), Layout.parse(self.dst_layout.data)
        except LayoutError as error:
            self.require(False, "C1", error.message, help=error.help)
            raise
        self.require(
            sorted(source.primal) == sorted(target.primal), "C1", f"layouts {source} and {target} have different axes"
        )
        return source, target

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the shape in the target layout, with the number of blocks rounded up; checks C1 and C2."""
        shape, element = facts.operand(0)
        source, target = self.layouts
        try:
            result = tensor_type(transform_shape(shape, source, target), element)
        except LayoutError as error:
            facts.require(False, "C2", error.message, help=error.help)
            raise
        require_blocks(facts, source, shape, "C2")
        return result

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Renames the layout: the operand is the result, unless blocks are padded or cropped."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None,), None)
        source, target = self.layouts
        if str(source) != str(layout.text):
            return LayoutRefusal(f"its source layout is {source}, but its data has layout {layout.text}")
        if source.primal_extents(shape_of(self.data.type)) != target.primal_extents(shape_of(self.result.type)):
            return LayoutRefusal(f"the extents are not multiples of the blocks of {target}")
        return LayoutRenaming(LayoutPermutation.of(Layout(layout.axes), target))

    def evaluate(self, data: Array) -> Array:
        """Converts to the layout without blocks, and from there to the target layout."""
        from xrelay.dialects.relay.meaning.layouts import from_plain, to_plain

        source, target = self.layouts
        return from_plain(to_plain(data, source, source.primal), source.primal, target)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads each element at its indices in the source layout."""
        from xrelay.dialects.relay.computes.layouts import relayout

        source, target = Layout.parse(self.src_layout.data), Layout.parse(self.dst_layout.data)
        return [relayout(build, build.operand(0), source, target)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient in the source layout, without the padding of blocks."""
        source, target = self.src_layout.data, self.dst_layout.data
        back = build.op("layout_transform", of, src_layout=target, dst_layout=source)
        return [back if build.shape(back) == build.shape(self.data) else build.op("slice_like", back, self.data)]


@register_relay_op
@irdl_op_definition
class PadOp(RelayOp):
    """The data padded at its borders: `pad_width` lists (before, after) for every axis in one flat array.

    `pad_mode` "constant" fills with the second operand, a scalar; "edge" repeats the outermost element; "reflect"
    mirrors about it.

    Constraints:
    - C1: `pad_width` has two numbers for each axis, and none is negative.
    - C2: `pad_mode` is "constant", "edge" or "reflect".
    - C3: the pad value has rank 0 and the data's element type.
    - C4: "edge" pads no axis of extent 0; "reflect" pads by less than the extent.

    Example:
    ```mlir
    %y = relay.nn.pad(%x, %zero) {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]}
        : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x10x10xf32>
    ```

    """

    name = "relay.nn.pad"
    QUANTIZATION = Quantization.MOVEMENT
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.FOLLOW

    data = operand_def()
    pad_value = operand_def()

    pad_width = required_ints_property()
    pad_mode = string_property("constant")

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts pairs: `((0, 0), (1, 1))`."""
        return with_flat(attributes, "pad_width")

    @property
    def pad_pairs(self) -> tuple[tuple[int, int], ...]:
        """(before, after) of each axis."""
        widths = ints(self.pad_width)
        return tuple(zip(widths[::2], widths[1::2], strict=True))

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns each extent plus its padding; checks C1 to C4."""
        shape, element = facts.operand(0)
        value, value_element = facts.operand(1)
        widths = ints(self.pad_width)
        facts.require(
            len(widths) == 2 * len(shape) and all(width >= 0 for width in widths),
            "C1",
            f"pad_width must have {2 * len(shape)} non-negative numbers, found {list(widths)}",
        )
        mode = self.pad_mode.data
        facts.require(mode in PAD_MODES, "C2", f"pad_mode must be one of {', '.join(PAD_MODES)}, found {mode!r}")
        facts.require(
            value == () and value_element == element,
            "C3",
            f"the pad value must be tensor<{element}>, found {facts[1]}",
        )
        for extent, (before, after) in zip(shape, self.pad_pairs, strict=True):
            require_padding(facts, mode, extent, max(before, after))
        padded = [extent + before + after for extent, (before, after) in zip(shape, self.pad_pairs, strict=True)]
        return tensor_type(padded, element)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns a scalar of the data's element type for the pad value."""
        data, value = facts
        if isinstance(data, IncompleteType) or not isinstance(value, IncompleteType):
            return facts
        return [data, tensor_type((), facts.element(0))]

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutDecision | LayoutRefusal:
        """Follows the layout of the data if split axes are not padded, or only by full blocks of the pad value."""
        layout = layouts[0]
        if layout is None:
            return LayoutDecision((None, None), None)
        pairs = dict(zip(layout.primal, self.pad_pairs, strict=True))
        for letter, pair in pairs.items():
            before, after = layout.text.factor(letter), Layout(layout.axes).factor(letter)
            if pair == (0, 0) or (letter.isupper() and before == after):
                continue
            elements, factor = tuple(width * (before or 1) for width in pair), after or 1
            if self.pad_mode.data != "constant" or letter.islower() or any(width % factor for width in elements):
                message = f"layout {layout} splits an axis padded by {elements[0]} and {elements[1]}"
                return LayoutRefusal(message)
            pairs[letter] = (elements[0] // factor, elements[1] // factor)
        widths = [number for axis in layout.axes for number in (pairs[axis.letter] if axis.is_primal else (0, 0))]
        return LayoutDecision((layout, None), layout, {"pad_width": int_array(widths)})

    def evaluate(self, data: Array, pad_value: Array) -> Array:
        """Calls numpy."""
        from xrelay.dialects.relay.meaning.padding import padded

        return padded(data, self.pad_pairs, self.pad_mode.data, pad_value)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Reads at the index less the width before each axis."""
        from xrelay.dialects.relay.computes.movement import padded

        widths = ints(self.pad_width)
        axes = [any(pair) for pair in zip(widths[::2], widths[1::2], strict=True)]
        return [padded(build, build.operand(1), lambda b: widths[::2], axes)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient of the data's elements, and the sum of the others for the pad value."""
        if self.pad_mode.data != "constant":
            numbers = numbered(self.data, build)
            numbers = build.op("nn.pad", numbers, build.scalar(0, numbers), **self.properties)
            return [sum_by_number(numbers, of, self.data, build), None]
        rows = list(zip(self.pad_pairs, build.shape(self.data), strict=True))
        begins = [before for (before, _), _ in rows]
        ends = [before + extent if isinstance(extent, int) else END for (before, _), extent in rows]
        data = build.op("strided_slice", of, begin=begins, end=ends)
        if build.shape(data) != build.shape(self.data):
            data = build.op("slice_like", data, self.data)
        zeros, one = build.zeros_like(self.data), build.scalar(1, self.data)
        filled = build.op("nn.pad", zeros, one, pad_width=ints(self.pad_width))
        rest = build.op("where", build.op("greater", filled, 0), of, build.zeros_like(of))
        return [data, build.op("sum", rest)]


def require_padding(facts: Facts, mode: str, extent: Dim, width: Dim) -> None:
    """Checks C4 of `nn.pad`: an axis padded by `width` elements has the elements that the mode repeats."""
    if mode != "constant" and not isinstance(width, int | AnyDim):
        one = minimum(width, 1)
        facts.require_at_least(extent, one if mode == "edge" else width + one, "C4", "padded extent")
    elif mode != "constant" and isinstance(width, int) and width > 0:
        message = f"mode {mode!r} cannot pad an extent of {extent} by {width}"
        facts.require_at_least(extent, 1 if mode == "edge" else width + 1, "C4", "padded extent", message=message)
