"""Networks whose layers concatenate the results of several branches, or of all earlier layers."""

from __future__ import annotations

from support.exported_graph import ExportedGraph
from support.onnx_networks.layers import convolution, logits_of_channels, normalised
from support.onnx_networks.network import IMAGE, Network, images


def densenet(graph: ExportedGraph) -> list[str]:
    """Two dense blocks of two layers, and the transition between them; a layer's input is all earlier results."""
    features = convolution(graph, "image", 3, 8, 3, stride=2)
    features, width = _dense_block(graph, features, 8)
    narrow = convolution(graph, graph.node("Relu", normalised(graph, features, width)), width, width // 2)
    pooled = graph.node("AveragePool", narrow, kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)
    features, width = _dense_block(graph, pooled, width // 2)
    return logits_of_channels(graph, graph.node("Relu", normalised(graph, features, width)), width)


def _dense_block(graph: ExportedGraph, data: str, width: int, growth: int = 4) -> tuple[str, int]:
    parts = [data]
    for _ in range(2):
        seen = graph.node("Concat", *parts, axis=1) if len(parts) > 1 else data
        inner = graph.node("Relu", normalised(graph, seen, width))
        inner = graph.node("Relu", convolution(graph, inner, width, 2 * growth))
        parts.append(convolution(graph, inner, 2 * growth, growth, 3))
        width += growth
    return graph.node("Concat", *parts, axis=1), width


def inception(graph: ExportedGraph) -> list[str]:
    """A block of four branches with row and column kernels, and a block that halves the image."""
    features = graph.node("Relu", convolution(graph, "image", 3, 8, 3, stride=2))
    features = _wide_block(graph, features, 8)
    return logits_of_channels(graph, _halving_block(graph, features, 16), 24)


def _bent(
    graph: ExportedGraph, data: str, inputs: int, outputs: int, kernel: int | tuple[int, int], step: int = 1
) -> str:
    return graph.node("Relu", convolution(graph, data, inputs, outputs, kernel, step))


def _wide_block(graph: ExportedGraph, data: str, width: int) -> str:
    single = _bent(graph, data, width, 4, 1)
    crossed = _bent(graph, _bent(graph, _bent(graph, data, width, 4, 1), 4, 4, (1, 7)), 4, 4, (7, 1))
    twice = _bent(graph, data, width, 4, 5)
    mean = graph.node("AveragePool", data, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4, count_include_pad=1)
    return graph.node("Concat", single, crossed, twice, _bent(graph, mean, width, 4, 1), axis=1)


def _halving_block(graph: ExportedGraph, data: str, width: int) -> str:
    strided = _bent(graph, data, width, 8, 3, 2)
    greatest = graph.node("MaxPool", data, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    return graph.node("Concat", strided, greatest, axis=1)


BRANCHES = [
    Network(densenet, {"image": IMAGE}, images((2, 24, 24), (1, 33, 17)), opset=9),
    Network(inception, {"image": IMAGE}, images((1, 24, 24), (2, 21, 34)), opset=11),
]
