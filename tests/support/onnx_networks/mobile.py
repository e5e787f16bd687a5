"""Networks for mobile devices: depthwise convolutions between narrow layers, channel gates, shuffled channels."""

from __future__ import annotations

from collections.abc import Callable

from support.exported_graph import ExportedGraph
from support.onnx_networks.layers import convolution, logits_of_channels
from support.onnx_networks.network import IMAGE, Network, images

Activation = Callable[[str], str]


def mobilenet_v2(graph: ExportedGraph) -> list[str]:
    """Inverted residuals with ReLU6."""
    features = graph.relu6(convolution(graph, "image", 3, 8, 3, stride=2))
    features = _inverted_residual(graph, features, 8, 8, graph.relu6)
    features = _inverted_residual(graph, features, 8, 12, graph.relu6, stride=2)
    return logits_of_channels(graph, graph.relu6(convolution(graph, features, 12, 32)), 32)


def mobilenet_v3(graph: ExportedGraph) -> list[str]:
    """Inverted residuals with hard swish and channel gates."""
    features = graph.hard_swish(convolution(graph, "image", 3, 8, 3, stride=2))
    features = _inverted_residual(graph, features, 8, 8, graph.hard_swish, gate=_hard_gate(graph))
    features = _inverted_residual(graph, features, 8, 12, lambda data: graph.node("Relu", data), stride=2, kernel=5)
    return logits_of_channels(graph, graph.hard_swish(convolution(graph, features, 12, 32)), 32)


def efficientnet_b0(graph: ExportedGraph) -> list[str]:
    """Inverted residuals with swish, kernels of 3 and 5, and channel gates."""
    features = graph.silu(convolution(graph, "image", 3, 8, 3, stride=2))
    features = _inverted_residual(graph, features, 8, 8, graph.silu, gate=_soft_gate(graph))
    features = _inverted_residual(graph, features, 8, 12, graph.silu, stride=2, kernel=5, gate=_soft_gate(graph))
    return logits_of_channels(graph, graph.silu(convolution(graph, features, 12, 32)), 32)


def _inverted_residual(
    graph: ExportedGraph,
    data: str,
    inputs: int,
    outputs: int,
    activation: Activation,
    *,
    stride: int = 1,
    kernel: int = 3,
    gate: Callable[[str, int], str] | None = None,
) -> str:
    """A widening, a depthwise and a narrowing convolution; plus the input if the shapes are equal."""
    wide = 2 * inputs
    deep = activation(convolution(graph, data, inputs, wide))
    deep = activation(convolution(graph, deep, wide, wide, kernel, stride, group=wide))
    if gate is not None:
        deep = gate(deep, wide)
    narrow = convolution(graph, deep, wide, outputs)
    return narrow if stride > 1 or inputs != outputs else graph.node("Add", data, narrow)


def _hard_gate(graph: ExportedGraph) -> Callable[[str, int], str]:
    def gate(data: str, width: int) -> str:
        inner = graph.node("Relu", convolution(graph, graph.node("GlobalAveragePool", data), width, width // 2))
        bent = graph.node("HardSigmoid", convolution(graph, inner, width // 2, width), alpha=1 / 6)
        return graph.node("Mul", bent, data)

    return gate


def _soft_gate(graph: ExportedGraph) -> Callable[[str, int], str]:
    def gate(data: str, width: int) -> str:
        inner = graph.silu(convolution(graph, graph.mean(data, -1, -2), width, width // 2))
        return graph.node("Mul", graph.node("Sigmoid", convolution(graph, inner, width // 2, width)), data)

    return gate


def shufflenet_v2(graph: ExportedGraph) -> list[str]:
    """Two units that each process half of the channels and shuffle them."""
    features = graph.node("Relu", convolution(graph, "image", 3, 8, 3, stride=2))
    features = graph.node("MaxPool", features, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    left = convolution(graph, convolution(graph, features, 8, 8, 3, 2, group=8), 8, 8)
    features = _shuffled(graph, graph.node("Relu", left), _unit(graph, features, 8, 2), 16)
    kept, changed = graph.split(features, [8, 8], 1)
    features = _shuffled(graph, kept, _unit(graph, changed, 8, 1), 16)
    return logits_of_channels(graph, features, 16)


def _unit(graph: ExportedGraph, data: str, width: int, stride: int) -> str:
    deep = graph.node("Relu", convolution(graph, data, width, width))
    deep = convolution(graph, deep, width, width, 3, stride, group=width)
    return graph.node("Relu", convolution(graph, deep, width, width))


def _shuffled(graph: ExportedGraph, left: str, right: str, width: int) -> str:
    """Interleaves the channels of two halves by Reshape and Transpose with computed shapes."""
    whole = graph.node("Concat", left, right, axis=1)
    batch, rows, columns = (graph.extent(whole, axis) for axis in (0, 2, 3))
    apart = graph.reshape(whole, batch, 2, width // 2, rows, columns)
    return graph.reshape(graph.transpose(apart, 0, 2, 1, 3, 4), batch, width, rows, columns)


SIZES = images((2, 24, 24), (1, 33, 17))
MOBILE = [
    Network(build, {"image": IMAGE}, SIZES, opset)
    for build, opset in ((mobilenet_v2, 10), (mobilenet_v3, 14), (efficientnet_b0, 12), (shufflenet_v2, 11))
]
