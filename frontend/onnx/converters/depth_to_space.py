"""DepthToSpace and SpaceToDepth."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.extents import static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


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
    apart = node.emit("transpose", node.reshape(node.input(0), shape), axes=axes)
    return node.reshape(apart, (n, depth, h * block, w * block))


@converts("SpaceToDepth", attributes=("blocksize", "mode"))
def convert_space_to_depth(node: NodeView) -> SSAValue:
    """Blocks of pixels become channels, before those that there are (`mode` DCR) or behind each."""
    n, c, h, w = _image(node)
    block = node.attribute_int("blocksize", 0, check=lambda size: size >= 1 and h % size == 0 and w % size == 0)
    shape = (n, c, h // block, block, w // block, block)
    crd = node.attribute_string("mode", "DCR", ("DCR", "CRD")) == "CRD"
    axes = (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
    apart = node.emit("transpose", node.reshape(node.input(0), shape), axes=axes)
    return node.reshape(apart, (n, c * block * block, h // block, w // block))


def _image(node: NodeView) -> tuple[int, int, int, int]:
    shape = static_shape(node, node.input(0))
    if len(shape) != 4:
        raise node.error(f"an image of 4 dimensions is expected, found {len(shape)}")
    n, c, h, w = shape
    return n, c, h, w
