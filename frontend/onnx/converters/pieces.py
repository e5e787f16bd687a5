"""Parts of tensors and repeated ones: Slice, Gather of constant indices, Expand, Tile, nearest Resize, DepthToSpace.

Relay's operators here are few: a part is a field of `split`, a repetition a product with ones, which broadcasts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import element_type_of, shape_of
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.frontend.onnx.tensors import check_size
from xrelay.index_algebra.dims import Shape, shape_text

MAX_PIECES = 64
"""More parts than this are not cut out one by one."""


def static_shape(node: NodeView, value: SSAValue) -> tuple[int, ...]:
    """The extents of `value`, required to be known."""
    shape: Shape = shape_of(value.type)
    known = tuple(extent for extent in shape if isinstance(extent, int))
    if len(known) != len(shape):
        raise node.error(
            f"{node.proto.op_type} of shape {shape_text(shape)} needs known extents",
            help="fix the input shape with shapes={…}",
        )
    return known


def cut(node: NodeView, value: SSAValue, axis: int, start: int, stop: int) -> SSAValue:
    """The elements `start` to `stop` (exclusive) along `axis`; none where `stop` is not beyond `start`."""
    extent = static_shape(node, value)[axis]
    if stop <= start:
        return node.tuple_field(node.emit("split", value, indices_or_sections=(0,), axis=axis), 0)
    bounds = tuple(bound for bound in (start, stop) if 0 < bound < extent)
    if not bounds:
        return value
    parts = node.emit("split", value, indices_or_sections=bounds, axis=axis)
    return node.tuple_field(parts, 1 if start > 0 else 0)


def pick(node: NodeView, value: SSAValue, axis: int, indices: Sequence[int]) -> SSAValue:
    """The elements at `indices` along `axis`, in that order."""
    if not indices:
        return cut(node, value, axis, 0, 0)
    step = indices[1] - indices[0] if len(indices) > 1 else 1
    if list(indices) == list(range(indices[0], indices[-1] + 1)):
        return cut(node, value, axis, indices[0], indices[-1] + 1)
    if step > 1 and list(indices) == list(range(indices[0], indices[-1] + 1, step)):
        return _stride(node, value, axis, indices, step)
    if len(indices) > MAX_PIECES:
        raise node.error(f"{len(indices)} elements out of order along axis {axis} are not supported, only {MAX_PIECES}")
    return node.emit(
        "concatenate", node.make_tuple([cut(node, value, axis, index, index + 1) for index in indices]), axis=axis
    )


def _stride(node: NodeView, value: SSAValue, axis: int, indices: Sequence[int], step: int) -> SSAValue:
    """Every `step`-th element: one column of the axis written as rows of `step` elements."""
    first, last = indices[0], indices[-1]
    whole = cut(node, value, axis, first, last + 1)
    lacking = len(indices) * step - (last + 1 - first)
    shape = list(static_shape(node, whole))
    if lacking:
        pads = [0] * (2 * len(shape))
        pads[2 * axis + 1] = lacking
        whole = node.emit("nn.pad", whole, node.scalar(0.0, value), pad_width=tuple(pads))
    rows = (*shape[:axis], len(indices), step, *shape[axis + 1 :])
    column = cut(node, node.emit("reshape", whole, newshape=rows), axis + 1, 0, 1)
    return node.emit("squeeze", column, axis=(axis + 1,))


def repeat(node: NodeView, value: SSAValue, counts: Sequence[int]) -> SSAValue:
    """`value` times ones of shape `counts`: every axis of extent 1 repeated so often, others where `counts` is 1."""
    if all(count == 1 for count in counts) and len(counts) <= len(shape_of(value.type)):
        return value
    element = element_type_of(value.type)
    problem = check_size(tuple(counts), numpy_dtype(element).itemsize)
    if problem is not None:
        raise node.error(problem)
    if element == i1:
        # There is no arithmetic on booleans.
        return node.emit("cast", repeat(node, node.emit("cast", value, dtype="int8"), counts), dtype="bool")
    return node.emit("multiply", value, node.emit_constant(np.ones(tuple(counts), numpy_dtype(element)), "ones"))


# --- parts -----------------------------------------------------------------------------------------------------------


@converts("Slice", since=1, until=9, attributes=("axes", "ends", "starts"))
def convert_slice_attributes(node: NodeView) -> SSAValue:
    """A part, its bounds as attributes."""
    starts = node.attribute_ints("starts", ()) or ()
    axes = node.attribute_ints("axes") or tuple(range(len(starts)))
    return _slice(node, starts, node.attribute_ints("ends", ()) or (), axes, (1,) * len(starts))


@converts("Slice", since=10)
def convert_slice_inputs(node: NodeView) -> SSAValue:
    """A part, its bounds as constant inputs."""
    starts, ends = node.required_ints(1, "starts"), node.required_ints(2, "ends")
    axes, steps = tuple(range(len(starts))), (1,) * len(starts)
    if node.optional_input(3) is not None:
        axes = node.required_ints(3, "axes")
    if node.optional_input(4) is not None:
        steps = node.required_ints(4, "steps")
    return _slice(node, starts, ends, axes, steps)


def _slice(
    node: NodeView, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int], steps: Sequence[int]
) -> SSAValue:
    value = node.input(0)
    shape = static_shape(node, value)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise node.error(
            f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes and {len(steps)} steps; one of each is expected"
        )
    for start, end, given, step in zip(starts, ends, axes, steps, strict=True):
        axis = _axis(node, given, len(shape))
        if step == 0:
            raise node.error("a step of Slice is 0")
        value = pick(node, value, axis, range(*slice(start, end, step).indices(shape[axis])))
    return value


def _axis(node: NodeView, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise node.illegal("axis", axis, f"axes of a tensor of rank {rank} lie in [-{rank}, {rank - 1}]")
    return axis % rank


@converts("Gather", attributes=("axis",))
def convert_gather(node: NodeView) -> SSAValue:
    """The elements at constant indices."""
    shape = static_shape(node, node.input(0))
    axis = _axis(node, node.attribute_int("axis", 0), len(shape))
    array = node.required_constant(1, "indices")
    extent = shape[axis]
    indices = [int(index) for index in array.reshape(-1)]
    wrong = next((index for index in indices if not -extent <= index < extent), None)
    if wrong is not None:
        raise node.error(f"index {wrong} of axis {axis}, of extent {extent}, is out of range")
    picked = pick(node, node.input(0), axis, [index % extent for index in indices])
    if array.ndim == 1:
        return picked
    return node.emit("reshape", picked, newshape=(*shape[:axis], *array.shape, *shape[axis + 1 :]))


# --- repetitions -----------------------------------------------------------------------------------------------------


@converts("Expand", since=8)
def convert_expand(node: NodeView) -> SSAValue:
    """Broadcasting to a constant shape."""
    wanted = node.required_ints(1, "shape")
    shape = (1,) * (len(wanted) - len(static_shape(node, node.input(0)))) + static_shape(node, node.input(0))
    wanted = (1,) * (len(shape) - len(wanted)) + wanted
    if any(new < 1 or (old != 1 and new not in (1, old)) for old, new in zip(shape, wanted, strict=True)):
        raise node.error(f"shapes {shape} and {wanted} do not broadcast")
    return repeat(node, node.input(0), [new if old == 1 else 1 for old, new in zip(shape, wanted, strict=True)])


@converts("Tile", since=6)
def convert_tile(node: NodeView) -> SSAValue:
    """The whole tensor, so often along each axis."""
    counts, shape = node.required_ints(1, "repeats"), static_shape(node, node.input(0))
    if len(counts) != len(shape) or any(count < 1 for count in counts):
        raise node.error(f"repeats {list(counts)} do not suit rank {len(shape)}")
    return _spread(node, [(count, 1) for count in counts])


def _spread(node: NodeView, factors: Sequence[tuple[int, int]]) -> SSAValue:
    """Every axis repeated as a whole (first factor) and element by element (second)."""
    shape = static_shape(node, node.input(0))
    apart: list[int] = []
    counts: list[int] = []
    for extent, (whole, element) in zip(shape, factors, strict=True):
        apart += [1] * (whole > 1) + [extent] + [1] * (element > 1)
        counts += [whole] * (whole > 1) + [1] + [element] * (element > 1)
    if len(apart) == len(shape):
        return node.input(0)
    repeated = repeat(node, node.emit("reshape", node.input(0), newshape=tuple(apart)), counts)
    result = tuple(extent * whole * element for extent, (whole, element) in zip(shape, factors, strict=True))
    return node.emit("reshape", repeated, newshape=result)


_RESIZE = ("coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "mode")

_REPEATS = {
    "asymmetric": ("floor",),
    "half_pixel": ("round_prefer_floor", "round_prefer_ceil"),
    "half_pixel_symmetric": ("round_prefer_floor", "round_prefer_ceil"),
    "pytorch_half_pixel": ("round_prefer_floor", "round_prefer_ceil"),
}
"""Where a whole factor with mode `nearest` repeats every element: coordinates, and how they are rounded."""


def _resize_refusal(node: NodeView) -> str | None:
    mode = node.attribute_string("mode", "nearest", ("nearest", "linear", "cubic"))
    return None if mode == "nearest" else f"attribute 'mode' = {mode!r}: only nearest is supported"


@converts("Upsample", since=7, until=8, attributes=("mode", "scales"), supports=_resize_refusal)
def convert_upsample_attribute(node: NodeView) -> SSAValue:
    """Every element repeated, the factors as an attribute."""
    return _enlarge(node, node.attribute_floats("scales") or ())


@converts("Upsample", since=9, until=9, attributes=("mode",), supports=_resize_refusal)
@converts("Resize", since=10, until=10, attributes=("mode",), supports=_resize_refusal)
def convert_upsample_input(node: NodeView) -> SSAValue:
    """Every element repeated, the factors as a constant input."""
    return _enlarge(node, [float(scale) for scale in node.required_constant(1, "scales").reshape(-1)])


@converts("Resize", since=11, attributes=(*_RESIZE, "nearest_mode", "antialias"), supports=_resize_refusal)
def convert_resize(node: NodeView) -> SSAValue:
    """Nearest neighbours by whole factors, where that repeats every element."""
    sizes = node.required_ints(3, "sizes") if node.optional_input(3) is not None else ()
    if sizes:
        shape = static_shape(node, node.input(0))
        scales = [size / extent for size, extent in zip(sizes, shape, strict=False)]
    else:
        scales = [float(scale) for scale in node.required_constant(2, "scales").reshape(-1)]
    coordinates = node.attribute_string(
        "coordinate_transformation_mode", "half_pixel", (*_REPEATS, "align_corners", "tf_crop_and_resize")
    )
    rounding = node.attribute_string(
        "nearest_mode", "round_prefer_floor", ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    )
    if any(scale != 1 for scale in scales) and rounding not in _REPEATS.get(coordinates, ()):
        raise node.error(
            f"coordinates {coordinates!r} with nearest_mode {rounding!r} are not supported",
            help="supported are asymmetric with floor, and half_pixel with round_prefer_floor",
        )
    return _enlarge(node, scales)


def _enlarge(node: NodeView, scales: Sequence[float]) -> SSAValue:
    rank = len(static_shape(node, node.input(0)))
    if len(scales) != rank or any(scale < 1 or scale != int(scale) for scale in scales):
        raise node.error(f"scales {list(scales)} are not supported, only {rank} whole factors from 1 are")
    return _spread(node, [(1, int(scale)) for scale in scales])


# --- blocks ----------------------------------------------------------------------------------------------------------


@converts("DepthToSpace", attributes=("blocksize", "mode"))
def convert_depth_to_space(node: NodeView) -> SSAValue:
    """Channels become blocks of pixels (`mode` CRD is the pixel shuffle)."""
    n, c, h, w = _image(node)
    block = node.attribute_int("blocksize", 0, check=lambda value: value >= 1 and c % (value * value) == 0)
    depth = c // (block * block)
    if node.attribute_string("mode", "DCR", ("DCR", "CRD")) == "DCR":
        shape, axes = (n, block, block, depth, h, w), (0, 3, 4, 1, 5, 2)
    else:
        shape, axes = (n, depth, block, block, h, w), (0, 1, 4, 2, 5, 3)
    apart = node.emit("transpose", node.emit("reshape", node.input(0), newshape=shape), axes=axes)
    return node.emit("reshape", apart, newshape=(n, depth, h * block, w * block))


@converts("SpaceToDepth", attributes=("blocksize",))
def convert_space_to_depth(node: NodeView) -> SSAValue:
    """Blocks of pixels become channels."""
    n, c, h, w = _image(node)
    block = node.attribute_int("blocksize", 0, check=lambda size: size >= 1 and h % size == 0 and w % size == 0)
    shape = (n, c, h // block, block, w // block, block)
    apart = node.emit("transpose", node.emit("reshape", node.input(0), newshape=shape), axes=(0, 3, 5, 1, 2, 4))
    return node.emit("reshape", apart, newshape=(n, c * block * block, h // block, w // block))


def _image(node: NodeView) -> tuple[int, int, int, int]:
    shape = static_shape(node, node.input(0))
    if len(shape) != 4:
        raise node.error(f"an image of 4 dimensions is expected, found {len(shape)}")
    n, c, h, w = shape
    return n, c, h, w
