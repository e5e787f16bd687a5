"""GridSample."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.image.grid import PADDINGS
from xrelay.frontend.onnx.converters.definition import MICROSOFT, NodeView, channels_first, converts

_METHODS = {
    "nearest": "nearest",
    "bilinear": "bilinear",
    "linear": "bilinear",
    "bicubic": "bicubic",
    "cubic": "bicubic",
}
"""Method names of opset 16 and of opset 20 → relay's."""


_ATTRIBUTES = ("align_corners", "mode", "padding_mode")


@converts("GridSample", since=16, attributes=_ATTRIBUTES, limits="images and volumes")
@converts("GridSample", domain=MICROSOFT, attributes=_ATTRIBUTES)
def convert_grid_sample(node: NodeView) -> SSAValue:
    """`image.grid_sample`, with the coordinates along axis 1 of the grid.

    Cubic sampling does not clamp coordinates beyond a border, as in PyTorch, which exports such nodes, and in
    onnxruntime; onnx's reference implementation clamps them.
    """
    rank = len(node.shape(0))
    if rank not in (4, 5) or len(node.shape(1)) != rank:
        raise node.error(f"data {node.input(0).type} with a grid {node.input(1).type}: images and volumes are expected")
    grid = channels_first(node, node.input(1))
    default = "linear" if node.opset >= 20 else "bilinear"
    return node.emit(
        "image.grid_sample",
        node.input(0),
        grid,
        method=_METHODS[node.attribute_string("mode", default, tuple(_METHODS))],
        layout="NCHW" if rank == 4 else "NCDHW",
        padding_mode=node.attribute_string("padding_mode", "zeros", PADDINGS),
        align_corners=node.attribute_flag("align_corners"),
    )
