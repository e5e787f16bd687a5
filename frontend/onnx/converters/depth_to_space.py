"""DepthToSpace and SpaceToDepth."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.extents import static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


@converts("DepthToSpace", attributes=("blocksize", "mode"))
def convert_depth_to_space(node: NodeView) -> SSAValue:
    """Channels become blocks of pixels (`mode` CRD is the pixel shuffle)."""
    block = node.attribute_int("blocksize", 0, check=lambda size: size >= 1)
    mode = node.attribute_string("mode", "DCR", ("DCR", "CRD"))
    return node.emit("nn.depth_to_space", node.input(0), block_size=block, mode=mode)


@converts("SpaceToDepth", attributes=("blocksize", "mode"), limits="known extents with mode CRD")
def convert_space_to_depth(node: NodeView) -> SSAValue:
    """Blocks of pixels become channels, before those that there are (`mode` DCR) or behind each."""
    block = node.attribute_int("blocksize", 0, check=lambda size: size >= 1)
    if node.attribute_string("mode", "DCR", ("DCR", "CRD")) == "DCR":
        return node.emit("nn.space_to_depth", node.input(0), block_size=block)
    n, c, h, w = _image(node, block)
    apart = node.reshape(node.input(0), (n, c, h // block, block, w // block, block))
    return node.reshape(
        node.emit("transpose", apart, axes=(0, 1, 3, 5, 2, 4)), (n, c * block * block, h // block, w // block)
    )


def _image(node: NodeView, block: int) -> tuple[int, int, int, int]:
    shape = static_shape(node, node.input(0))
    if len(shape) != 4 or shape[2] % block or shape[3] % block:
        raise node.error(f"an image of whole blocks of {block} by {block} pixels is expected, found {list(shape)}")
    n, c, h, w = shape
    return n, c, h, w
