"""onnxruntime's operators on images in blocked layout, which it writes into models that it saves.

Here such an image has channels first, padded to whole blocks; only the filters are stored in blocks.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper
from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.converters.image.resize import convert_resize
from xrelay.frontend.onnx.converters.microsoft.conv import convert_fused_conv
from xrelay.frontend.onnx.converters.microsoft.nchwc_filters import NCHWC, block_of, in_order
from xrelay.frontend.onnx.converters.nn.global_pool import convert_global_average_pool, convert_global_max_pool
from xrelay.frontend.onnx.converters.nn.pool import convert_average_pool, max_pool
from xrelay.frontend.onnx.converters.nn.windows import converts_windows
from xrelay.frontend.onnx.converters.shared.channels import channels_first, channels_last
from xrelay.frontend.onnx.converters.shared.extents import known_extent
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts

_PLACES = ("asymmetric", "align_corners", "half_pixel")


@converts("ReorderInput", domain=NCHWC, attributes=("channels_last",), limits="a known number of channels")
def convert_reorder_input(node: NodeView) -> SSAValue:
    """Moves the channels first, and pads them with zeros to whole blocks."""
    rank = _rank(node)
    data = node.input(0)
    if node.attribute_flag("channels_last"):
        data = channels_first(node, data)
    missing = -known_extent(node, data, 1) % block_of(node.graph)
    if not missing:
        return data
    widths = (0, 0, 0, missing, *(0,) * 2 * (rank - 2))
    return node.emit("nn.pad", data, node.scalar(0, data), pad_width=widths)


@converts("ReorderOutput", domain=NCHWC, attributes=("channels", "channels_last"))
def convert_reorder_output(node: NodeView) -> SSAValue:
    """Removes the padding channels, and moves the channels last if required."""
    _rank(node)
    channels = node.attribute_int("channels", 0)
    if not 1 <= channels <= known_extent(node, node.input(0), 1):
        raise node.illegal("channels", channels, f"the image has {shape_of(node.input(0).type)[1]}")
    data = node.emit("strided_slice", node.input(0), begin=(0,), end=(channels,), axes=(1,))
    return channels_last(node, data) if node.attribute_flag("channels_last") else data


@converts_windows(
    "Conv",
    domain=NCHWC,
    attributes=("group", "activation", "activation_params"),
    limits="constant filters",
)
def convert_blocked_conv(node: NodeView) -> SSAValue:
    """FusedConv with the filters in ONNX's layout."""
    return convert_fused_conv(node.with_inputs([node.input(0), in_order(node), *node.inputs[2:]]))


@converts_windows(
    "MaxPool",
    domain=NCHWC,
    attributes=("ceil_mode", "storage_order"),
)
def convert_blocked_max_pool(node: NodeView) -> SSAValue:
    """`nn.max_pool1d` to `3d`."""
    return max_pool(node)


@converts_windows(
    "AveragePool",
    domain=NCHWC,
    attributes=("ceil_mode", "count_include_pad"),
)
def convert_blocked_average_pool(node: NodeView) -> SSAValue:
    """`nn.avg_pool1d` to `3d`."""
    return convert_average_pool(node)


converts("GlobalAveragePool", domain=NCHWC)(convert_global_average_pool)
converts("GlobalMaxPool", domain=NCHWC)(convert_global_max_pool)


@converts("Upsample", domain=NCHWC, attributes=("coordinate_transformation_mode", "mode", "scales"))
def convert_blocked_upsample(node: NodeView) -> SSAValue:
    """Resize by integer factors; mode "nearest" repeats elements."""
    factors = node.emit_constant(np.array(node.attribute_ints("scales") or (), np.float32), "scales")
    proto = onnx.NodeProto(name=node.name, op_type="Resize", output=node.proto.output)
    mode = node.attribute_string("mode", "nearest", ("nearest", "linear"))
    places = node.attribute_string("coordinate_transformation_mode", _PLACES[0], _PLACES)
    places = places if mode == "linear" else _PLACES[0]
    words = {"mode": mode, "coordinate_transformation_mode": places, "nearest_mode": "floor"}
    proto.attribute.extend(helper.make_attribute(*word) for word in words.items())
    return convert_resize(NodeView(proto, node.graph, [node.input(0), None, factors]))


def _rank(node: NodeView) -> int:
    rank = len(node.shape(0))
    if rank < 3:
        raise node.error(f"images of {node.input(0).type}; they have a batch, channels and spatial axes")
    return rank
