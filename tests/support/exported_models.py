"""Small transformers and a ConvNeXt as exporters write them, with random weights and fixed sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from support.exported_graph import ExportedGraph
from support.onnx_models import value

WIDTH, HEADS, LAYERS, WORDS, CLASSES = 32, 4, 2, 50, 10
HEAD = WIDTH // HEADS
BATCH, LENGTH, POSITIONS = 2, 7, 24


def bert(opset: int) -> onnx.ModelProto:
    """A BERT encoder of two layers and its pooler; before opset 17 with normalisations written out."""
    graph = ExportedGraph(opset)
    hidden = graph.layer_norm(_bert_embeddings(graph), WIDTH, 1e-12)
    mask = _additive_mask(graph)
    for _ in range(LAYERS):
        attended = graph.linear(_bert_attention(graph, hidden, mask), WIDTH, WIDTH)
        hidden = graph.layer_norm(graph.node("Add", attended, hidden), WIDTH, 1e-12)
        wide = graph.gelu(graph.linear(hidden, WIDTH, 4 * WIDTH))
        hidden = graph.layer_norm(graph.node("Add", graph.linear(wide, 4 * WIDTH, WIDTH), hidden), WIDTH, 1e-12)
    first = graph.node("Gather", hidden, graph.constant(0, np.int64), axis=1)
    pooled = graph.node("Tanh", graph.node("Gemm", first, graph.weight(WIDTH, WIDTH), graph.weight(WIDTH), transB=1))
    outputs = [graph.named("last_hidden_state", hidden), graph.named("pooler_output", pooled)]
    names = ("input_ids", "attention_mask", "token_type_ids")
    return graph.model([value(name, (BATCH, LENGTH), TensorProto.INT64) for name in names], outputs)


def _bert_embeddings(graph: ExportedGraph) -> str:
    positions = graph.stored(np.arange(POSITIONS)[None])
    taken = graph.slice(positions, 0, graph.extent("input_ids", 1), 1)
    words = graph.node("Gather", graph.weight(WORDS, WIDTH, scale=1.0), "input_ids", axis=0)
    kinds = graph.node("Gather", graph.weight(2, WIDTH, scale=1.0), "token_type_ids", axis=0)
    places = graph.node("Gather", graph.weight(POSITIONS, WIDTH, scale=1.0), taken, axis=0)
    return graph.node("Add", graph.node("Add", words, kinds), places)


def _additive_mask(graph: ExportedGraph) -> str:
    """0 where a position counts, the least float where it does not."""
    mask = graph.node("Cast", graph.unsqueeze(graph.unsqueeze("attention_mask", 1), 2), to=TensorProto.FLOAT)
    away = graph.node("Sub", graph.constant(1.0), mask)
    return graph.node("Mul", away, graph.constant(np.finfo(np.float32).min))


def _bert_attention(graph: ExportedGraph, hidden: str, mask: str) -> str:
    query, key, values = (_heads(graph, graph.linear(hidden, WIDTH, WIDTH)) for _ in range(3))
    return _joined(graph, graph.attention(query, key, values, HEAD, mask))


def _heads(graph: ExportedGraph, hidden: str) -> str:
    """Batch, position, feature → batch, head, position, feature."""
    shape = graph.extent(hidden, 0), graph.extent(hidden, 1), HEADS, HEAD
    return graph.transpose(graph.reshape(hidden, *shape), 0, 2, 1, 3)


def _joined(graph: ExportedGraph, hidden: str) -> str:
    """Batch, head, position, feature → batch, position, feature."""
    hidden = graph.transpose(hidden, 0, 2, 1, 3)
    return graph.reshape(hidden, graph.extent(hidden, 0), graph.extent(hidden, 1), WIDTH)


def gpt2(opset: int, *, trilu: bool = False) -> onnx.ModelProto:
    """A GPT-2 of two layers, whose causal mask is a slice of a table, or made by Trilu."""
    graph = ExportedGraph(opset)
    words = graph.weight(WORDS, WIDTH, scale=1.0)
    length = graph.extent("input_ids", 1)
    places = graph.node("Range", graph.constant(0, np.int64), length, graph.constant(1, np.int64))
    places = graph.node("Gather", graph.weight(POSITIONS, WIDTH), graph.unsqueeze(places, 0), axis=0)
    hidden = graph.node("Add", graph.node("Gather", words, "input_ids", axis=0), places)
    for _ in range(LAYERS):
        attended = _gpt2_attention(graph, graph.layer_norm(hidden, WIDTH), length, trilu)
        hidden = graph.node("Add", hidden, attended)
        wide = graph.gelu_by_tanh(_flat_linear(graph, graph.layer_norm(hidden, WIDTH), WIDTH, 4 * WIDTH))
        hidden = graph.node("Add", hidden, _flat_linear(graph, wide, 4 * WIDTH, WIDTH))
    logits = graph.node("MatMul", graph.layer_norm(hidden, WIDTH), graph.transpose(words, 1, 0))
    outputs = [graph.named("logits", logits)]
    return graph.model([value("input_ids", (BATCH, LENGTH), TensorProto.INT64)], outputs)


def gpt2_with_trilu(opset: int) -> onnx.ModelProto:
    return gpt2(opset, trilu=True)


def _flat_linear(graph: ExportedGraph, hidden: str, inputs: int, outputs: int) -> str:
    """GPT-2's Conv1D: a Gemm of all positions of the batch."""
    extents = graph.extent(hidden, 0), graph.extent(hidden, 1)
    flat = graph.node("Gemm", graph.reshape(hidden, -1, inputs), graph.weight(inputs, outputs), graph.weight(outputs))
    return graph.reshape(flat, *extents, outputs)


