"""Networks that process an image as a sequence of patches, and the related ConvNeXt."""

from __future__ import annotations

import numpy as np

from support.exported_graph import ExportedGraph
from support.onnx_networks.attention import joined
from support.onnx_networks.layers import CLASSES
from support.onnx_networks.network import IMAGE, Input, Network, images

WIDTH, HEADS = 16, 2
HEAD = WIDTH // HEADS


def vit(graph: ExportedGraph) -> list[str]:
    """A vision transformer of two layers on an image of 16 patches and a class token."""
    tokens = _patches(graph, WIDTH, 8)
    first = graph.expand(graph.weight(1, 1, WIDTH, scale=1.0), graph.extent(tokens, 0), -1, -1)
    tokens = graph.node("Concat", first, tokens, axis=1)
    hidden = graph.node("Add", tokens, graph.weight(1, 17, WIDTH, scale=1.0))
    for _ in range(2):
        attended = _vit_attention(graph, graph.layer_norm(hidden, WIDTH, 1e-6))
        hidden = graph.node("Add", hidden, graph.linear(attended, WIDTH, WIDTH))
        hidden = graph.node("Add", hidden, _perceptron(graph, graph.layer_norm(hidden, WIDTH, 1e-6), WIDTH, 2 * WIDTH))
    token = graph.node("Gather", graph.layer_norm(hidden, WIDTH, 1e-6), graph.constant(0, np.int64), axis=1)
    return _logits(graph, token, WIDTH)


def _patches(graph: ExportedGraph, width: int, size: int) -> str:
    """The patches of an image: batch, patch, feature."""
    patches = _down(graph, "image", 3, width, size)
    rows = graph.reshape(patches, graph.extent(patches, 0), width, -1)
    return graph.transpose(rows, 0, 2, 1)


def _down(graph: ExportedGraph, image: str, inputs: int, outputs: int, step: int) -> str:
    """A convolution with square kernels that do not overlap."""
    weights = graph.weight(outputs, inputs, step, step, scale=0.1), graph.weight(outputs)
    return graph.node("Conv", image, *weights, kernel_shape=[step] * 2, strides=[step] * 2)


def _perceptron(graph: ExportedGraph, hidden: str, width: int, inner: int) -> str:
    return graph.linear(graph.gelu(graph.linear(hidden, width, inner)), inner, width)


def _logits(graph: ExportedGraph, features: str, width: int) -> list[str]:
    made = graph.node("Gemm", features, graph.weight(CLASSES, width), graph.weight(CLASSES), transB=1)
    return [graph.named("logits", made)]


def _vit_attention(graph: ExportedGraph, hidden: str) -> str:
    """Attention whose query, key and value come from one product, with an axis of extent 3 between them."""
    extents = graph.extent(hidden, 0), graph.extent(hidden, 1)
    product = graph.reshape(graph.linear(hidden, WIDTH, 3 * WIDTH), *extents, 3, HEADS, HEAD)
    product = graph.transpose(product, 2, 0, 3, 1, 4)
    query, key, values = (graph.node("Gather", product, graph.constant(i, np.int64), axis=0) for i in range(3))
    return joined(graph, graph.attention(query, key, values, HEAD), WIDTH)


def mlp_mixer(graph: ExportedGraph) -> list[str]:
    """Two layers that mix patches, then features."""
    hidden = _patches(graph, WIDTH, 8)
    for _ in range(2):
        across = graph.transpose(graph.layer_norm(hidden, WIDTH, 1e-6), 0, 2, 1)
        hidden = graph.node("Add", hidden, graph.transpose(_perceptron(graph, across, 16, 8), 0, 2, 1))
        hidden = graph.node("Add", hidden, _perceptron(graph, graph.layer_norm(hidden, WIDTH, 1e-6), WIDTH, 2 * WIDTH))
    return _logits(graph, graph.mean(graph.layer_norm(hidden, WIDTH, 1e-6), 1, keepdims=0), WIDTH)


def convnext(graph: ExportedGraph) -> list[str]:
    """Two stages of one block each."""
    features = graph.layer_norm_of_channels(_down(graph, "image", 3, 8, 4), 8)
    features = graph.layer_norm_of_channels(_convnext_block(graph, features, 8), 8)
    features = _convnext_block(graph, _down(graph, features, 8, 16, 2), 16)
    pooled = graph.layer_norm(graph.mean(features, -2, -1, keepdims=0), 16, 1e-6)
    return _logits(graph, pooled, 16)


def _convnext_block(graph: ExportedGraph, features: str, width: int) -> str:
    """A depthwise convolution, two products per pixel in channels-last form, the layer scale, the residual sum."""
    weights = graph.weight(width, 1, 7, 7, scale=0.1), graph.weight(width)
    deep = graph.node("Conv", features, *weights, group=width, kernel_shape=[7, 7], pads=[3] * 4)
    last = graph.layer_norm(graph.transpose(deep, 0, 2, 3, 1), width, 1e-6)
    scaled = graph.node("Mul", graph.weight(width, scale=1.0), _perceptron(graph, last, width, 2 * width))
    return graph.node("Add", features, graph.transpose(scaled, 0, 3, 1, 2))


