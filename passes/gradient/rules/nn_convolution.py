"""Convolutions of two spatial axes, and transposed ones, each of which is the other's gradient in the data."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.nn_conv import Conv2DOp
from xrelay.dialects.relay.ops.nn_conv_transpose import Conv2DTransposeOp
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import sides_of
from xrelay.passes.gradient.emitter import GradientEmitter
from xrelay.passes.gradient.rule_table import Gradients, differentiates, not_differentiable


@differentiates(Conv2DOp)
def conv2d(op: Conv2DOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """A transposed convolution of the gradient, and `nn.conv2d_backward_weight`.

    The transposed convolution gives what windows cover; elements behind the last window, which strides leave over, are
    its `output_padding` and zeros.
    """
    gradient = emit.cast_like(gradient, op.data)
    data, weight, out = op.layouts
    extents = weight.primal_extents(emit.shape(op.weight))
    sizes = [_known(op, extents[axis], "of the weight") for axis in op.AXES]
    shared = {**_window(op, sizes), "groups": op.groups.value.data}
    of_weight = emit.op(
        "nn.conv2d_backward_weight",
        gradient,
        op.data,
        **shared,
        kernel_size=sizes,
        grad_layout=str(out),
        data_layout=str(data),
        kernel_layout=str(weight),
    )
    if 0 in emit.shape(op.data):
        return [emit.zeros_like(op.data), of_weight]
    of_data = emit.op(
        "nn.conv2d_transpose",
        gradient,
        op.weight,
        **shared,
        output_padding=_left_over(op, sizes, emit),
        data_layout=str(out),
        kernel_layout=_exchanged(str(weight)),
        out_layout=str(data),
    )
    return [of_data, of_weight]


@differentiates(Conv2DTransposeOp)
def conv2d_transpose(op: Conv2DTransposeOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """A convolution of the gradient, and the gradient of its weight, in which gradient and data change their roles."""
    gradient = emit.cast_like(gradient, op.data)
    data, weight, out = op.layouts
    extents = weight.primal_extents(emit.shape(op.weight))
    sizes = [_known(op, extents[axis], "of the weight") for axis in op.AXES]
    if any(more >= axis.stride for more, axis in zip(op.extra, op.window(sizes), strict=True)):
        raise not_differentiable(op, "its output_padding is not less than its strides")
    shared = {**_window(op, sizes), "groups": op.groups.value.data}
    of_data = emit.op(
        "nn.conv2d",
        gradient,
        op.weight,
        **shared,
        data_layout=str(out),
        kernel_layout=_exchanged(str(weight)),
        out_layout=str(data),
    )
    of_weight = emit.op(
        "nn.conv2d_backward_weight",
        op.data,
        gradient,
        **shared,
        kernel_size=sizes,
        grad_layout=str(data),
        data_layout=str(out),
        kernel_layout=_exchanged(str(weight)),
    )
    return [of_data, of_weight]


def _window(op: Conv2DOp | Conv2DTransposeOp, sizes: list[int]) -> dict[str, tuple[int, ...]]:
    """Strides, padding and dilation, a number for each axis and side."""
    window = op.window(sizes)
    strides, dilation = tuple(axis.stride for axis in window), tuple(axis.dilation for axis in window)
    return {"strides": strides, "padding": sides_of(window), "dilation": dilation}


def _left_over(op: Conv2DOp, sizes: list[int], emit: GradientEmitter) -> list[int]:
    """How many elements of the padded data lie behind the last window, by axis."""
    extents = op.layouts[0].primal_extents(emit.shape(op.data))
    what = "of the data, along which it has strides,"
    return [
        0 if axis.stride == 1 else axis.room(_known(op, extents[letter], what)) % axis.stride
        for letter, axis in zip(op.AXES, op.window(sizes), strict=True)
    ]


def _known(op: Conv2DOp | Conv2DTransposeOp, extent: Dim, what: str) -> int:
    if isinstance(extent, int):
        return extent
    raise not_differentiable(op, f"the extent {extent} {what} is not known")


def _exchanged(layout: str) -> str:
    """The layout of the same weight where what was a channel of the data is one of the result."""
    return layout.translate(str.maketrans("OIoi", "IOio"))