def _gpt2_attention(graph: ExportedGraph, hidden: str, length: str, trilu: bool) -> str:
    parts = graph.split(_flat_linear(graph, hidden, WIDTH, 3 * WIDTH), [WIDTH] * 3, 2)
    query, key, values = (_heads(graph, part) for part in parts)
    scores = graph.node("MatMul", query, graph.transpose(key, 0, 1, 3, 2))
    scores = graph.node("Div", scores, graph.constant(np.sqrt(HEAD)))
    seen = _lower_triangle(graph, length) if trilu else _table_of_seen(graph, length)
    scores = graph.node("Where", seen, scores, graph.constant(np.finfo(np.float32).min))
    attended = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), values)
    return _flat_linear(graph, _joined(graph, attended), WIDTH, WIDTH)


def _table_of_seen(graph: ExportedGraph, length: str) -> str:
    table = graph.stored(np.tril(np.ones((1, 1, POSITIONS, POSITIONS), np.bool_)))
    return graph.slice(graph.slice(table, 0, length, 2), 0, length, 3)


def _lower_triangle(graph: ExportedGraph, length: str) -> str:
    one = numpy_helper.from_array(np.ones(1, np.float32))
    ones = graph.node("ConstantOfShape", graph.shape(length, length), value=one)
    return graph.node("Cast", graph.node("Trilu", ones, upper=0), to=TensorProto.BOOL)


def vit(opset: int) -> onnx.ModelProto:
    """A vision transformer of two layers on an image of 16 patches and a class token."""
    graph = ExportedGraph(opset)
    patches = graph.node(
        "Conv",
        "image",
        graph.weight(WIDTH, 3, 8, 8, scale=0.1),
        graph.weight(WIDTH),
        kernel_shape=[8, 8],
        strides=[8, 8],
    )
    batch = graph.extent(patches, 0)
    tokens = graph.transpose(graph.reshape(patches, batch, WIDTH, -1), 0, 2, 1)
    first = graph.expand(graph.weight(1, 1, WIDTH, scale=1.0), batch, -1, -1)
    tokens = graph.node("Concat", first, tokens, axis=1)
    hidden = graph.node("Add", tokens, graph.weight(1, 17, WIDTH, scale=1.0))
    for _ in range(LAYERS):
        attended = _vit_attention(graph, graph.layer_norm(hidden, WIDTH, 1e-6))
        hidden = graph.node("Add", hidden, graph.linear(attended, WIDTH, WIDTH))
        wide = graph.gelu(graph.linear(graph.layer_norm(hidden, WIDTH, 1e-6), WIDTH, 4 * WIDTH))
        hidden = graph.node("Add", hidden, graph.linear(wide, 4 * WIDTH, WIDTH))
    token = graph.node("Gather", graph.layer_norm(hidden, WIDTH, 1e-6), graph.constant(0, np.int64), axis=1)
    logits = graph.node("Gemm", token, graph.weight(CLASSES, WIDTH), graph.weight(CLASSES), transB=1)
    return graph.model([value("image", (BATCH, 3, 32, 32))], [graph.named("logits", logits)])


