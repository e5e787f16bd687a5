"""Gradients of transposed convolutions, and of the gradients of convolutions in their weights."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.gradients.convolution import exchanged, gradient_of_data, known_extents, window_attributes
from xrelay.dialects.relay.ops.nn_conv_grad import WEIGHT_GRADIENTS, ConvBackwardWeightOp
from xrelay.dialects.relay.ops.nn_conv_transpose import Conv2DTransposeOp, Conv3DTransposeOp, ConvTransposeOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(*WEIGHT_GRADIENTS)
def backward_weight(op: ConvBackwardWeightOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """The op is linear in both operands: the gradients are those of the convolution with `gradient` as weight."""
    gradient = emit.cast_like(gradient, op.data)
    grad, data, weight = op.layouts
    window, groups = op.window(op.sizes), op.groups.value.data
    of_grad = emit.op(
        f"nn.conv{len(op.AXES)}d",
        op.data,
        gradient,
        **window_attributes(window, groups),
        data_layout=str(data),
        kernel_layout=str(weight),
        out_layout=str(grad),
    )
    of_data = gradient_of_data(emit, (op.data, data), (op.grad, grad), (gradient, weight), op.AXES, window, groups)
    return [of_grad, of_data]


@differentiates(Conv2DTransposeOp, Conv3DTransposeOp)
def transposed_convolution(op: ConvTransposeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """A convolution of the gradient, and the gradient of its weight, with gradient and data exchanged."""
    gradient = emit.cast_like(gradient, op.data)
    data, weight, out = op.layouts
    sizes = known_extents(op, weight.primal_extents(emit.shape(op.weight)), op.AXES)
    window = op.window(sizes)
    if any(more >= axis.stride for more, axis in zip(op.extra, window, strict=True)):
        raise not_differentiable(op, "its output_padding is not less than its strides")
    attributes = window_attributes(window, op.groups.value.data)
    of_data = emit.op(
        f"nn.conv{len(op.AXES)}d",
        gradient,
        op.weight,
        **attributes,
        data_layout=str(out),
        kernel_layout=exchanged(weight),
        out_layout=str(data),
    )
    of_weight = emit.op(
        f"nn.conv{len(op.AXES)}d_backward_weight",
        op.data,
        gradient,
        **attributes,
        kernel_size=sizes,
        grad_layout=str(data),
        data_layout=str(out),
        kernel_layout=exchanged(weight),
    )
    return [of_data, of_weight]
