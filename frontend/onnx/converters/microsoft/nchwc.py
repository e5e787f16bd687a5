"""onnxruntime's operators on images in blocked layout, which it writes into models that it saves.

Here such an image has channels first, padded to whole blocks; only the filters are stored in blocks. The number of
channels in a block depends on the processor for which onnxruntime saved the model. The model does not record it; it is
inferred from the extents, which are padded to whole blocks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import onnx
from onnx import helper
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from xrelay.errors import printable
from xrelay.frontend.onnx.converters.definition import (
    NodeView,
    channels_first,
    channels_last,
    converts,
    known_extent,
    shape_of,
)
from xrelay.frontend.onnx.converters.image.resize import convert_resize
from xrelay.frontend.onnx.converters.microsoft.conv import convert_fused_conv
from xrelay.frontend.onnx.converters.nn.global_pool import convert_global_average_pool, convert_global_max_pool
from xrelay.frontend.onnx.converters.nn.pool import convert_average_pool, max_pool
from xrelay.frontend.onnx.converters.nn.windows import converts_windows
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.index_algebra.dims import Shape
from xrelay.target.host import host_facts

_LOG = logging.getLogger(__name__)
NCHWC: Final = "com.microsoft.nchwc"
"""The domain of onnxruntime's operators on images in blocked layout."""
_SMALL, _LARGE = 8, 16
_known: Final[WeakKeyDictionary[GraphBuilder, int]] = WeakKeyDictionary()


def _block_of(graph: GraphBuilder) -> int:
    """Returns the number of channels in a block; if the model does not imply it, the number for this machine."""
    if graph not in _known:
        found = next(_signs(graph), None)
        if found is None:
            found = _own_block()
            text = (
                "%s: onnxruntime optimised the model for one kind of processor, which the file does not name; channels "
            )
            location = printable(graph.location)
            _LOG.warning(
                text
                + "are read in blocks of %d, as for this one. Optimise with ORT_ENABLE_EXTENDED for a portable model",
                location,
                found,
            )
        _known[graph] = found
    return _known[graph]


def _in_order(node: NodeView) -> SSAValue:
    """Returns the filters in the constant input 1 in ONNX's layout: filter, channel, and the spatial axes."""
    stored = node.required_constant(1, "filters")
    if stored.ndim < 3:
        raise node.error(f"input #1 must have filters, channels and spatial axes, found {node.input(1).type}")
    block = _block_of(node.graph)
    filters, channels, *window = stored.shape
    if filters % block:
        raise node.error(f"{filters} filters are not in blocks of {block} channels")
    rank = len(window)
    spatial = tuple(range(2, 2 + rank))
    if channels % block:
        blocks = stored.reshape(filters // block, channels, *window, block)
        return node.emit_constant(blocks.transpose(0, rank + 2, 1, *spatial).reshape(stored.shape), "filters")
    blocks = stored.reshape(filters // block, channels // block, *window, block, block)
    return node.emit_constant(blocks.transpose(0, rank + 3, 1, rank + 2, *spatial).reshape(stored.shape), "filters")


def _signs(graph: GraphBuilder) -> Iterator[int]:
    """The block size, once for each node of the graph that implies it."""
    filters_of: dict[str, int] = {}
    for proto in graph.nodes:
        if proto.domain != NCHWC:
            continue
        if proto.op_type == "Conv" and len(proto.input) > 1 and proto.output:
            known = [extent for extent in _shape_of(graph, proto.input[1]) if isinstance(extent, int)]
            if len(known) < 2:
                continue
            filters, channels, *_ = known
            filters_of[proto.output[0]] = filters
            if filters % _LARGE:
                yield _SMALL
            elif _SMALL < channels < _LARGE:
                yield _LARGE
        elif proto.op_type == "ReorderOutput" and proto.input:
            padding = filters_of.get(proto.input[0], 0) - _channels_in(proto)
            if padding >= _SMALL:
                yield _LARGE


def _shape_of(graph: GraphBuilder, name: str) -> Shape:
    value = graph.values.get(name)
    return shape_of(value.type) if value is not None and isinstance(value.type, TensorType) else ()


def _channels_in(proto: onnx.NodeProto) -> int:
    return next((int(each.i) for each in proto.attribute if each.name == "channels"), 0)


def _own_block() -> int:
    """The number of channels in a block that onnxruntime uses on this machine: its vector width, at most 16."""
    facts = host_facts()
    return _SMALL if facts.arch == "x86_64" and "avx512f" not in facts.features else _LARGE


_PLACES = ("asymmetric", "align_corners", "half_pixel")


@converts("ReorderInput", domain=NCHWC, attributes=("channels_last",), limits="a known number of channels")
def convert_reorder_input(node: NodeView) -> SSAValue:
    """Moves the channels first, and pads them with zeros to whole blocks."""
    rank = _rank(node)
    data = node.input(0)
    if node.attribute_flag("channels_last"):
        data = channels_first(node, data)
    missing = -known_extent(node, data, 1) % _block_of(node.graph)
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
    return convert_fused_conv(node.with_inputs([node.input(0), _in_order(node), *node.inputs[2:]]))


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
    """Resizes by integer factors; mode "nearest" repeats elements."""
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
