"""Convolutions of two or three spatial axes, and transposed ones: each is the other's gradient in the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_conv import Conv2DOp, Conv3DOp, ConvOp
from xrelay.dialects.relay.ops.nn_conv_grad import WEIGHT_GRADIENTS, ConvBackwardWeightOp
from xrelay.dialects.relay.ops.nn_conv_transpose import Conv2DTransposeOp, Conv3DTransposeOp, ConvTransposeOp
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import of_any_size, sides_of
from xrelay.passes.gradient.emitter import GradientEmitter
from xrelay.passes.gradient.rule_table import Gradients, differentiates, not_differentiable

_Convolution: TypeAlias = ConvOp | ConvTransposeOp | ConvBackwardWeightOp


@differentiates(Conv2DOp, Conv3DOp)
def convolution(op: ConvOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """A transposed convolution of the gradient, and `nn.conv2d_backward_weight` or its like."""
    gradient = emit.cast_like(gradient, op.data)
    data, weight, out = op.layouts
    extents = weight.primal_extents(emit.shape(op.weight))
    sizes = [_known(op, extents[axis], "of the weight") for axis in op.AXES]
    of_weight = emit.op(
        f"nn.conv{len(op.AXES)}d_backward_weight",
        gradient,
        op.data,
        **_window(op, sizes),
        kernel_size=sizes,
        grad_layout=str(out),
        data_layout=str(data),
        kernel_layout=str(weight),
    )
    return [_spread(op, sizes, (gradient, out), (op.weight, weight), emit), of_weight]


@differentiates(*WEIGHT_GRADIENTS)
def backward_weight(op: ConvBackwardWeightOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """It is linear in both of its operands: the convolution that it belongs to, with the gradient as weight."""
    gradient = emit.cast_like(gradient, op.data)
    grad, data, weight = op.layouts
    of_grad = emit.op(
        f"nn.conv{len(op.AXES)}d",
        op.data,
        gradient,
        **_window(op, op.sizes),
        data_layout=str(data),
        kernel_layout=str(weight),
        out_layout=str(grad),
    )
    return [of_grad, _spread(op, op.sizes, (op.grad, grad), (gradient, weight), emit)]


def _spread(
    op: ConvOp | ConvBackwardWeightOp,
    sizes: Sequence[int],
    image: tuple[SSAValue, Layout],
    weight: tuple[SSAValue, Layout],
    emit: GradientEmitter,
) -> SSAValue:
    """An image of the size of a convolution's result, spread by its weight to the size of its data.

    A transposed convolution gives what windows cover; elements behind the last window, which strides leave over, are
    its `output_padding` and zeros, of which the run cuts off those that are too many.
    """
    if 0 in emit.shape(op.data):
        return emit.zeros_like(op.data)
    data = op.layouts[0] if isinstance(op, ConvOp) else op.layouts[1]
    found = emit.op(
        f"nn.conv{len(op.AXES)}d_transpose",
        image[0],
        weight[0],
        **_window(op, sizes),
        output_padding=_left_over(op, sizes, data.primal_extents(emit.shape(op.data))),
        data_layout=str(image[1]),
        kernel_layout=_exchanged(str(weight[1])),
        out_layout=str(data),
    )
    return found if emit.shape(found) == emit.shape(op.data) else emit.op("slice_like", found, op.data)


@differentiates(Conv2DTransposeOp, Conv3DTransposeOp)
def transposed_convolution(op: ConvTransposeOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """A convolution of the gradient, and the gradient of its weight, in which gradient and data change their roles."""
    gradient = emit.cast_like(gradient, op.data)
    data, weight, out = op.layouts
    extents = weight.primal_extents(emit.shape(op.weight))
    sizes = [_known(op, extents[axis], "of the weight") for axis in op.AXES]
    if any(more >= axis.stride for more, axis in zip(op.extra, op.window(sizes), strict=True)):
        raise not_differentiable(op, "its output_padding is not less than its strides")
    of_data = emit.op(
        f"nn.conv{len(op.AXES)}d",
        gradient,
        op.weight,
        **_window(op, sizes),
        data_layout=str(out),
        kernel_layout=_exchanged(str(weight)),
        out_layout=str(data),
    )
    of_weight = emit.op(
        f"nn.conv{len(op.AXES)}d_backward_weight",
        op.data,
        gradient,
        **_window(op, sizes),
        kernel_size=sizes,
        grad_layout=str(data),
        data_layout=str(out),
        kernel_layout=_exchanged(str(weight)),
    )
    return [of_data, of_weight]


def _window(op: _Convolution, sizes: Sequence[int]) -> dict[str, AttributeValue]:
    """Strides, padding and dilation, a number for each axis and side, and the groups."""
    window = op.window(sizes)
    strides, dilation = tuple(axis.stride for axis in window), tuple(axis.dilation for axis in window)
    return {"strides": strides, "padding": sides_of(window), "dilation": dilation, "groups": op.groups.value.data}


def _left_over(op: _Convolution, sizes: Sequence[int], extents: Mapping[str, Dim]) -> list[int]:
    """How many elements of the padded data lie behind the last window, by axis; as many as may, if the run tells it."""
    left: list[int] = []
    for letter, axis in zip(op.AXES, op.window(sizes), strict=True):
        rest = of_any_size(axis).room(extents[letter]) % axis.stride
        left.append(rest if isinstance(rest, int) else axis.stride - 1)
    return left


def _known(op: _Convolution, extent: Dim, what: str) -> int:
    if isinstance(extent, int):
        return extent
    raise not_differentiable(op, f"the extent {extent} {what} is not known")


def _exchanged(layout: str) -> str:
    """The layout of the same weight where what was a channel of the data is one of the result."""
    return layout.translate(str.maketrans("OIoi", "IOio"))
