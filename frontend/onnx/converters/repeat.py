"""Expand, Tile, Upsample and nearest Resize: repetitions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import is_static, shape_of
from xrelay.frontend.onnx.converters.extents import static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.frontend.onnx.tensors import check_size


@converts("Expand", since=8, limits="shape of known length")
def convert_expand(node: NodeView) -> SSAValue:
    """Broadcasting to a shape, in both directions; `dyn.broadcast_to` where the shape is not known."""
    if node.constant(1) is None:
        return node.emit("dyn.broadcast_to", node.input(0), node.input(1))
    wanted = node.required_ints(1, "shape")
    shape = (1,) * (len(wanted) - len(static_shape(node, node.input(0)))) + static_shape(node, node.input(0))
    wanted = (1,) * (len(shape) - len(wanted)) + wanted
    if any(new < 0 or (old != 1 and new not in (1, old)) for old, new in zip(shape, wanted, strict=True)):
        raise node.error(f"shapes {shape} and {wanted} do not broadcast")
    target = tuple(new if old == 1 else old for old, new in zip(shape, wanted, strict=True))
    _check_size(node, target)
    return node.emit("broadcast_to", node.input(0), shape=target)


@converts("Tile", since=6, limits="repeats of known length")
def convert_tile(node: NodeView) -> SSAValue:
    """The whole tensor, so often along each axis; `dyn.tile` where the repeats or the shape are not known."""
    if node.constant(1) is None or not is_static(node.input(0).type):
        repeats = node.input(1)
        if shape_of(repeats.type) != (len(node.shape(0)),):
            raise node.error(f"repeats {repeats.type} do not suit rank {len(node.shape(0))}")
        return node.emit("dyn.tile", node.input(0), repeats)
    counts, shape = node.required_ints(1, "repeats"), static_shape(node, node.input(0))
    if len(counts) != len(shape) or any(count < 0 for count in counts):
        raise node.error(f"repeats {list(counts)} do not suit rank {len(shape)}")
    _check_size(node, [count * extent for count, extent in zip(counts, shape, strict=True)])
    return node.emit("tile", node.input(0), reps=counts) if any(count != 1 for count in counts) else node.input(0)


def _check_size(node: NodeView, shape: Sequence[int]) -> None:
    """Refuses what no model can mean: a few bytes of it may ask for more than there is."""
    problem = check_size(tuple(shape), numpy_dtype(node.element_type(0)).itemsize)
    if problem is not None:
        raise node.error(problem)


_RESIZE = ("coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "mode")

_WHOLE_FACTORS = "nearest, by constant whole factors"

_REPEATS = {
    "asymmetric": ("floor",),
    "half_pixel": ("round_prefer_floor", "round_prefer_ceil"),
    "half_pixel_symmetric": ("round_prefer_floor", "round_prefer_ceil"),
    "pytorch_half_pixel": ("round_prefer_floor", "round_prefer_ceil"),
}
"""Coordinate mode → rounding modes with which a whole factor repeats every element."""


def _resize_refusal(node: NodeView) -> str | None:
    mode = node.attribute_string("mode", "nearest", ("nearest", "linear", "cubic"))
    return None if mode == "nearest" else f"attribute 'mode' = {mode!r}: only nearest is supported"


@converts("Upsample", since=7, until=8, attributes=("mode", "scales"), supports=_resize_refusal, limits=_WHOLE_FACTORS)
def convert_upsample_attribute(node: NodeView) -> SSAValue:
    """Every element repeated, the factors as an attribute."""
    return _enlarge(node, node.attribute_floats("scales") or ())


@converts("Upsample", since=9, until=9, attributes=("mode",), supports=_resize_refusal, limits=_WHOLE_FACTORS)
@converts("Resize", since=10, until=10, attributes=("mode",), supports=_resize_refusal, limits=_WHOLE_FACTORS)
def convert_upsample_input(node: NodeView) -> SSAValue:
    """Every element repeated, the factors as a constant input."""
    return _enlarge(node, [float(scale) for scale in node.required_constant(1, "scales").reshape(-1)])


@converts(
    "Resize",
    since=11,
    attributes=(*_RESIZE, "nearest_mode", "antialias"),
    supports=_resize_refusal,
    limits=_WHOLE_FACTORS,
)
def convert_resize(node: NodeView) -> SSAValue:
    """Nearest neighbours by whole factors, where that repeats every element."""
    sizes = node.required_ints(3, "sizes") if node.optional_input(3) is not None else ()
    if sizes:
        scales = _scales_of(node, sizes)
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


def _scales_of(node: NodeView, sizes: Sequence[int]) -> list[float]:
    """The whole factors by which the extents become `sizes`."""
    shape = static_shape(node, node.input(0))
    if len(sizes) != len(shape):
        raise node.error(f"{len(sizes)} sizes for {len(shape)} axes")
    if any(size != extent and (extent == 0 or size % extent) for size, extent in zip(sizes, shape, strict=True)):
        raise node.error(
            f"sizes {list(sizes)} are not supported, only whole multiples of the extents {list(shape)} are"
        )
    return [1.0 if size == extent else float(size // extent) for size, extent in zip(sizes, shape, strict=True)]


def _enlarge(node: NodeView, scales: Sequence[float]) -> SSAValue:
    rank = len(static_shape(node, node.input(0)))
    if len(scales) != rank or not all(scale >= 1 and scale.is_integer() for scale in scales):
        raise node.error(f"scales {list(scales)} are not supported, only {rank} whole factors from 1 are")
    result = node.input(0)
    for axis, scale in enumerate(scales):
        if scale != 1:
            result = node.emit("repeat", result, repeats=int(scale), axis=axis)
    return result