def _vit_attention(graph: ExportedGraph, hidden: str) -> str:
    """Query, key and value are one product, told apart by an axis of three."""
    extents = graph.extent(hidden, 0), graph.extent(hidden, 1)
    product = graph.reshape(graph.linear(hidden, WIDTH, 3 * WIDTH), *extents, 3, HEADS, HEAD)
    product = graph.transpose(product, 2, 0, 3, 1, 4)
    query, key, values = (graph.node("Gather", product, graph.constant(i, np.int64), axis=0) for i in range(3))
    return _joined(graph, graph.attention(query, key, values, HEAD))


def convnext(opset: int) -> onnx.ModelProto:
    """A ConvNeXt of two stages of one block each."""
    graph = ExportedGraph(opset)
    features = _down(graph, "image", 3, 16, 4)
    features = _convnext_block(graph, graph.layer_norm_of_channels(features, 16), 16)
    features = _convnext_block(graph, _down(graph, graph.layer_norm_of_channels(features, 16), 16, 32, 2), 32)
    pooled = graph.layer_norm(graph.mean(features, -2, -1, keepdims=0), 32, 1e-6)
    logits = graph.node("Gemm", pooled, graph.weight(CLASSES, 32), graph.weight(CLASSES), transB=1)
    return graph.model([value("image", (BATCH, 3, 32, 32))], [graph.named("logits", logits)])


def _down(graph: ExportedGraph, image: str, inputs: int, outputs: int, step: int) -> str:
    """A convolution of squares that do not overlap."""
    weights = graph.weight(outputs, inputs, step, step, scale=0.1), graph.weight(outputs)
    return graph.node("Conv", image, *weights, kernel_shape=[step] * 2, strides=[step] * 2)


def _convnext_block(graph: ExportedGraph, features: str, width: int) -> str:
    """A depthwise convolution, two products per pixel in channels-last form, the scale of the layer, the residual."""
    weights = graph.weight(width, 1, 7, 7, scale=0.1), graph.weight(width)
    deep = graph.node("Conv", features, *weights, group=width, kernel_shape=[7, 7], pads=[3] * 4)
    last = graph.layer_norm(graph.transpose(deep, 0, 2, 3, 1), width, 1e-6)
    last = graph.linear(graph.gelu(graph.linear(last, width, 4 * width)), 4 * width, width)
    scaled = graph.node("Mul", graph.weight(width, scale=1.0), last)
    return graph.node("Add", features, graph.transpose(scaled, 0, 3, 1, 2))


@dataclass(frozen=True)
class ExportedModel:
    """A builder and an opset in which exporters write it so."""

    build: Callable[[int], onnx.ModelProto]
    opset: int

    @property
    def id(self) -> str:
        return f"{self.build.__name__}-{self.opset}"

    def proto(self) -> onnx.ModelProto:
        return self.build(self.opset)


EXPORTED = [
    ExportedModel(bert, 11),
    ExportedModel(bert, 17),
    ExportedModel(gpt2, 13),
    ExportedModel(gpt2_with_trilu, 18),
    ExportedModel(vit, 14),
    ExportedModel(vit, 17),
    ExportedModel(convnext, 12),
    ExportedModel(convnext, 18),
]


def random_inputs(model: onnx.ModelProto, seed: int) -> dict[str, NDArray[np.float32] | NDArray[np.int64]]:
    """Images, words, and masks of which some positions do not count."""
    rng = np.random.default_rng(seed)
    greatest = {"input_ids": WORDS, "attention_mask": 2, "token_type_ids": 2}
    arrays: dict[str, NDArray[np.float32] | NDArray[np.int64]] = {}
    for entry in model.graph.input:
        shape = [dim.dim_value for dim in entry.type.tensor_type.shape.dim]
        if entry.name in greatest:
            arrays[entry.name] = rng.integers(0, greatest[entry.name], shape)
        else:
            arrays[entry.name] = rng.standard_normal(shape).astype(np.float32)
    return arrays
