"""MobileNet v2 for images of 224 × 224. Source: Sandler et al., MobileNetV2, 2018 (arXiv:1801.04381), table 2."""

from __future__ import annotations

import onnx

from networks.graph import NetworkGraph

STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""The widening factor, the number of channels, the number of blocks, and the stride of the first block."""


def mobilenet_v2(batch: int | str = 1) -> onnx.ModelProto:
    """MobileNet v2 with its batch normalization folded into the convolutions."""
    graph = NetworkGraph()
    data, width = _relu6(graph, _convolution(graph, "image", 3, 32, 3, 2)), 32
    for factor, channels, count, stride in STAGES:
        for index in range(count):
            data = _block(graph, data, width, channels, factor, stride if index == 0 else 1)
            width = channels
    pooled = graph.node("GlobalAveragePool", _relu6(graph, _convolution(graph, data, width, 1280)))
    flat = graph.node("Flatten", pooled)
    logits = graph.node("Gemm", flat, graph.weight(1280, 1000), graph.weight(1000))
    return graph.model({"image": ("float32", (batch, 3, 224, 224))}, {"logits": logits})


def _block(graph: NetworkGraph, data: str, width: int, channels: int, factor: int, stride: int) -> str:
    """A widening, a depthwise and a narrowing convolution; plus the input if the shapes are equal."""
    wide = data if factor == 1 else _relu6(graph, _convolution(graph, data, width, factor * width))
    deep = _relu6(graph, _convolution(graph, wide, factor * width, factor * width, 3, stride, factor * width))
    narrow = _convolution(graph, deep, factor * width, channels)
    return graph.node("Add", data, narrow) if stride == 1 and width == channels else narrow


def _convolution(
    graph: NetworkGraph, data: str, inputs: int, outputs: int, size: int = 1, stride: int = 1, group: int = 1
) -> str:
    terms = inputs // group * size * size
    kernel = graph.weight(outputs, inputs // group, size, size, deviation=(2 / terms) ** 0.5)
    steps, pads = [stride, stride], [size // 2] * 4
    return graph.node("Conv", data, kernel, graph.weight(outputs), strides=steps, pads=pads, group=group)


def _relu6(graph: NetworkGraph, data: str) -> str:
    return graph.node("Clip", data, graph.constant(0.0), graph.constant(6.0))
