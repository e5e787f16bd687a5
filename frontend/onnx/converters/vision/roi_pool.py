"""MaxRoiPool."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts


@converts("MaxRoiPool", attributes=("pooled_shape", "spatial_scale"))
def convert_max_roi_pool(node: NodeView) -> SSAValue:
    """`vision.roi_pool`."""
    size, scale = node.attribute_ints("pooled_shape") or (), node.attribute_float("spatial_scale", 1.0)
    return node.emit("vision.roi_pool", node.input(0), node.input(1), pooled_size=size, spatial_scale=scale)
