"""ConvTranspose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView
from xrelay.frontend.onnx.converters.nn.conv import add_bias
from xrelay.frontend.onnx.converters.nn.same_padding import (
    cut_to_output_shape,
)
from xrelay.frontend.onnx.converters.nn.windows import (
    auto_pad,
    converts_windows,
    explicit_pads,
    halves,
    unpadded_window,
    weight_kernel,
    window_attributes,
    with_padding,
)
from xrelay.index_algebra.windows import WindowAxis, of_any_size


@converts_windows(
    "ConvTranspose",
    attributes=("group", "output_padding", "output_shape"),
)
def convert_conv_transpose(node: NodeView) -> SSAValue:
    """`nn.conv1d_transpose` to `3d`, then `nn.bias_add` if the node has a bias."""
    kernel = weight_kernel(node)
    window, extra = unpadded_window(node, kernel), _output_padding(node, len(kernel))
    stated = _output_shape(node, len(kernel))
    padded = _padded_window(node, window, stated, extra)
    window, more = padded or (window, [0] * len(window))
    result = node.emit(
        f"nn.conv{len(window)}d_transpose",
        node.input(0),
        node.input(1),
        groups=node.attribute_int("group", 1, check=lambda value: value >= 1),
        kernel_size=kernel,
        output_padding=more,
        **window_attributes(window),
    )
    if padded is None and stated is not None:
        result = cut_to_output_shape(node, result, stated, extra)
    return add_bias(node, result)


def _output_padding(node: NodeView, rank: int) -> tuple[int, ...]:
    extra = node.attribute_ints("output_padding", [0] * rank) or ()
    if len(extra) != rank or min(extra) < 0:
        raise node.illegal("output_padding", list(extra), f"{rank} integers that are not negative are expected")
    return extra


def _output_shape(node: NodeView, rank: int) -> tuple[int, ...] | None:
    stated = node.attribute_ints("output_shape")
    if stated is not None and (len(stated) != rank or min(stated) < 0):
        raise node.illegal("output_shape", list(stated), f"the {rank} spatial extents are expected")
    return stated


def _padded_window(
    node: NodeView, window: tuple[WindowAxis[int], ...], stated: Sequence[int] | None, extra: Sequence[int]
) -> tuple[tuple[WindowAxis[int], ...], Sequence[int]] | None:
    """Returns the padded window, and the zeros after each axis; None if the padding depends on dynamic extents.

    With `output_shape`, or SAME, for which the result is extent times stride, the padding is the surplus of the result.
    """
    rank, mode = len(window), auto_pad(node)
    if stated is None and mode in ("NOTSET", "VALID"):
        pads = explicit_pads(node, rank) if mode == "NOTSET" else (0,) * 2 * rank
        return with_padding(window, pads), extra
    found: list[WindowAxis[int]] = []
    zeros: list[int] = []
    extents = node.shape(0)[2:]
    wanted = stated if stated is not None else [n * a.stride for n, a in zip(extents, window, strict=True)]
    for axis, extent, want, more in zip(window, extents, wanted, extra, strict=True):
        surplus = of_any_size(axis).covered(extent) - want
        if not isinstance(surplus, int):
            return None
        before, after = halves(max(0, surplus + more), mode)
        found.append(replace(axis, before=before, after=after))
        zeros.append(before + after - surplus)
    return tuple(found), zeros
