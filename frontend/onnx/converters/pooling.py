"""MaxPool, AveragePool, GlobalAveragePool."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.windows import WINDOW_ATTRIBUTES, Window, read_window, unsupported_rank
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


def _max_pool_refusal(node: NodeView) -> str | None:
    if len([output for output in node.proto.output if output]) > 1:
        return "the second output (Indices) is not supported"
    return unsupported_rank(node)


@converts("MaxPool", attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "storage_order"), supports=_max_pool_refusal)
def convert_max_pool(node: NodeView) -> SSAValue:
    """`nn.max_pool2d`. `storage_order` only orders the indices, which are refused."""
    node.attribute_int("storage_order", 0, check=lambda value: value in (0, 1))
    window = _window(node)
    return node.emit("nn.max_pool2d", node.input(0), **_attributes(node, window))


@converts("AveragePool", attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "count_include_pad"), supports=unsupported_rank)
def convert_average_pool(node: NodeView) -> SSAValue:
    """`nn.avg_pool2d`; ONNX leaves padding out of the count unless `count_include_pad` asks for it."""
    window = _window(node)
    include = node.attribute_int("count_include_pad", 0, check=lambda value: value in (0, 1))
    return node.emit("nn.avg_pool2d", node.input(0), count_include_pad=bool(include), **_attributes(node, window))


@converts("GlobalAveragePool")
def convert_global_average_pool(node: NodeView) -> SSAValue:
    """`nn.global_avg_pool2d` for two spatial dimensions, a mean over them for any other number."""
    rank = len(node.shape(0))
    if rank == 4:
        return node.emit("nn.global_avg_pool2d", node.input(0))
    return node.emit("mean", node.input(0), axis=tuple(range(2, rank)), keepdims=True)


def _window(node: NodeView) -> Window:
    kernel = node.attribute_ints("kernel_shape")
    if kernel is None:
        raise node.error("attribute 'kernel_shape' is required")
    return read_window(node, kernel)


def _attributes(node: NodeView, window: Window) -> dict[str, tuple[int, ...] | bool]:
    ceil_mode = node.attribute_int("ceil_mode", 0, check=lambda value: value in (0, 1))
    return {
        "pool_size": window.kernel,
        "strides": window.strides,
        "dilation": window.dilations,
        "padding": window.padding,
        "ceil_mode": bool(ceil_mode),
    }
