"""Filters in the blocked layout of onnxruntime's convolutions, converted to ONNX's layout.

The number of channels in a block depends on the processor for which onnxruntime saved the model. The model does not
record it; it is inferred from the extents, which are padded to whole blocks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final
from weakref import WeakKeyDictionary

import onnx
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.errors import printable
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import Shape
from xrelay.target.host import host_facts

_LOG = logging.getLogger(__name__)
NCHWC: Final = "com.microsoft.nchwc"
"""The domain of onnxruntime's operators on images in blocked layout."""
_SMALL, _LARGE = 8, 16
_known: Final[WeakKeyDictionary[GraphBuilder, int]] = WeakKeyDictionary()


def block_of(graph: GraphBuilder) -> int:
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


def in_order(node: NodeView) -> SSAValue:
    """Returns the filters in the constant input 1 in ONNX's layout: filter, channel, and the spatial axes."""
    stored = node.required_constant(1, "filters")
    if stored.ndim < 3:
        raise node.error(f"input #1 must have filters, channels and spatial axes, found {node.input(1).type}")
    block = block_of(node.graph)
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
