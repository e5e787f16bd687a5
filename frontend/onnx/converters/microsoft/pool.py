"""NhwcMaxPool."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.nn.pool import max_pool
from xrelay.frontend.onnx.converters.nn.windows import WINDOW_ATTRIBUTES, unsupported_rank
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts


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
