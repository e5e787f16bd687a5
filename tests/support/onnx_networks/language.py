"""Language models: encoders and decoders, with and without a cache, and with position embeddings."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from support.exported_graph import ExportedGraph
from support.onnx_networks.attention import heads, joined
from support.onnx_networks.network import Input, Network, counts, sequences, words

WIDTH, HEADS, WORDS, POSITIONS = 16, 2, 30, 40
HEAD = WIDTH // HEADS
LEAST = np.finfo(np.float32).min


def bert(graph: ExportedGraph) -> list[str]:
    """An encoder of two layers and its pooler, with a mask made by Shape, Expand and Where."""
    places = graph.slice(graph.stored(np.arange(POSITIONS)[None]), 0, graph.extent("input_ids", 1), 1)
    embedded = graph.node("Add", _looked_up(graph, WORDS, "input_ids"), _looked_up(graph, 2, "token_type_ids"))
    hidden = graph.node("Add", embedded, _looked_up(graph, POSITIONS, places))
    hidden = graph.layer_norm(hidden, WIDTH, 1e-12)
    mask = expanded_mask(graph, "attention_mask")
    for _ in range(2):
        query, key, values = (heads(graph, graph.linear(hidden, WIDTH, WIDTH), HEADS, HEAD) for _ in range(3))
        attended = joined(graph, graph.attention(query, key, values, HEAD, mask), WIDTH)
        hidden = graph.layer_norm(graph.node("Add", graph.linear(attended, WIDTH, WIDTH), hidden), WIDTH, 1e-12)
        wide = graph.gelu(graph.linear(hidden, WIDTH, 2 * WIDTH))
        hidden = graph.layer_norm(graph.node("Add", graph.linear(wide, 2 * WIDTH, WIDTH), hidden), WIDTH, 1e-12)
    first = graph.node("Gather", hidden, graph.constant(0, np.int64), axis=1)
    pooled = graph.node("Tanh", graph.node("Gemm", first, graph.weight(WIDTH, WIDTH), graph.weight(WIDTH), transB=1))
    return [graph.named("last_hidden_state", hidden), graph.named("pooler_output", pooled)]


def _looked_up(graph: ExportedGraph, count: int, places: str) -> str:
    return graph.node("Gather", graph.weight(count, WIDTH, scale=1.0), places, axis=0)


def expanded_mask(graph: ExportedGraph, mask: str) -> str:
    """0 at positions that count, the least float at others; axes batch, 1, length, length."""
    batch, length = graph.extent(mask, 0), graph.extent(mask, 1)
    wide = graph.expand(graph.unsqueeze(mask, 1, 2), batch, 1, length, length)
    counted = graph.node("Cast", wide, to=TensorProto.BOOL)
    return graph.node("Where", counted, graph.constant(0.0), graph.constant(LEAST))


def gpt2(graph: ExportedGraph) -> list[str]:
    """A decoder of two layers, whose causal mask is a slice of a table."""
    hidden = _gpt2_embeddings(graph, graph.constant(0, np.int64))
    for _ in range(2):
        hidden, _, _ = _gpt2_layer(graph, hidden, None)
    return [_vocabulary(graph, graph.layer_norm(hidden, WIDTH))]


def gpt2_with_cache(graph: ExportedGraph) -> list[str]:
    """The same with the cached keys and values of earlier words; it returns the cache with the new ones appended."""
    hidden = _gpt2_embeddings(graph, graph.extent("past_key_0", 2))
    present: list[str] = []
    for layer in range(2):
        hidden, *remembered = _gpt2_layer(graph, hidden, layer)
        present += [graph.named(f"present_{n}_{layer}", value) for n, value in zip("kv", remembered, strict=True)]
    return [_vocabulary(graph, graph.layer_norm(hidden, WIDTH)), *present]


def _gpt2_embeddings(graph: ExportedGraph, past: str) -> str:
    end = graph.node("Add", past, graph.extent("input_ids", 1))
    places = graph.unsqueeze(graph.node("Range", past, end, graph.constant(1, np.int64)), 0)
    return graph.node("Add", _looked_up(graph, WORDS, "input_ids"), _looked_up(graph, POSITIONS, places))


def _gpt2_layer(graph: ExportedGraph, hidden: str, layer: int | None) -> tuple[str, str, str]:
    """The layer's result, and all keys and values; `layer` names the cached ones, None without a cache."""
    normal = graph.layer_norm(hidden, WIDTH)
    parts = graph.split(flat_linear(graph, normal, WIDTH, 3 * WIDTH), [WIDTH] * 3, 2)
    query, key, values = (heads(graph, part, HEADS, HEAD) for part in parts)
    if layer is not None:
        key = graph.node("Concat", f"past_key_{layer}", key, axis=2)
        values = graph.node("Concat", f"past_value_{layer}", values, axis=2)
    scores = graph.node("MatMul", query, graph.transpose(key, 0, 1, 3, 2))
    scores = graph.node("Div", scores, graph.constant(np.sqrt(HEAD)))
    scores = graph.node("Where", _seen(graph, query, key), scores, graph.constant(LEAST))
    attended = joined(graph, graph.node("MatMul", graph.node("Softmax", scores, axis=-1), values), WIDTH)
    hidden = graph.node("Add", hidden, flat_linear(graph, attended, WIDTH, WIDTH))
    wide = graph.gelu_by_tanh(flat_linear(graph, graph.layer_norm(hidden, WIDTH), WIDTH, 2 * WIDTH))
    return graph.node("Add", hidden, flat_linear(graph, wide, 2 * WIDTH, WIDTH)), key, values


def flat_linear(graph: ExportedGraph, hidden: str, inputs: int, outputs: int) -> str:
    """A Gemm over all positions of the batch."""
    extents = graph.extent(hidden, 0), graph.extent(hidden, 1)
    flat = graph.node("Gemm", graph.reshape(hidden, -1, inputs), graph.weight(inputs, outputs), graph.weight(outputs))
    return graph.reshape(flat, *extents, outputs)


def _seen(graph: ExportedGraph, query: str, key: str) -> str:
    """The last rows of the table of positions that each position attends to."""
    table = graph.stored(np.tril(np.ones((1, 1, POSITIONS, POSITIONS), np.bool_)))
    length, new = graph.extent(key, 2), graph.extent(query, 2)
    rows = graph.slice(table, graph.node("Sub", length, new), length, 2)
    return graph.slice(rows, 0, length, 3)


def _vocabulary(graph: ExportedGraph, hidden: str) -> str:
    return graph.named("logits", graph.node("MatMul", hidden, graph.weight(WIDTH, WORDS)))


IDS = {"input_ids": Input(("batch", "length"), words(WORDS))}
PAST = Input(("batch", HEADS, "past", HEAD))
REMEMBERED = {f"past_{kind}_{layer}": PAST for layer in range(2) for kind in ("key", "value")}
ENCODED = {
    **IDS,
    "attention_mask": Input(("batch", "length"), counts),
    "token_type_ids": Input(("batch", "length"), words(2)),
}
GROWING = [dict(zip(("batch", "length", "past"), each, strict=True)) for each in ((2, 3, 5), (1, 1, 9), (3, 4, 0))]
LANGUAGE = [
    Network(bert, ENCODED, sequences((2, 7), (3, 5)), opset=11),
    Network(gpt2, IDS, sequences((2, 7), (3, 1)), opset=13),
    Network(gpt2_with_cache, {**IDS, **REMEMBERED}, GROWING, opset=14),
]
