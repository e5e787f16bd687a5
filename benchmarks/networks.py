"""Networks of the benchmarks, built node by node with random weights, so that nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

CLASSES = 1000
BLOCKS = (2, 2, 2, 2)
WIDTH = 64


class Network:
    """A builder of residual networks with random weights."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._rng = np.random.default_rng(0)

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node; returns the name of its output."""
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def weight(self, *shape: int) -> str:
        """Adds a random weight that keeps the variance of its operand."""
        return self.stored(self._rng.standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:]))))

    def stored(self, array: NDArray[Any]) -> str:
        """Adds an initializer."""
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def conv(self, data: str, inputs: int, outputs: int, size: int, stride: int, groups: int = 1) -> str:
        """Adds a convolution and its normalisation."""
        attributes = {"kernel_shape": [size] * 2, "strides": [stride] * 2, "pads": [size // 2] * 4, "group": groups}
        made = self.add("Conv", data, self.weight(outputs, inputs // groups, size, size), **attributes)
        ones, zeros = (self.stored(np.full(outputs, number)) for number in (1, 0))
        return self.add("BatchNormalization", made, ones, zeros, zeros, ones)

    def model(self, name: str, shape: Sequence[int | str], output: str) -> onnx.ModelProto:
        """Returns the network from the input `data` to an output."""
        data = helper.make_tensor_value_info("data", onnx.TensorProto.FLOAT, shape)
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

    low, high = net.stored(np.array(0.0)), net.stored(np.array(6.0))
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
