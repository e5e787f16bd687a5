"""Conv and ConvTranspose."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.open_padding import padded_to_keep, padding_is_computed, without_padding
from xrelay.frontend.onnx.converters.windows import (
    WINDOW_ATTRIBUTES,
    auto_pad,
    explicit_pads,
    halves,
    read_window,
    unpadded_window,
    unsupported_rank,
    weight_kernel,
    window_attributes,
    with_padding,
)
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis


@converts("Conv", attributes=(*WINDOW_ATTRIBUTES, "group"), supports=unsupported_rank, limits="1 to 3 spatial axes")
def convert_conv(node: NodeView) -> SSAValue:
    """The convolution of the first input with the second, plus the third."""
    return convolution(node)


def convolution(node: NodeView) -> SSAValue:
    """`nn.conv1d`, `nn.conv2d` or `nn.conv3d`, then `nn.bias_add` where the node has a bias."""
    kernel = weight_kernel(node)
    if padding_is_computed(node, kernel):
        zero = node.scalar(0, node.input(0))
        node = without_padding(node, padded_to_keep(node, kernel, node.input(0), zero))
    window = read_window(node, kernel)
    channels = node.shape(1)[0]
    result = node.emit(
        f"nn.conv{len(window)}d",
        node.input(0),
        node.input(1),
        groups=node.attribute_int("group", 1, check=lambda value: value >= 1),
        channels=channels if isinstance(channels, int) else None,
        kernel_size=kernel,
        **window_attributes(window),
    )
    return add_bias(node, result)


@converts(
    "ConvTranspose",
    attributes=(*WINDOW_ATTRIBUTES, "group", "output_padding", "output_shape"),
    supports=unsupported_rank,
    limits="1 to 3 spatial axes",
)
def convert_conv_transpose(node: NodeView) -> SSAValue:
    """`nn.conv1d_transpose` to `3d`, then `nn.bias_add` where the node has a bias."""
    return transposed_convolution(node)


def transposed_convolution(node: NodeView) -> SSAValue:
    """The transposed convolution of the first two inputs, and the sum with the third where there is one."""
    kernel = weight_kernel(node)
    window, extra = _transposed_window(node, unpadded_window(node, kernel))
    result = node.emit(
        f"nn.conv{len(window)}d_transpose",
        node.input(0),
        node.input(1),
        groups=node.attribute_int("group", 1, check=lambda value: value >= 1),
        kernel_size=kernel,
        output_padding=extra,
        **window_attributes(window),
    )
    return add_bias(node, result)


def _transposed_window(
    node: NodeView, window: tuple[WindowAxis[int], ...]
) -> tuple[tuple[WindowAxis[int], ...], list[int]]:
    """Returns the window with its padding, and how much is added behind each axis.

    With `output_shape`, or SAME, which asks for extent times stride, the padding is what is too much.
    """
    rank, mode = len(window), auto_pad(node)
    extra = list(node.attribute_ints("output_padding", [0] * rank) or ())
    if len(extra) != rank or min(extra) < 0:
        raise node.illegal("output_padding", extra, f"{rank} integers that are not negative are expected")
    stated = node.attribute_ints("output_shape")
    if stated is not None and len(stated) != rank:
        raise node.illegal("output_shape", list(stated), f"the {rank} spatial extents are expected")
    if stated is None and mode in ("NOTSET", "VALID"):
        pads = explicit_pads(node, rank) if mode == "NOTSET" else (0,) * 2 * rank
        return with_padding(window, pads), extra
    found: list[WindowAxis[int]] = []
    extents = node.shape(0)[2:]
    wanted = stated if stated is not None else [n * a.stride for n, a in zip(extents, window, strict=True)]
    for number, (axis, extent, want) in enumerate(zip(window, extents, wanted, strict=True)):
        surplus = WindowAxis[Dim](axis.size, axis.stride, axis.dilation).covered(extent) - want
        if not isinstance(surplus, int):
            raise node.error(
                f"'output_shape' needs known extents, found {extent}", help="fix the input shape with shapes={…}"
            )
        before, after = halves(max(0, surplus + extra[number]), mode)
        found.append(replace(axis, before=before, after=after))
        extra[number] = before + after - surplus
    return tuple(found), extra


def add_bias(node: NodeView, result: SSAValue) -> SSAValue:
    """`result` with the bias of the node, its third input, where there is one."""
    bias = node.optional_input(2)
    return result if bias is None else node.emit("nn.bias_add", result, bias, axis=1)
