"""Networks of the benchmarks, built node by node with random weights, so that nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

CLASSES = 1000
BLOCKS = (2, 2, 2, 2)
WIDTH = 64


class Network:
    """A builder of residual networks with random weights."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(0)

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node; returns the name of its output."""
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def weight(self, *shape: int) -> str:
        """Adds a random weight that keeps the variance of its operand."""
        values = self.random.standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:])))
        return self.stored(values.astype(np.float32))

    def bytes(self, *shape: int) -> str:
        """Adds a random int8 weight."""
        return self.stored(self.random.integers(-127, 128, shape).astype(np.int8))

    def stored(self, array: NDArray[Any] | np.generic) -> str:
        """Adds an initializer."""
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def conv(self, data: str, inputs: int, outputs: int, size: int, stride: int, groups: int = 1) -> str:
        """Adds a convolution and its normalisation."""
        attributes = {"kernel_shape": [size] * 2, "strides": [stride] * 2, "pads": [size // 2] * 4, "group": groups}
        made = self.add("Conv", data, self.weight(outputs, inputs // groups, size, size), **attributes)
        ones, zeros = (self.stored(np.full(outputs, number, np.float32)) for number in (1, 0))
        return self.add("BatchNormalization", made, ones, zeros, zeros, ones)

    def model(
        self, name: str, shape: Sequence[int | str], output: str, kind: int = TensorProto.FLOAT
    ) -> onnx.ModelProto:
        """Returns the network from the input `data` to an output."""
        data = helper.make_tensor_value_info("data", kind, shape)
        ends = [helper.make_empty_tensor_value_info(output)]
        graph = helper.make_graph(self.nodes, name, [data], ends, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def block(self, data: str, inputs: int, outputs: int, stride: int) -> str:
        """Adds two convolutions with a shortcut."""
        first = self.add("Relu", self.conv(data, inputs, outputs, 3, stride))
        second = self.conv(first, outputs, outputs, 3, 1)
        shortcut = data if inputs == outputs else self.conv(data, inputs, outputs, 1, stride)
        return self.add("Relu", self.add("Add", second, shortcut))


def resnet18(size: int) -> onnx.ModelProto:
    """Returns a ResNet-18 for images of `size` with a dynamic batch."""
    net = Network()
    data = net.add("Relu", net.conv("data", 3, WIDTH, 7, 2))
    data = net.add("MaxPool", data, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = WIDTH
    for stage, blocks in enumerate(BLOCKS):
        for number in range(blocks):
            data = net.block(data, inputs, WIDTH << stage, 2 if stage and not number else 1)
            inputs = WIDTH << stage
    pooled = net.add("Flatten", net.add("GlobalAveragePool", data))
    logits = net.add("Gemm", pooled, net.weight(CLASSES, inputs), net.weight(CLASSES), transB=1)
    return net.model("resnet18", ("batch", 3, size, size), logits)


MOBILE_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Expansion, channels, blocks and first stride of each stage (Sandler et al., MobileNetV2, 2018, table 2)."""


def mobilenetv2(size: int = 224) -> onnx.ModelProto:
    """Returns a MobileNetV2 for one image: 35 convolutions of 1x1, 17 depthwise ones."""
    net = Network()

    def clipped(data: str) -> str:
        return net.add("Clip", data, low, high)

    low, high = net.stored(np.float32(0)), net.stored(np.float32(6))
    data, inputs = clipped(net.conv("data", 3, 32, 3, 2)), 32
    for expansion, outputs, blocks, first_stride in MOBILE_STAGES:
        for number in range(blocks):
            stride, width = 1 if number else first_stride, inputs * expansion
            wide = data if expansion == 1 else clipped(net.conv(data, inputs, width, 1, 1))
            deep = clipped(net.conv(wide, width, width, 3, stride, groups=width))
            narrow = net.conv(deep, width, outputs, 1, 1)
            data = net.add("Add", data, narrow) if stride == 1 and inputs == outputs else narrow
            inputs = outputs
    data = clipped(net.conv(data, inputs, 1280, 1, 1))
    pooled = net.add("Flatten", net.add("GlobalAveragePool", data))
    logits = net.add("Gemm", pooled, net.weight(CLASSES, 1280), net.weight(CLASSES), transB=1)
    return net.model("mobilenetv2", (1, 3, size, size), logits)


