"""Celu, Elu, LeakyRelu, PRelu, Selu, Shrink and ThresholdedRelu."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts, element_type_of, rounded_once
from xrelay.frontend.onnx.converters.shared.activations import converts_activation
from xrelay.index_algebra.dims import product

for _op_type in ("Celu", "Elu", "LeakyRelu", "Selu"):
    converts_activation(_op_type)


@converts("ThresholdedRelu", since=10, attributes=("alpha",))
def convert_thresholded_relu(node: NodeView) -> SSAValue:
    """`nn.thresholded_relu`."""
    return node.emit("nn.thresholded_relu", node.input(0), theta=node.attribute_float("alpha", 1.0))


@converts("PRelu", until=6, attributes=("consumed_inputs",))
def convert_prelu_of_channels(node: NodeView) -> SSAValue:
    """`nn.prelu` with one slope per channel, or one slope for all."""
    if product(node.shape(1)) == 1:
        return _prelu(node, node.emit("reshape", node.input(1), newshape=()))
    return node.emit("nn.prelu", node.input(0), node.input(1), axis=1)


@converts("PRelu", since=7)
def convert_prelu(node: NodeView) -> SSAValue:
    """`nn.prelu` if the slope of floats varies along one axis; else its definition by other ops."""
    slope, data = node.shape(1), node.shape(0)
    if len(slope) > len(data):
        raise node.error(f"the slope has rank {len(slope)}, the data {len(data)}; a slope that broadcasts is expected")
    long = [axis for axis in range(-len(slope), 0) if slope[axis] != 1]
    if len(long) == 1 and slope[long[0]] == data[long[0]] and isinstance(node.element_type(0), AnyFloat):
        return node.emit("nn.prelu", node.input(0), node.emit("reshape", node.input(1), newshape=(-1,)), axis=long[0])
    return _prelu(node, node.input(1))


def _prelu(node: NodeView, slope: SSAValue) -> SSAValue:
    """`x * slope` where x is negative, else x, so that an infinite slope does not affect other elements."""
    x = node.input(0)
    return node.emit("where", node.emit("less", x, node.scalar(0, x)), node.emit("multiply", x, slope), x)


@converts("Shrink", since=9, attributes=("bias", "lambd"), limits="floats")
@rounded_once
def convert_shrink(node: NodeView, x: SSAValue) -> SSAValue:
    """X + bias below -lambd, x - bias above lambd, 0 otherwise."""
    if not isinstance(element_type_of(x.type), AnyFloat):
        raise node.error(f"the element type must be a float, found {element_type_of(x.type)}")
    bias, bound = node.attribute_float("bias", 0.0), node.attribute_float("lambd", 0.5)
    above = node.emit("greater", x, node.scalar(bound, x))
    inner = node.emit("where", above, node.emit("subtract", x, node.scalar(bias, x)), node.scalar(0.0, x))
    below = node.emit("less", x, node.scalar(-bound, x))
    return node.emit("where", below, node.emit("add", x, node.scalar(bias, x)), inner)
