"""GlobalAveragePool, GlobalMaxPool and GlobalLpPool."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts, rounded_once
from xrelay.frontend.onnx.converters.nn.pool import lp_order, lp_power, lp_root
from xrelay.frontend.onnx.converters.nn.windows import MAX_AXES


@converts("GlobalAveragePool")
def convert_global_average_pool(node: NodeView) -> SSAValue:
    """`nn.global_avg_pool1d` to `3d`; a mean over the spatial axes for any other number of axes."""
    return _global_pool(node, "nn.global_avg_pool", "mean")


@converts("GlobalMaxPool")
def convert_global_max_pool(node: NodeView) -> SSAValue:
    """`nn.global_max_pool1d` to `3d`; a maximum over the spatial axes for any other number of axes."""
    return _global_pool(node, "nn.global_max_pool", "max")


def _global_pool(node: NodeView, pool: str, reduction: str) -> SSAValue:
    rank = len(node.shape(0)) - 2
    if 1 <= rank <= MAX_AXES:
        return node.emit(f"{pool}{rank}d", node.input(0))
    return node.emit(reduction, node.input(0), axis=tuple(range(2, rank + 2)), keepdims=True)


@converts("GlobalLpPool", attributes=("p",))
@rounded_once
def convert_global_lp_pool(node: NodeView, data: SSAValue) -> SSAValue:
    """The p-th root of the sum of p-th powers over the spatial axes."""
    order = lp_order(node)
    axes = tuple(range(2, len(node.shape(0))))
    return lp_root(node, node.emit("sum", lp_power(node, data, order), axis=axes, keepdims=True), order)
