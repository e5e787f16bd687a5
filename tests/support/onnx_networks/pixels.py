"""Networks whose result is an image, with each way of upsampling."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from support.exported_graph import ExportedGraph
from support.onnx_networks.layers import convolution, normalised
from support.onnx_networks.network import IMAGE, Input, Network, images


def unet(graph: ExportedGraph) -> list[str]:
    """Two halvings and two doublings, one by ConvTranspose and Pad, one by Resize, of images of any size."""
    first = graph.node("Relu", convolution(graph, "image", 3, 8, 3))
    second = graph.node("Relu", convolution(graph, _halved(graph, first), 8, 16, 3))
    third = graph.node("Relu", convolution(graph, _halved(graph, second), 16, 16, 3))
    risen = _padded_to(graph, _doubled(graph, third, 16, 16), second)
    joined = graph.node("Relu", convolution(graph, graph.node("Concat", second, risen, axis=1), 32, 8, 3))
    joined = graph.node("Concat", first, _resized_to(graph, joined, first), axis=1)
    return [graph.named("mask", graph.node("Sigmoid", convolution(graph, joined, 16, 1)))]


def _halved(graph: ExportedGraph, data: str) -> str:
    return graph.node("MaxPool", data, kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)


def _doubled(graph: ExportedGraph, data: str, inputs: int, outputs: int) -> str:
    weights = graph.weight(inputs, outputs, 2, 2, scale=0.2), graph.weight(outputs)
    return graph.node("ConvTranspose", data, *weights, kernel_shape=[2, 2], strides=[2, 2], pads=[0] * 4)


def _padded_to(graph: ExportedGraph, data: str, other: str) -> str:
    """Pads an image with zeros to the size of another."""
    pads: list[str] = []
    for axis in (3, 2):
        missing = graph.node("Sub", graph.extent(other, axis), graph.extent(data, axis))
        before = graph.node("Div", missing, graph.constant(2, np.int64))
        pads += [before, graph.node("Sub", missing, before)]
    return graph.pad(data, *pads)


def _resized_to(graph: ExportedGraph, data: str, other: str) -> str:
    kept = graph.slice(graph.node("Shape", data), 0, 2, 0)
    asked = graph.node("Cast", graph.shape(graph.extent(other, 2), graph.extent(other, 3)), to=TensorProto.INT64)
    sizes = graph.node("Concat", kept, asked, axis=0)
    linear = {"mode": "linear", "coordinate_transformation_mode": "half_pixel", "nearest_mode": "floor"}
    return graph.node("Resize", data, "", "", sizes, cubic_coeff_a=-0.75, **linear)


def super_resolution(graph: ExportedGraph) -> list[str]:
    """Three times as many pixels, from channels, plus a cubic interpolation."""
    features = graph.node("Tanh", convolution(graph, "image", 1, 8, 5))
    features = graph.node("Tanh", convolution(graph, features, 8, 8, 3))
    shuffled = _pixel_shuffled(graph, convolution(graph, features, 8, 9, 3), 1, 3)
    scales = graph.constant([1, 1, 3, 3])
    cubic = {"mode": "cubic", "coordinate_transformation_mode": "half_pixel", "cubic_coeff_a": -0.75}
    larger = graph.node("Resize", "image", "", scales, nearest_mode="floor", **cubic)
    return [graph.named("larger", graph.node("Add", shuffled, larger))]


def _pixel_shuffled(graph: ExportedGraph, data: str, width: int, times: int) -> str:
    """PixelShuffle as exporters write it without the op."""
    batch, rows, columns = (graph.extent(data, axis) for axis in (0, 2, 3))
    apart = graph.reshape(data, batch, width, times, times, rows, columns)
    moved = graph.transpose(apart, 0, 1, 4, 2, 5, 3)
    factor = graph.constant(times, np.int64)
    return graph.reshape(moved, batch, width, *(graph.node("Mul", extent, factor) for extent in (rows, columns)))


def super_resolution_by_depth(graph: ExportedGraph) -> list[str]:
    """Twice as many pixels by DepthToSpace."""
    features = graph.node("Relu", convolution(graph, "image", 1, 8, 3))
    features = convolution(graph, features, 8, 8, 3)
    return [graph.named("larger", graph.node("DepthToSpace", features, blocksize=2, mode="CRD"))]


def gan_generator(graph: ExportedGraph) -> list[str]:
    """An image from noise, by transposed convolutions and normalizations."""
    features = _risen(graph, "noise", 8, 16, stride=1, pad=0)
    features = _risen(graph, features, 16, 8, stride=2, pad=1)
    weight = graph.weight(8, 3, 4, 4, scale=0.2)
    image = graph.node("ConvTranspose", features, weight, kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4)
    return [graph.named("made", graph.node("Tanh", image))]


def _risen(graph: ExportedGraph, data: str, inputs: int, outputs: int, stride: int, pad: int) -> str:
    weight = graph.weight(inputs, outputs, 4, 4, scale=0.2)
    larger = graph.node("ConvTranspose", data, weight, kernel_shape=[4, 4], strides=[stride] * 2, pads=[pad] * 4)
    return graph.node("Relu", normalised(graph, larger, outputs))


GREY = Input(("batch", 1, "height", "width"))
PIXELS = [
    Network(unet, {"image": IMAGE}, images((1, 16, 16), (2, 19, 26)), opset=13),
    Network(super_resolution, {"image": GREY}, images((1, 8, 8), (2, 5, 11)), opset=13),
    Network(super_resolution_by_depth, {"image": GREY}, images((2, 8, 8), (1, 5, 11)), opset=13),
    Network(gan_generator, {"noise": Input(("batch", 8, 1, 1))}, [{"batch": 2}, {"batch": 5}], opset=9),
]