def chain(kernels: int) -> onnx.ModelProto:
    """Returns a chain of dense layers, each of a different size and followed by an activation: one kernel each."""
    net = Network()
    data, inputs = "data", 8
    for number in range(kernels):
        outputs = 8 + (number * 7) % 509
        data = net.add("Relu", net.add("Gemm", data, net.weight(outputs, inputs), net.weight(outputs), transB=1))
        inputs = outputs
    return net.model(f"chain{kernels}", (1, 8), data)


def qlinear_conv(net: Network, x: str, shape: tuple[int, int], kernel: int, groups: int = 1) -> str:
    """Adds a convolution of uint8 by int8 with a scale for each filter."""
    channels, filters = shape
    scale, zero = net.stored(np.float32(0.05)), net.stored(np.uint8(100))
    weight = net.bytes(filters, channels // groups, kernel, kernel)
    scales, zeros = net.stored(np.full(filters, 0.004, np.float32)), net.stored(np.zeros(filters, np.int8))
    bias = net.stored(np.arange(filters, dtype=np.int32))
    operands = (x, scale, zero, weight, scales, zeros, scale, zero, bias)
    return net.add("QLinearConv", *operands, pads=[kernel // 2] * 4, group=groups)


def convolutions(data: Sequence[int], layers: Sequence[tuple[tuple[int, int], int, int]]) -> onnx.ModelProto:
    """Returns consecutive QLinearConv nodes; a layer is its channels in and out, kernel and groups."""
    net, x = Network(), "data"
    for shape, kernel, groups in layers:
        x = qlinear_conv(net, x, shape, kernel, groups)
    return net.model("case", data, x, TensorProto.UINT8)


def qlinear_matmul(rows: int, depth: int, units: int) -> onnx.ModelProto:
    """Returns a product of uint8 by int8, requantised."""
    net = Network()
    scale, zero, none = net.stored(np.float32(0.02)), net.stored(np.uint8(128)), net.stored(np.int8(0))
    weight = net.bytes(depth, units)
    y = net.add("QLinearMatMul", "data", scale, zero, weight, scale, none, scale, zero)
    return net.model("case", (rows, depth), y, TensorProto.UINT8)


def dynamic_matmul(rows: int, depth: int, units: int) -> onnx.ModelProto:
    """Returns a product of dynamically quantised floats by int8, in the form of dynamically quantised transformers."""
    net = Network()
    net.nodes.append(helper.make_node("DynamicQuantizeLinear", ["data"], ["q", "s", "z"]))
    weight, none = net.bytes(depth, units), net.stored(np.int8(0))
    total = net.add("Cast", net.add("MatMulInteger", "q", weight, "z", none), to=TensorProto.FLOAT)
    y = net.add("Mul", total, net.add("Mul", "s", net.stored(np.float32(0.01))))
    return net.model("case", (rows, depth), y)


def between_steps(layers: int, channels: int, size: int) -> onnx.ModelProto:
    """Returns float convolutions, each between DequantizeLinear and QuantizeLinear."""
    net = Network()
    step, zero = net.stored(np.float32(0.05)), net.stored(np.uint8(0))
    x = net.add("QuantizeLinear", "data", step, zero)
    for _ in range(layers):
        weight = net.bytes(channels, channels, 3, 3)
        scales = net.stored(np.full(channels, 0.0005, np.float32)), net.stored(np.zeros(channels, np.int8))
        filters = net.add("DequantizeLinear", weight, *scales, axis=0)
        y = net.add("Conv", net.add("DequantizeLinear", x, step, zero), filters, pads=[1] * 4)
        x = net.add("QuantizeLinear", net.add("Relu", y), step, zero)
    y = net.add("DequantizeLinear", x, step, zero)
    return net.model("case", (1, channels, size, size), y)
