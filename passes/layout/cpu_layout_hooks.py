"""Layout hooks of the target "cpu": blocks of channels for convolutions, packed weights for dense layers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import Float32Type, Float64Type, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue

from xrelay.dialects.relay.core.attribute_values import int_attribute, ints, string_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.ops.nn.conv import Conv1DOp, Conv2DOp, Conv3DOp, ConvOp
from xrelay.dialects.relay.ops.nn.dense import ContribDensePackOp, DenseOp
from xrelay.dialects.relay.ops.nn.matmul import MatmulOp
from xrelay.dialects.relay.ops.qnn.blocks import BlockDenseOp
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.divisors import largest_divisor
from xrelay.passes.graph.op_kinds import is_constant
from xrelay.passes.layout.layout_hooks import LayoutHooks, alters_layout
from xrelay.target.instructions import DOT_TERMS

COMPUTED = "the weight is computed from other values, so that packing it would serve a single use"


@alters_layout(Conv1DOp, target="cpu")
@alters_layout(Conv2DOp, target="cpu")
@alters_layout(Conv3DOp, target="cpu")
def conv_in_blocks(op: ConvOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
    """Blocks channels so that one vector holds one block of out-channels: NCHW[i]c, OIHW[i]i[o]o, NCHW[o]c.

    A block has as many out-channels as a vector has lanes, or half or a quarter as many, the first of these that
    divides the out-channels. If a vector does not divide them, few filters of zeros fill up the last block of a vector
    (`_fills_up` has the conditions). Blocks of in-channels stay; without blocks, the largest block that divides the
    in-channels is chosen: an image of 3 channels is one block. Weights of bytes are OIHW[o]o4i.

    If only a quarter of a vector divides the out-channels and the stride is 1, the layout stays plain, which is faster.
    So does that of a group's filters of one pixel of floats if only half of a vector divides their number.
    The original layout may have any order of axes (also NHWC and HWIO); if blocks do not fit, NCHW and OIHW are chosen,
    which have schedules. Convolutions in blocks stay unchanged.
    """
    layouts = op.layouts
    if any(len(layout.axes) > 2 + len(op.AXES) for layout in layouts):
        return LayoutRefusal(f"it works in {', '.join(map(str, layouts))}, which is in blocks already")
    if not _is_weight(op.weight):
        return LayoutRefusal(COMPUTED)
    lanes_of_type = _lanes_of_product(op, lanes)
    if lanes_of_type is None:
        return LayoutRefusal(f"there is no blocked convolution of {element_type_of(op.data.type)}")
    weight = layouts[1].primal_extents(shape_of(op.weight.type))
    out_channels, depth = weight["O"], weight["I"]
    if not isinstance(out_channels, int) or not isinstance(depth, int):
        return LayoutRefusal(f"the channel counts {out_channels} and {depth} are not known")
    input_block = available[0].factor("C") if available[0] is not None and "C" in available[0].primal else None
    if op.is_depthwise:
        answer = _depthwise(op, out_channels, input_block, lanes_of_type)
    else:
        answer = _in_blocks(op, out_channels // op.groups.value.data, depth, input_block, lanes_of_type)
    plain = [f"NC{op.AXES}", f"OI{op.AXES}", f"NC{op.AXES}"]
    if isinstance(answer, LayoutRefusal) and [str(layout) for layout in layouts] != plain:
        return _decision(op, *plain)
    return answer


def conv_in_tiles(op: ConvOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
    """Blocks channels for an instruction on tiles of bytes, and decides as `conv_in_blocks` for other products.

    A row of a tile has up to 64 neighbouring in-channels, so blocks are the largest multiples of a vector up to 64 that
    divide the channels: NCHW64c, OIHW64o4i. Other numbers of in-channels have the blocks of `conv_in_blocks`. Grouped
    convolutions have those, too, and images of dynamic height or width, whose rows tiles do not cover.
    """
    layouts, data = op.layouts, shape_of(op.data.type)
    is_plain = all(len(layout.axes) == 2 + len(op.AXES) for layout in layouts)
    if not is_plain or not _is_weight(op.weight) or not _multiplies_bytes(op) or op.groups.value.data > 1:
        return conv_in_blocks(op, available, lanes)
    weight, image = layouts[1].primal_extents(shape_of(op.weight.type)), layouts[0].primal_extents(data)
    filters, depth = weight["O"], weight["I"]
    out_block = _tile_block(filters, lanes) if isinstance(filters, int) else None
    if out_block is None or not isinstance(depth, int) or not all(isinstance(image[axis], int) for axis in op.AXES):
        return conv_in_blocks(op, available, lanes)
    given = available[0].factor("C") if available[0] is not None and "C" in available[0].primal else None
    keeps = given is not None and given % lanes == 0 and depth % given == 0
    in_block = given if keeps else _tile_block(depth, lanes)
    return _in_blocks_of_terms(op, depth, given if in_block is None else in_block, out_block, lanes, pads=False)


def with_tiles(hooks: LayoutHooks) -> LayoutHooks:
    """Returns hooks with `conv_in_tiles` in place of `conv_in_blocks`, for targets with an instruction on tiles."""
    return {op: conv_in_tiles if hook is conv_in_blocks else hook for op, hook in hooks.items()}


TILE_BYTES = 64
"""The number of bytes in a row of a tile."""


def _tile_block(channels: int, lanes: int) -> int | None:
    """Returns the largest multiple of a vector up to the bytes of a row that divides `channels`; `None` if none."""
    return next((block for block in range(TILE_BYTES, 0, -lanes) if channels % block == 0), None)


def _depthwise(op: ConvOp, channels: int, input_block: int | None, lanes: int) -> LayoutDecision | LayoutRefusal:
    """Decides for depthwise convolutions: data and result have the same blocks, and the weight has one in-channel."""
    block = input_block if input_block is not None else vector_block(channels, lanes)
    if block is None:
        return LayoutRefusal(f"vectors of {lanes} do not divide the {channels} channels")
    return _blocked_decision(op, f"{block}c", f"1i{block}o", f"{block}c")


def _in_blocks(
    op: ConvOp, out_channels: int, depth: int, input_block: int | None, lanes: int
) -> LayoutDecision | LayoutRefusal:
    """Decides for other convolutions; `out_channels` and `depth` count those of one group, which has whole blocks."""
    out_block = vector_block(out_channels, lanes)
    pads = out_block != lanes and _fills_up(op, out_channels, depth, out_block, lanes)
    if pads:
        out_block = lanes
    if out_block is None:
        return LayoutRefusal(f"vectors of {lanes} do not divide the {out_channels} out-channels of a group")
    if out_block < lanes // 2 and max(ints(op.strides)) == 1:
        # Rows of the plain image fill whole vectors; blocks of a quarter would fill a quarter of each vector.
        return LayoutRefusal(f"only blocks of {out_block} divide the {out_channels} out-channels of a group")
    if out_block < lanes and _fills_rows(op, lanes):
        # All pixels of the plain image are one row (`loop-collapse-images`), which fills whole vectors.
        return LayoutRefusal(f"only blocks of {out_block} divide the {out_channels} out-channels of a group")
    if not depth:
        return LayoutRefusal("it has no in-channels")
    if _multiplies_bytes(op):
        return _in_blocks_of_terms(op, depth, input_block, out_block, lanes, pads=pads)
    in_block = input_block if input_block is not None and depth % input_block == 0 else largest_divisor(depth, lanes)
    return _blocked_decision(op, f"{in_block}c", f"{in_block}i{out_block}o", f"{out_block}c", pads=pads)


def _fills_rows(op: ConvOp, lanes: int) -> bool:
    """Whether it multiplies many pixels by the matrix of a group: floats, one tap, a stride of 1, no padding."""
    data, weight = (
        layout.primal_extents(shape_of(each.type)) for layout, each in zip(op.layouts, op.operands, strict=False)
    )
    pixels = [data[axis] for axis in op.AXES]
    is_product = all(weight[axis] == 1 for axis in op.AXES) and max(ints(op.strides)) == 1 and not any(ints(op.padding))
    if not isinstance(op, Conv2DOp) or op.groups.value.data == 1 or not is_product or _multiplies_bytes(op):
        return False
    return prod(extent if isinstance(extent, int) else 0 for extent in pixels) >= 2 * lanes


MAX_FILLED = 0.25
"""The largest part of the filters that may be zeros, which cost as much as the others."""

MIN_FILLED_DEPTH = 512
"""The in-channels from which a vector saves more time than two halves than it takes to crop the result."""


def _fills_up(op: ConvOp, out_channels: int, depth: int, out_block: int | None, lanes: int) -> bool:
    """Whether filters of zeros fill up the last vector.

    With blocks of `out_block`, half of a vector, the sums of a filter of one element must be long; Winograd's algorithm
    needs results in blocks. Without such blocks, the stride must not be 1, since then the rows of a plain image fill
    vectors, and no result has to be cropped. With groups, the zeros would have to be between the filters of two groups.
    """
    weight = op.layouts[1].primal_extents(shape_of(op.weight.type))
    is_long = depth >= MIN_FILLED_DEPTH and all(weight[axis] == 1 for axis in op.AXES)
    saves_time = is_long if out_block == lanes // 2 else max(ints(op.strides)) > 1
    if op.groups.value.data > 1 or not saves_time:
        return False
    padded = -(-out_channels // lanes) * lanes
    return out_channels > 0 and (padded - out_channels) <= MAX_FILLED * padded


def _in_blocks_of_terms(
    op: ConvOp, depth: int, input_block: int | None, out_block: int, lanes: int, *, pads: bool
) -> LayoutDecision | LayoutRefusal:
    """Decides for products of bytes: blocks of four in-channels are innermost, so that one instruction sums them."""
    if depth % DOT_TERMS:
        return LayoutRefusal(f"blocks of {DOT_TERMS} do not divide the {depth} in-channels of a group")
    keeps = input_block is not None and depth % input_block == 0 and input_block % DOT_TERMS == 0
    in_block = input_block if keeps else DOT_TERMS * largest_divisor(depth // DOT_TERMS, max(1, lanes // DOT_TERMS))
    return _blocked_decision(op, f"{in_block}c", f"{out_block}o{DOT_TERMS}i", f"{out_block}c", pads=pads)


def _blocked_decision(
    op: ConvOp, data: str, kernel: str, out: str, *, pads: bool = False
) -> LayoutDecision | LayoutRefusal:
    """Returns the decision for these blocks of data, kernel and result."""
    return _decision(op, f"NC{op.AXES}{data}", f"OI{op.AXES}{kernel}", f"NC{op.AXES}{out}", pads=pads)


def _decision(op: ConvOp, *texts: str, pads: bool = False) -> LayoutDecision | LayoutRefusal:
    """Returns the decision for data, kernel and result in the layouts `texts`."""
    data, kernel, out = (
        LayoutPermutation.of(Layout.parse(text), before) for text, before in zip(texts, op.layouts, strict=True)
    )
    return op.with_layouts(data, kernel, out, pads=pads)


@alters_layout(DenseOp, target="cpu")
def pack_dense(op: DenseOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
    """Uses `nn.contrib_dense_pack`, so that one vector holds neighbouring results."""
    if not _is_weight(op.weight):
        return LayoutRefusal(COMPUTED)
    return _packed(op, "NC", shape_of(op.weight.type)[0], lanes)


@alters_layout(MatmulOp, target="cpu")
def pack_matmul(op: MatmulOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal:
    """Decides as for a dense layer, but only for constants; schedules copy other matrices or read them in place."""
    flip_a, flip_b = op.transposed
    owner = op.tensor_b.owner
    if isinstance(owner, Block) or not is_constant(owner):
        return LayoutRefusal("tensor_b is not constant, so that packing it would serve a single use")
    if flip_a:
        return LayoutRefusal("tensor_a is transposed")
    return _packed(op, "NC" if flip_b else "CN", shape_of(op.tensor_b.type)[0 if flip_b else 1], lanes)


@alters_layout(BlockDenseOp, target="cpu")
def pack_block_dense(
    op: BlockDenseOp, available: Sequence[Layout | None], lanes: int
) -> LayoutDecision | LayoutRefusal | None:
    """Packs words, scales and zero points of a block-quantised weight as the weight of a dense layer."""
    if op.weight_layout.data != "NC":
        return LayoutRefusal(f"its weight is in {op.weight_layout.data} already")
    units = shape_of(op.weight.type)[0]
    if not all(map(_is_weight, op.operands[1:])) or not isinstance(units, int):
        return LayoutRefusal(COMPUTED)
    block = lanes if units > lanes else vector_block(units, lanes)
    if block is None or block == 1:
        return LayoutRefusal(f"vectors of {lanes} do not divide the {units} units")
    layout = Layout.parse(f"NC{block}n")
    properties = {**op.properties, "weight_layout": string_attribute(str(layout)), "units": int_attribute(units)}
    operands = [layout if shape_of(each.type) else None for each in op.operands[1:]]
    return LayoutDecision((None, *operands), None, properties, pads=True)


def _packed(op: DenseOp | MatmulOp, axes: str, units: Dim, lanes: int) -> LayoutDecision | LayoutRefusal:
    """Returns the product with a packed weight, in blocks of units; in its layout `axes`, N are the units.

    More units than fit into a vector are in blocks of a whole vector, the last one filled up with zeros.
    """
    lanes_of_type = _lanes_of_product(op, lanes)
    if lanes_of_type is None:
        return LayoutRefusal(f"there is no packed matrix product of {element_type_of(op.operands[0].type)}")
    if not isinstance(units, int):
        return LayoutRefusal(f"the number of units {units} is not known")
    block = lanes_of_type if units > lanes_of_type else vector_block(units, lanes_of_type)
    if block is None or block == 1:
        return LayoutRefusal(f"vectors of {lanes_of_type} do not divide the {units} units")
    in_terms = _multiplies_bytes(op) and shape_of(op.operands[0].type)[-1] % DOT_TERMS == 0
    layout = Layout.parse(f"NC{block}n{DOT_TERMS}c" if in_terms else f"NC{block}n")
    properties: dict[str, Attribute] = {"weight_layout": string_attribute(str(layout))}
    if units % block:
        properties["units"] = int_attribute(units)
    if op.out_dtype is not None:
        properties["out_dtype"] = op.out_dtype
    weight = LayoutPermutation.of(layout, Layout.parse(axes))
    return LayoutDecision((None, weight), None, properties, op=ContribDensePackOp, pads=True)


def _is_weight(value: SSAValue) -> bool:
    """Whether `value` is a constant, packed at compile time, or a parameter of the function, packed in every run."""
    owner = value.owner
    return isinstance(owner.parent_op(), FuncOp) if isinstance(owner, Block) else is_constant(owner)


def vector_block(extent: int, lanes: int) -> int | None:
    """Returns the first of `lanes`, half and a quarter of it that divides `extent`, or `None`."""
    candidates = (lanes, lanes // 2, lanes // 4)
    return next((block for block in candidates if block > 1 and extent % block == 0), None)


def _multiplies_bytes(op: RelayOp) -> bool:
    """Whether an op multiplies ui8 by i8, whose products are summed in groups of four."""
    return element_type_of(op.operands[0].type) != element_type_of(op.operands[1].type)


def _lanes_of_product(op: RelayOp, f32_lanes: int) -> int | None:
    """Returns the number of results in a vector; `None` for element types without blocked implementations."""
    element = element_type_of(op.operands[0].type)
    if _multiplies_bytes(op) or isinstance(element, Float32Type) or element == i32:
        return f32_lanes
    return max(1, f32_lanes // 2) if isinstance(element, Float64Type) else None
