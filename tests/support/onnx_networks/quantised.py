"""Networks of 8-bit integers: QuantizeLinear and DequantizeLinear around float ops, and integer ops."""

from __future__ import annotations

import numpy as np

from support.exported_graph import ExportedGraph
from support.onnx_networks.network import IMAGE, Array, Network, images

SEED = 5


def quantised_pairs(graph: ExportedGraph) -> list[str]:
    """Two convolutions with a residual connection and a product, between values that are quantised and dequantised."""
    rng = np.random.default_rng(SEED)
    data = _rounded(graph, "image", 0.03, 120)
    first = graph.node("Relu", _convolution(graph, rng, data, 3, 8, 2))
    first = _rounded(graph, first, 0.02, 0)
    second = _rounded(graph, _convolution(graph, rng, first, 8, 8, 1), 0.04, 128)
    summed = _rounded(graph, graph.node("Relu", graph.node("Add", second, first)), 0.03, 0)
    pooled = _rounded(graph, graph.node("Flatten", graph.node("GlobalAveragePool", summed)), 0.02, 0)
    weight = _stored_weight(graph, rng, (10, 8), 0)
    return [graph.named("logits", graph.node("Gemm", pooled, weight, graph.weight(10), transB=1))]


def _rounded(graph: ExportedGraph, data: str, scale: float, zero: int) -> str:
    """Quantises a value to 8 bits and dequantises it."""
    parameters = graph.stored(np.array(scale, np.float32)), graph.stored(np.array(zero, np.uint8))
    return graph.node("DequantizeLinear", graph.node("QuantizeLinear", data, *parameters), *parameters)


def _stored_weight(graph: ExportedGraph, rng: np.random.Generator, shape: tuple[int, ...], axis: int) -> str:
    """Integers with a scale for each index of an axis."""
    scales = graph.stored(rng.uniform(0.003, 0.006, shape[axis]).astype(np.float32))
    zeros = graph.stored(np.zeros(shape[axis], np.int8))
    integers = graph.stored(rng.integers(-127, 128, shape).astype(np.int8))
    return graph.node("DequantizeLinear", integers, scales, zeros, axis=axis)


def _convolution(
    graph: ExportedGraph, rng: np.random.Generator, data: str, inputs: int, outputs: int, stride: int
) -> str:
    weight = _stored_weight(graph, rng, (outputs, inputs, 3, 3), 0)
    scale, zero = graph.stored(np.array(0.0001, np.float32)), graph.stored(np.array(0, np.int32))
    bias = graph.node("DequantizeLinear", graph.stored(rng.integers(-999, 999, outputs).astype(np.int32)), scale, zero)
    return graph.node("Conv", data, weight, bias, kernel_shape=[3, 3], pads=[1] * 4, strides=[stride] * 2)


def quantised_ops(graph: ExportedGraph) -> list[str]:
    """Two integer convolutions and an integer product, between one QuantizeLinear and one DequantizeLinear.

    Weights have 7 bits: without VNNI onnxruntime adds two products of bytes in 16 bits, which would saturate for 8
    bits.
    """
    rng = np.random.default_rng(SEED)
    whole = _parameters(graph, 0.03, 120)
    data = graph.node("QuantizeLinear", "image", *whole)
    first, after = _integer_convolution(graph, rng, data, whole, 3, 8), _parameters(graph, 0.02, 3)
    first = graph.node("QLinearConv", *first, *after, graph.stored(_biases(rng, 8)), **_window(2))
    second, last = _integer_convolution(graph, rng, first, after, 8, 8), _parameters(graph, 0.05, 128)
    second = graph.node("QLinearConv", *second, *last, graph.stored(_biases(rng, 8)), **_window(1))
    rows = graph.reshape(graph.transpose(second, 0, 2, 3, 1), graph.extent(second, 0), -1, 8)
    weight = graph.stored(rng.integers(-63, 64, (8, 10)).astype(np.int8))
    scales = graph.stored(np.array(0.004, np.float32)), graph.stored(np.array(0, np.int8))
    product = graph.node("QLinearMatMul", rows, *last, weight, *scales, *_parameters(graph, 0.06, 127))
    return [graph.named("logits", graph.node("DequantizeLinear", product, *_parameters(graph, 0.06, 127)))]


def _parameters(graph: ExportedGraph, scale: float, zero: int) -> tuple[str, str]:
    return graph.stored(np.array(scale, np.float32)), graph.stored(np.array(zero, np.uint8))


def _integer_convolution(
    graph: ExportedGraph,
    rng: np.random.Generator,
    data: str,
    parameters: tuple[str, str],
    inputs: int,
    outputs: int,
) -> tuple[str, ...]:
    """The first operands: data and weight, each with scale and zero point."""
    weight = graph.stored(rng.integers(-63, 64, (outputs, inputs, 3, 3)).astype(np.int8))
    scales = graph.stored(rng.uniform(0.003, 0.006, outputs).astype(np.float32))
    return data, *parameters, weight, scales, graph.stored(np.zeros(outputs, np.int8))


def _biases(rng: np.random.Generator, count: int) -> Array:
    return rng.integers(-999, 999, count).astype(np.int32)


def _window(stride: int) -> dict[str, list[int]]:
    return {"kernel_shape": [3, 3], "pads": [1] * 4, "strides": [stride] * 2}


QUANTISED = [
    Network(build, {"image": IMAGE}, images((2, 12, 12), (1, 15, 8)), opset=13)
    for build in (quantised_pairs, quantised_ops)
]
