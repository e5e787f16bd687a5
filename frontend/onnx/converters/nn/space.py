"""DepthToSpace and SpaceToDepth."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts, merged_axes

_SPLIT = -4
"""In the new shape of `reshape`: splits an axis into the two extents that follow."""


@converts("DepthToSpace", attributes=("blocksize", "mode"))
def convert_depth_to_space(node: NodeView) -> SSAValue:
    """Converts channels to blocks of pixels (`mode` CRD is the pixel shuffle)."""
    block = node.attribute_int("blocksize", 0, check=lambda size: size >= 1)
    mode = node.attribute_string("mode", "DCR", ("DCR", "CRD"))
    return node.emit("nn.depth_to_space", node.input(0), block_size=block, mode=mode)


@converts("SpaceToDepth", attributes=("blocksize", "mode"))
def convert_space_to_depth(node: NodeView) -> SSAValue:
    """Converts blocks of pixels to channels, before the existing channels (`mode` DCR) or after each of them."""
    block = node.attribute_int("blocksize", 0, check=lambda size: size >= 1)
    if node.attribute_string("mode", "DCR", ("DCR", "CRD")) == "DCR":
        return node.emit("nn.space_to_depth", node.input(0), block_size=block)
    node.require_rank(0, 4)
    apart = node.emit("reshape", node.input(0), newshape=(0, 0, _SPLIT, -1, block, _SPLIT, -1, block))
    return merged_axes(node, node.emit("transpose", apart, axes=(0, 1, 3, 5, 2, 4)), 1, 4)