def swin(graph: ExportedGraph) -> list[str]:
    """Attention in windows of 4 by 4, then in shifted windows, and merged patches, of an image of 8 by 8 patches."""
    features = graph.transpose(_down(graph, "image", 3, WIDTH, 4), 0, 2, 3, 1)
    hidden = graph.layer_norm(features, WIDTH)
    for shift in (0, 2):
        attended = _window_attention(graph, graph.layer_norm(hidden, WIDTH), shift)
        hidden = graph.node("Add", hidden, attended)
        hidden = graph.node("Add", hidden, _perceptron(graph, graph.layer_norm(hidden, WIDTH), WIDTH, 2 * WIDTH))
    merged = _merged(graph, hidden)
    return _logits(graph, graph.mean(graph.layer_norm(merged, 2 * WIDTH), 1, 2, keepdims=0), 2 * WIDTH)


SIDE, WINDOW = 8, 4


def _window_attention(graph: ExportedGraph, hidden: str, shift: int) -> str:
    """Attention within each window with a bias of relative positions; a mask separates parts that the shift joins."""
    batch, side = graph.extent(hidden, 0), SIDE // WINDOW
    rolled = _rolled(graph, hidden, -shift)
    windows = graph.transpose(graph.reshape(rolled, batch, side, WINDOW, side, WINDOW, WIDTH), 0, 1, 3, 2, 4, 5)
    rows = graph.reshape(windows, -1, WINDOW * WINDOW, WIDTH)
    product = graph.reshape(graph.linear(rows, WIDTH, 3 * WIDTH), -1, WINDOW * WINDOW, 3, HEADS, HEAD)
    product = graph.transpose(product, 2, 0, 3, 1, 4)
    query, key, values = (graph.node("Gather", product, graph.constant(i, np.int64), axis=0) for i in range(3))
    query = graph.node("Mul", query, graph.constant(HEAD**-0.5))
    scores = graph.node("MatMul", query, graph.transpose(key, 0, 1, 3, 2))
    scores = graph.node("Add", scores, _relative_bias(graph))
    if shift:
        scores = _masked(graph, scores, shift, side * side)
    attended = joined(graph, graph.node("MatMul", graph.node("Softmax", scores, axis=-1), values), WIDTH)
    linear = graph.linear(attended, WIDTH, WIDTH)
    back = graph.reshape(linear, batch, side, side, WINDOW, WINDOW, WIDTH)
    return _rolled(graph, graph.reshape(graph.transpose(back, 0, 1, 3, 2, 4, 5), batch, SIDE, SIDE, WIDTH), shift)


def _rolled(graph: ExportedGraph, data: str, shift: int) -> str:
    """torch's `roll` along both axes of the image: two slices in reverse order."""
    for axis in (1, 2) if shift else ():
        tail = graph.slice(data, -shift, np.iinfo(np.int64).max, axis)
        data = graph.node("Concat", tail, graph.slice(data, 0, -shift, axis), axis=axis)
    return data


def _relative_bias(graph: ExportedGraph) -> str:
    """One bias for each head and each difference of positions in a window."""
    places = np.stack(np.meshgrid(np.arange(WINDOW), np.arange(WINDOW), indexing="ij")).reshape(2, -1)
    rows, columns = places[:, :, None] - places[:, None, :] + WINDOW - 1
    table = graph.weight((2 * WINDOW - 1) ** 2, HEADS, scale=0.5)
    taken = graph.node("Gather", table, graph.stored((rows * (2 * WINDOW - 1) + columns).reshape(-1)), axis=0)
    square = graph.reshape(taken, WINDOW * WINDOW, WINDOW * WINDOW, -1)
    return graph.unsqueeze(graph.transpose(square, 2, 0, 1), 0)


def _masked(graph: ExportedGraph, scores: str, shift: int, windows: int) -> str:
    """Adds -100 between positions that were not neighbours before the image was rolled."""
    region = np.zeros(SIDE, np.int64)
    region[-WINDOW:-shift], region[-shift:] = 1, 2
    square = (3 * region[:, None] + region).reshape(2, WINDOW, 2, WINDOW).transpose(0, 2, 1, 3).reshape(windows, -1)
    away = np.where(square[:, :, None] != square[:, None, :], np.float32(-100), np.float32(0))
    area = WINDOW * WINDOW
    apart = graph.reshape(scores, -1, windows, HEADS, area, area)
    masked = graph.node("Add", apart, graph.stored(away[None, :, None]))
    return graph.reshape(masked, -1, HEADS, area, area)


def _merged(graph: ExportedGraph, hidden: str) -> str:
    """Merges four neighbouring patches into one of twice the width."""
    greatest = np.iinfo(np.int64).max
    corners: list[str] = []
    for row, column in ((0, 0), (1, 0), (0, 1), (1, 1)):
        rows = graph.slice(hidden, row, greatest, 1, step=2)
        corners.append(graph.slice(rows, column, greatest, 2, step=2))
    whole = graph.layer_norm(graph.node("Concat", *corners, axis=-1), 4 * WIDTH)
    return graph.node("MatMul", whole, graph.weight(4 * WIDTH, 2 * WIDTH))


SQUARE = {"image": Input(("batch", 3, 32, 32))}
BATCHES = [{"batch": 2}, {"batch": 5}]
VISION_TRANSFORMERS = [
    Network(vit, SQUARE, BATCHES, opset=14),
    Network(mlp_mixer, SQUARE, BATCHES, opset=13),
    Network(swin, SQUARE, BATCHES, opset=17),
    Network(convnext, {"image": IMAGE}, images((2, 32, 32), (1, 33, 48)), opset=12),
]
