"""Layers that several convolutional networks share."""

from __future__ import annotations

import numpy as np

from support.exported_graph import ExportedGraph

CLASSES = 10


def convolution(
    graph: ExportedGraph,
    data: str,
    inputs: int,
    outputs: int,
    kernel: int | tuple[int, int] = 1,
    stride: int = 1,
    group: int = 1,
) -> str:
    """A convolution with a bias that preserves the image size at stride 1."""
    rows, columns = (kernel, kernel) if isinstance(kernel, int) else kernel
    scale = float(np.sqrt(2 * group / (inputs * rows * columns)))
    weight = graph.weight(outputs, inputs // group, rows, columns, scale=scale)
    return graph.node(
        "Conv",
        data,
        weight,
        graph.weight(outputs),
        dilations=[1, 1],
        group=group,
        kernel_shape=[rows, columns],
        pads=[rows // 2, columns // 2] * 2,
        strides=[stride, stride],
    )


def normalised(graph: ExportedGraph, data: str, width: int) -> str:
    """A batch normalization that follows no convolution; exporters fold the others."""
    variance = graph.stored(np.linspace(0.5, 1.5, width, dtype=np.float32))
    scale, bias, mean = graph.weight(width, shift=1.0), graph.weight(width), graph.weight(width)
    return graph.node("BatchNormalization", data, scale, bias, mean, variance, epsilon=1e-5, momentum=0.9)


def logits_of_channels(graph: ExportedGraph, data: str, width: int) -> list[str]:
    """The mean of each channel, and a product."""
    pooled = graph.node("Flatten", graph.node("GlobalAveragePool", data), axis=1)
    weight = graph.weight(CLASSES, width, scale=float(1 / np.sqrt(width)))
    return [graph.named("logits", graph.node("Gemm", pooled, weight, graph.weight(CLASSES), transB=1))]
