"""NhwcMaxPool."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import MICROSOFT, NodeView, channels_first, channels_last
from xrelay.frontend.onnx.converters.nn.pool import max_pool
from xrelay.frontend.onnx.converters.nn.windows import converts_windows


@converts_windows("NhwcMaxPool", domain=MICROSOFT, attributes=("ceil_mode",))
def convert_nhwc_max_pool(node: NodeView) -> SSAValue:
    """`nn.max_pool1d` to `3d` of channels-last images."""
    if len(node.shape(0)) < 3:
        raise node.error(f"images of {node.input(0).type}; they have a batch, spatial axes and channels")
    return channels_last(node, max_pool(node.with_inputs([channels_first(node, node.input(0))])))
