"""Audio networks: a spectrum encoder, a chain of dilated convolutions, and recurrent networks."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper

from support.exported_graph import ExportedGraph
from support.onnx_networks.attention import heads, joined
from support.onnx_networks.network import Input, Network, sequences, words

WIDTH, HEADS, BANDS = 16, 2, 8
HEAD = WIDTH // HEADS


def whisper_encoder(graph: ExportedGraph) -> list[str]:
    """Two convolutions of a spectrum over time, the second with stride 2, and one layer of attention."""
    features = graph.gelu(_convolution(graph, "spectrum", BANDS, WIDTH, 3, padding=1))
    features = graph.gelu(_convolution(graph, features, WIDTH, WIDTH, 3, padding=1, stride=2))
    hidden = graph.transpose(features, 0, 2, 1)
    places = graph.slice(graph.weight(32, WIDTH, scale=1.0), 0, graph.extent(hidden, 1), 0)
    hidden = graph.node("Add", hidden, places)
    normal = graph.layer_norm(hidden, WIDTH)
    query = graph.node("Mul", graph.linear(normal, WIDTH, WIDTH), graph.constant(HEAD**-0.5))
    key = graph.node("MatMul", normal, graph.weight(WIDTH, WIDTH))
    query, key, values = (heads(graph, each, HEADS, HEAD) for each in (query, key, graph.linear(normal, WIDTH, WIDTH)))
    scores = graph.node("Softmax", graph.node("MatMul", query, graph.transpose(key, 0, 1, 3, 2)), axis=-1)
    attended = joined(graph, graph.node("MatMul", scores, values), WIDTH)
    hidden = graph.node("Add", hidden, graph.linear(attended, WIDTH, WIDTH))
    wide = graph.gelu(graph.linear(graph.layer_norm(hidden, WIDTH), WIDTH, 2 * WIDTH))
    hidden = graph.node("Add", hidden, graph.linear(wide, 2 * WIDTH, WIDTH))
    return [graph.named("last_hidden_state", graph.layer_norm(hidden, WIDTH))]


def _convolution(
    graph: ExportedGraph,
    data: str,
    inputs: int,
    outputs: int,
    kernel: int = 1,
    *,
    padding: int = 0,
    stride: int = 1,
    dilation: int = 1,
) -> str:
    weights = graph.weight(outputs, inputs, kernel, scale=float(1 / np.sqrt(inputs * kernel))), graph.weight(outputs)
    return graph.node(
        "Conv",
        data,
        *weights,
        kernel_shape=[kernel],
        pads=[padding] * 2,
        strides=[stride],
        dilations=[dilation],
        group=1,
    )


def wavenet(graph: ExportedGraph) -> list[str]:
    """Three gated convolutions with doubling dilation, and the sum of their skip outputs."""
    hidden = _convolution(graph, "signal", 1, 8)
    passed: list[str] = []
    for dilation in (1, 2, 4):
        padded = graph.node("Pad", hidden, graph.constant([0, 0, dilation, 0, 0, 0], np.int64), graph.constant(0.0))
        filtered, gate = graph.split(_convolution(graph, padded, 8, 16, 2, dilation=dilation), [8, 8], 1)
        gated = graph.node("Mul", graph.node("Tanh", filtered), graph.node("Sigmoid", gate))
        kept, skipped = graph.split(_convolution(graph, gated, 8, 16), [8, 8], 1)
        hidden = graph.node("Add", hidden, kept)
        passed.append(skipped)
    total = graph.node("Add", graph.node("Add", passed[0], passed[1]), passed[2])
    return [graph.named("logits", _convolution(graph, graph.node("Relu", total), 8, 10))]


def lstm(graph: ExportedGraph) -> list[str]:
    """A bidirectional layer over words, and a forward layer over its result."""
    hidden = _recurrent(graph, "LSTM", _embedded(graph), 8, 6, 2)
    hidden = _recurrent(graph, "LSTM", hidden, 12, 6, 1)
    return _rows(graph, hidden, 6)


def gru(graph: ExportedGraph) -> list[str]:
    """A bidirectional layer over words, whose reset gate is applied after the product."""
    return _rows(graph, _recurrent(graph, "GRU", _embedded(graph), 8, 6, 2, linear_before_reset=1), 12)


def _embedded(graph: ExportedGraph) -> str:
    """Position, batch, feature."""
    return graph.transpose(graph.node("Gather", graph.weight(30, 8, scale=1.0), "input_ids", axis=0), 1, 0, 2)


def _recurrent(
    graph: ExportedGraph, op: str, data: str, inputs: int, width: int, directions: int, **attributes: int
) -> str:
    """Position, batch, features of all directions; the initial states are zeros with a row per batch element."""
    gates = {"LSTM": 4, "GRU": 3}[op]
    weights = (
        graph.weight(directions, gates * width, inputs, scale=0.5),
        graph.weight(directions, gates * width, width, scale=0.5),
        graph.weight(directions, 2 * gates * width),
    )
    shape = graph.shape(directions, graph.extent(data, 1), width)
    zeros = graph.node("ConstantOfShape", shape, value=numpy_helper.from_array(np.zeros(1, np.float32)))
    states = [zeros] * (2 if op == "LSTM" else 1)
    direction = "bidirectional" if directions == 2 else "forward"
    settings = {"direction": direction, "hidden_size": width, **attributes}
    made = graph.nodes(op, data, *weights, "", *states, count=1 + len(states), **settings)
    extents = graph.extent(data, 0), graph.extent(data, 1)
    return graph.reshape(graph.transpose(made[0], 0, 2, 1, 3), *extents, directions * width)


def _rows(graph: ExportedGraph, hidden: str, width: int) -> list[str]:
    """The logits of each position, and the features of the last."""
    last = graph.node("Gather", hidden, graph.constant(-1, np.int64), axis=0)
    logits = graph.linear(graph.transpose(hidden, 1, 0, 2), width, 10)
    return [graph.named("logits", logits), graph.named("last", last)]


IDS = {"input_ids": Input(("batch", "length"), words(30))}
SIGNAL = Input(("batch", 1, "length"))
SOUND = [
    Network(whisper_encoder, {"spectrum": Input(("batch", BANDS, "length"))}, sequences((2, 20), (1, 33)), opset=14),
    Network(wavenet, {"signal": SIGNAL}, sequences((1, 30), (2, 17)), opset=11),
    Network(lstm, IDS, sequences((2, 7), (3, 1)), opset=9),
    Network(gru, IDS, sequences((2, 7), (1, 12)), opset=14),
]
