"""Image ops of the domain com.microsoft: crops, pools of channels-last images, transposed convolution, windows."""

from __future__ import annotations

import onnx
from onnx import helper
from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.converters.nn.conv_transpose import transposed_convolution
from xrelay.frontend.onnx.converters.nn.pool import max_pool
from xrelay.frontend.onnx.converters.nn.windows import WINDOW_ATTRIBUTES, unsupported_rank
from xrelay.frontend.onnx.converters.shared.extents import known_axis
from xrelay.frontend.onnx.converters.shared.numbers import Numbers
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts

_METHODS = {"bilinear": "bilinear", "nearest": "nearest_neighbor"}


@converts(
    "CropAndResize",
    domain=MICROSOFT,
    attributes=("extrapolation_value", "mode"),
    limits="a constant crop_size",
)
def convert_crop_and_resize(node: NodeView) -> SSAValue:
    """`image.crop_and_resize`."""
    return node.emit(
        "image.crop_and_resize",
        node.input(0),
        node.input(1),
        node.input(2),
        crop_size=node.required_ints(3, "crop_size"),
        method=_METHODS[node.attribute_string("mode", "bilinear", tuple(_METHODS))],
        extrapolation_value=node.attribute_float("extrapolation_value", 0.0),
    )


@converts(
    "NhwcMaxPool",
    domain=MICROSOFT,
    attributes=(*WINDOW_ATTRIBUTES, "ceil_mode"),
    supports=unsupported_rank,
    limits="1 to 3 spatial axes",
)
def convert_nhwc_max_pool(node: NodeView) -> SSAValue:
    """`nn.max_pool1d` to `3d` of channels-last images."""
    rank = len(node.shape(0))
    if rank < 3:
        raise node.error(f"images of {node.input(0).type}; they have a batch, spatial axes and channels")
    first = node.emit("transpose", node.input(0), axes=(0, rank - 1, *range(1, rank - 1)))
    return node.emit("transpose", max_pool(node.with_inputs([first])), axes=(0, *range(2, rank), 1))


@converts(
    "ConvTransposeWithDynamicPads",
    domain=MICROSOFT,
    attributes=("auto_pad", "dilations", "kernel_shape", "strides", "group", "output_padding"),
    supports=unsupported_rank,
    limits="constant pads, 1 to 3 spatial axes",
)
def convert_conv_transpose_with_pads(node: NodeView) -> SSAValue:
    """ConvTranspose, with the pads as an input before the bias."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    if node.optional_input(2) is not None:
        pads = node.required_ints(2, "Pads")
        proto.attribute.append(helper.make_attribute("pads", pads, attr_type=onnx.AttributeProto.INTS))
    inputs = [node.input(0), node.input(1), node.optional_input(3)]
    return transposed_convolution(NodeView(proto, node.graph, inputs))


@converts("UnfoldTensor", domain=MICROSOFT, attributes=("dim", "size", "step"))
def convert_unfold(node: NodeView) -> SSAValue:
    """All windows of `size` elements along an axis, `step` elements apart; their elements are a new last axis."""
    rank = len(node.shape(0))
    axis = known_axis(node, node.attribute_int("dim", -1), rank)
    size, step = (node.attribute_int(name, 1, check=lambda value: value >= 1) for name in ("size", "step"))
    numbers, extent = Numbers(node), shape_of(node.input(0).type)[axis]
    if isinstance(extent, int) and extent < size:
        raise node.error(f"parts of {size} elements of an axis of {extent}")
    places = numbers.places_of_parts(numbers.extent(node.input(0), axis), size, step)
    parts = node.emit("take", node.input(0), places, axis=axis, mode="fast")
    others = (place for place in range(rank + 1) if place != axis + 1)
    return node.emit("transpose", parts, axes=(*others, axis + 1))
