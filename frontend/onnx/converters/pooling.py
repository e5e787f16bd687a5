"""MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.windows import WINDOW_ATTRIBUTES, Window, read_window, unsupported_rank
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


def _max_pool_refusal(node: NodeView) -> str | None:
    if any(node.outputs[1:]):
        return f"the second output (Indices, {node.outputs[1]!r}) is not supported, and the model reads it"
    return unsupported_rank(node)


@converts(
    "MaxPool",
    attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "storage_order"),
    supports=_max_pool_refusal,
    limits="two spatial dimensions, without Indices",
)
def convert_max_pool(node: NodeView) -> SSAValue:
    """`nn.max_pool2d`. `storage_order` only orders the indices, which are refused."""
    node.attribute_int("storage_order", 0, check=lambda value: value in (0, 1))
    window = _window(node)
    return node.emit("nn.max_pool2d", node.input(0), **_attributes(node, window))


@converts(
    "AveragePool",
    attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "count_include_pad"),
    supports=unsupported_rank,
    limits="two spatial dimensions",
)
def convert_average_pool(node: NodeView) -> SSAValue:
    """`nn.avg_pool2d`; ONNX leaves padding out of the count unless `count_include_pad` asks for it."""
    window = _window(node)
    include = node.attribute_int("count_include_pad", 0, check=lambda value: value in (0, 1))
    return node.emit("nn.avg_pool2d", node.input(0), count_include_pad=bool(include), **_attributes(node, window))


@converts("GlobalAveragePool")
def convert_global_average_pool(node: NodeView) -> SSAValue:
    """`nn.global_avg_pool2d` for two spatial dimensions, a mean over them for any other number."""
    return _global_pool(node, "nn.global_avg_pool2d", "mean")


@converts("GlobalMaxPool")
def convert_global_max_pool(node: NodeView) -> SSAValue:
    """`nn.global_max_pool2d` for two spatial dimensions, a maximum over them for any other number."""
    return _global_pool(node, "nn.global_max_pool2d", "max")


def _global_pool(node: NodeView, pool: str, reduction: str) -> SSAValue:
    rank = len(node.shape(0))
    if rank == 4:
        return node.emit(pool, node.input(0))
    return node.emit(reduction, node.input(0), axis=tuple(range(2, rank)), keepdims=True)


def _window(node: NodeView) -> Window:
    kernel = node.attribute_ints("kernel_shape")
    if kernel is None:
        raise node.error("attribute 'kernel_shape' is required")
    return read_window(node, kernel)


def _attributes(node: NodeView, window: Window) -> dict[str, tuple[int, ...] | bool]:
    ceil_mode = bool(node.attribute_int("ceil_mode", 0, check=lambda value: value in (0, 1)))
    padding = window.padding
    if ceil_mode:
        ceil_mode, padding = _without_empty_windows(node, window)
    return {
        "pool_size": window.kernel,
        "strides": window.strides,
        "dilation": window.dilations,
        "padding": padding,
        "ceil_mode": ceil_mode,
    }


def _without_empty_windows(node: NodeView, window: Window) -> tuple[bool, tuple[int, ...]]:
    """Returns ceil_mode and padding: unlike Relay, ONNX drops a last window that starts in the end padding.

    Where only some axes have such a window, their end padding shrinks until the windows fit exactly.
    """
    padding, rounds_up, drops = list(window.padding), False, False
    for axis, extent in enumerate(node.shape(0)[2:]):
        stride = window.strides[axis]
        reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1
        begin, end = window.padding[axis], window.padding[axis + 2]
        if not isinstance(extent, int):
            if end + stride > reach:
                raise node.error("ceil_mode needs a known extent here", help="fix the input shape with shapes={…}")
            rounds_up = True
            continue
        steps = -(-(extent + begin + end - reach) // stride)
        if steps * stride < extent + begin:
            rounds_up |= steps * stride != extent + begin + end - reach
        else:
            drops = True
            padding[axis + 2] = (steps - 1) * stride + reach - extent - begin
    if not rounds_up:
        return False, window.padding
    if drops and min(padding) < 0:
        raise node.error("ceil_mode with strides larger than the window drops a row; this is not supported")
    return True, tuple(padding)
