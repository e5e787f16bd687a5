"""Transformers of width 768: BERT base, GPT-2 small and ViT-B/16."""

from __future__ import annotations

import numpy as np
import onnx

from networks.graph import NetworkGraph, Shape

WIDTH, INNER, HEADS, HEAD, LAYERS = 768, 3072, 12, 64, 12
LEAST = float(np.finfo(np.float32).min)


def bert_base(length: int | str = 128, batch: int | str = 1) -> onnx.ModelProto:
    """BERT base without a pooler. Source: Devlin et al., BERT, 2018 (arXiv:1810.04805)."""
    graph = NetworkGraph()
    ids, mask = "input_ids", "attention_mask"
    places = graph.node("Range", graph.constant(0, np.int64), _length(graph, ids), graph.constant(1, np.int64))
    words = graph.node("Gather", graph.weight(30522, WIDTH, deviation=1.0), ids)
    hidden = graph.node("Add", words, graph.node("Gather", graph.weight(512, WIDTH, deviation=1.0), places))
    hidden = graph.layer_norm(hidden, WIDTH, 1e-12)
    counted = graph.node("Unsqueeze", graph.node("Cast", mask, to=onnx.TensorProto.FLOAT), graph.constant([1, 2], int))
    hidden_words = graph.node("Mul", graph.node("Sub", graph.constant(1.0), counted), graph.constant(LEAST))
    for _ in range(LAYERS):
        attended = _self_attention(graph, hidden, hidden_words)
        hidden = graph.layer_norm(graph.node("Add", attended, hidden), WIDTH, 1e-12)
        wide = graph.gelu(graph.linear(hidden, WIDTH, INNER))
        hidden = graph.layer_norm(graph.node("Add", graph.linear(wide, INNER, WIDTH), hidden), WIDTH, 1e-12)
    shape: Shape = (batch, length)
    return graph.model({ids: (np.int64, shape), mask: (np.int64, shape)}, {"last_hidden_state": hidden})


def gpt2_small(length: int = 128) -> onnx.ModelProto:
    """GPT-2 small with logits of all positions. Source: Radford et al., 2019."""
    graph = NetworkGraph()
    table = graph.weight(50257, WIDTH, deviation=0.02)
    places = graph.stored(np.arange(length)[None])
    hidden = graph.node("Gather", graph.weight(1024, WIDTH, deviation=0.02), places)
    hidden = graph.node("Add", graph.node("Gather", table, "input_ids"), hidden)
    future = graph.stored(np.triu(np.full((1, 1, length, length), LEAST, np.float32), 1))
    for _ in range(LAYERS):
        attended = _self_attention(graph, graph.layer_norm(hidden, WIDTH), future)
        hidden = graph.node("Add", hidden, attended)
        wide = graph.gelu_by_tanh(graph.linear(graph.layer_norm(hidden, WIDTH), WIDTH, INNER))
        hidden = graph.node("Add", hidden, graph.linear(wide, INNER, WIDTH))
    last = graph.node("Transpose", table, perm=[1, 0])
    logits = graph.node("MatMul", graph.layer_norm(hidden, WIDTH), last)
    return graph.model({"input_ids": (np.int64, (1, length))}, {"logits": logits})


def vit_b16() -> onnx.ModelProto:
    """ViT-B/16 for images of 224 × 224. Source: Dosovitskiy et al., 2020 (arXiv:2010.11929)."""
    graph = NetworkGraph()
    kernel = graph.weight(WIDTH, 3, 16, 16, deviation=0.02)
    patches = graph.node("Conv", "image", kernel, graph.weight(WIDTH), kernel_shape=[16, 16], strides=[16, 16])
    flat = graph.node("Reshape", patches, graph.constant([0, WIDTH, 196], np.int64))
    rows = graph.node("Transpose", flat, perm=[0, 2, 1])
    rows = graph.node("Concat", graph.weight(1, 1, WIDTH, deviation=0.02), rows, axis=1)
    hidden = graph.node("Add", rows, graph.weight(1, 197, WIDTH, deviation=0.02))
    for _ in range(LAYERS):
        hidden = graph.node("Add", hidden, _self_attention(graph, graph.layer_norm(hidden, WIDTH), None))
        wide = graph.gelu(graph.linear(graph.layer_norm(hidden, WIDTH), WIDTH, INNER))
        hidden = graph.node("Add", hidden, graph.linear(wide, INNER, WIDTH))
    first = graph.node("Gather", graph.layer_norm(hidden, WIDTH), graph.constant(0, np.int64), axis=1)
    return graph.model({"image": (np.float32, (1, 3, 224, 224))}, {"logits": graph.linear(first, WIDTH, 1000)})


def _length(graph: NetworkGraph, ids: str) -> str:
    return graph.node("Gather", graph.node("Shape", ids), graph.constant(1, np.int64))


def _self_attention(graph: NetworkGraph, data: str, mask: str | None) -> str:
    query, key, values = (graph.heads(graph.linear(data, WIDTH, WIDTH), HEADS, HEAD) for _ in range(3))
    return graph.linear(graph.joined_heads(graph.attention(query, key, values, HEAD, mask), WIDTH), WIDTH, WIDTH)
