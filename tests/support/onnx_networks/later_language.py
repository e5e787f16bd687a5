"""Language models with rotary position embeddings, or with a learned bias per distance."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from support.exported_graph import ExportedGraph
from support.onnx_networks.attention import heads, joined
from support.onnx_networks.language import ENCODED, GROWING, HEAD, HEADS, IDS, LEAST, WIDTH, WORDS, expanded_mask
from support.onnx_networks.network import Input, Network, sequences

GROUPS = 1
"""The number of heads of keys and values; each serves HEADS / GROUPS heads of queries."""


def llama(graph: ExportedGraph) -> list[str]:
    """Two layers with RMS normalization, rotary embeddings, grouped heads, and a SiLU gate."""
    return _llama(graph, remembers=False)


def llama_with_cache(graph: ExportedGraph) -> list[str]:
    """The same with the cached keys and values of earlier words."""
    return _llama(graph, remembers=True)


def _llama(graph: ExportedGraph, *, remembers: bool) -> list[str]:
    hidden = graph.node("Gather", graph.weight(WORDS, WIDTH, scale=1.0), "input_ids", axis=0)
    past = graph.extent("past_key_0", 2) if remembers else graph.constant(0, np.int64)
    length = graph.extent("input_ids", 1)
    whole = graph.node("Add", past, length)
    places = graph.node("Range", past, whole, graph.constant(1, np.int64))
    turns, mask, present = _turns(graph, places), _causal(graph, places, whole), list[str]()
    for layer in range(2):
        attended, *made = _llama_attention(graph, _rms_norm(graph, hidden), turns, mask, layer if remembers else None)
        present += [graph.named(f"present_{n}_{layer}", each) for n, each in zip("kv", made, strict=True) if remembers]
        hidden = graph.node("Add", hidden, attended)
        normal = _rms_norm(graph, hidden)
        gate = graph.silu(graph.node("MatMul", normal, graph.weight(WIDTH, 2 * WIDTH)))
        wide = graph.node("Mul", gate, graph.node("MatMul", normal, graph.weight(WIDTH, 2 * WIDTH)))
        hidden = graph.node("Add", hidden, graph.node("MatMul", wide, graph.weight(2 * WIDTH, WIDTH)))
    logits = graph.node("MatMul", _rms_norm(graph, hidden), graph.weight(WIDTH, WORDS))
    return [graph.named("logits", logits), *present]


def _rms_norm(graph: ExportedGraph, hidden: str) -> str:
    """RMS normalization from single ops, as no op computes it before opset 23."""
    mean = graph.mean(graph.node("Pow", hidden, graph.constant(2.0)), -1)
    root = graph.node("Sqrt", graph.node("Add", mean, graph.constant(1e-6)))
    share = graph.node("Mul", hidden, graph.node("Div", graph.constant(1.0), root))
    return graph.node("Mul", graph.weight(WIDTH, shift=1.0), share)


def _turns(graph: ExportedGraph, places: str) -> tuple[str, str]:
    """The cosines and sines of each position's angles: 1, 1, position, feature."""
    frequencies = graph.stored((100.0 ** (-np.arange(0, HEAD, 2) / HEAD)).astype(np.float32)[None, :])
    angles = graph.node("MatMul", graph.node("Cast", graph.unsqueeze(places, 1), to=TensorProto.FLOAT), frequencies)
    angles = graph.unsqueeze(graph.node("Concat", angles, angles, axis=-1), 0, 1)
    return graph.node("Cos", angles), graph.node("Sin", angles)


def _causal(graph: ExportedGraph, places: str, whole: str) -> str:
    """The least float at later positions, else 0: 1, 1, new position, position."""
    all_places = graph.node("Range", graph.constant(0, np.int64), whole, graph.constant(1, np.int64))
    ahead = graph.node("Greater", graph.unsqueeze(all_places, 0), graph.unsqueeze(places, 1))
    mask = graph.node("Mul", graph.node("Cast", ahead, to=TensorProto.FLOAT), graph.constant(LEAST))
    return graph.unsqueeze(mask, 0, 1)


def _llama_attention(
    graph: ExportedGraph, hidden: str, turns: tuple[str, str], mask: str, layer: int | None
) -> tuple[str, str, str]:
    made = (graph.node("MatMul", hidden, graph.weight(WIDTH, count * HEAD)) for count in (HEADS, GROUPS, GROUPS))
    query, key, values = (heads(graph, each, n, HEAD) for each, n in zip(made, (HEADS, GROUPS, GROUPS), strict=True))
    query, key = _turned(graph, query, turns), _turned(graph, key, turns)
    if layer is not None:
        key = graph.node("Concat", f"past_key_{layer}", key, axis=2)
        values = graph.node("Concat", f"past_value_{layer}", values, axis=2)
    attended = graph.attention(query, _repeated(graph, key), _repeated(graph, values), HEAD, mask)
    out = graph.node("MatMul", joined(graph, attended, WIDTH), graph.weight(WIDTH, WIDTH))
    return out, key, values


def _turned(graph: ExportedGraph, data: str, turns: tuple[str, str]) -> str:
    """Rotates each pair of features half a head apart by its angle."""
    first = graph.slice(data, 0, HEAD // 2, 3)
    second = graph.slice(data, HEAD // 2, np.iinfo(np.int64).max, 3)
    across = graph.node("Concat", graph.node("Neg", second), first, axis=-1)
    cosine, sine = turns
    return graph.node("Add", graph.node("Mul", data, cosine), graph.node("Mul", across, sine))


def _repeated(graph: ExportedGraph, data: str) -> str:
    """Repeats each head of keys or values for each head of queries that it serves."""
    batch, length, share = graph.extent(data, 0), graph.extent(data, 2), HEADS // GROUPS
    wide = graph.expand(graph.unsqueeze(data, 2), batch, GROUPS, share, length, HEAD)
    return graph.reshape(wide, batch, HEADS, length, HEAD)


def t5_encoder(graph: ExportedGraph) -> list[str]:
    """Two layers whose attention has a bias for each bucket of distances, the same in both."""
    hidden = graph.node("Gather", graph.weight(WORDS, WIDTH, scale=1.0), "input_ids", axis=0)
    bias = graph.node("Add", _bias_of_distances(graph), expanded_mask(graph, "attention_mask"))
    for _ in range(2):
        normal = _rms_norm(graph, hidden)
        made = (graph.node("MatMul", normal, graph.weight(WIDTH, WIDTH)) for _ in range(3))
        query, key, values = (heads(graph, each, HEADS, HEAD) for each in made)
        scores = graph.node("Add", graph.node("MatMul", query, graph.transpose(key, 0, 1, 3, 2)), bias)
        attended = joined(graph, graph.node("MatMul", graph.node("Softmax", scores, axis=-1), values), WIDTH)
        hidden = graph.node("Add", hidden, graph.node("MatMul", attended, graph.weight(WIDTH, WIDTH)))
        wide = graph.node("Relu", graph.node("MatMul", _rms_norm(graph, hidden), graph.weight(WIDTH, 2 * WIDTH)))
        hidden = graph.node("Add", hidden, graph.node("MatMul", wide, graph.weight(2 * WIDTH, WIDTH)))
    return [graph.named("last_hidden_state", _rms_norm(graph, hidden))]


BUCKETS, FARTHEST = 8, 16


def _bias_of_distances(graph: ExportedGraph) -> str:
    """One bias per head and bucket; each near distance has its own bucket, far ones share logarithmic buckets."""
    length = graph.extent("input_ids", 1)
    places = graph.node("Range", graph.constant(0, np.int64), length, graph.constant(1, np.int64))
    distance = graph.node("Sub", graph.unsqueeze(places, 0), graph.unsqueeze(places, 1))
    half, near = BUCKETS // 2, BUCKETS // 4
    behind = graph.node("Greater", distance, graph.constant(0, np.int64))
    start = graph.node("Mul", graph.node("Cast", behind, to=TensorProto.INT64), graph.constant(half, np.int64))
    distance = graph.node("Abs", distance)
    share = graph.node("Div", graph.node("Cast", distance, to=TensorProto.FLOAT), graph.constant(near))
    share = graph.node("Div", graph.node("Log", share), graph.constant(np.log(FARTHEST / near)))
    far = graph.node("Cast", graph.node("Mul", share, graph.constant(half - near)), to=TensorProto.INT64)
    far = graph.node("Min", graph.node("Add", far, graph.constant(near, np.int64)), graph.constant(half - 1, np.int64))
    is_near = graph.node("Less", distance, graph.constant(near, np.int64))
    bucket = graph.node("Add", start, graph.node("Where", is_near, distance, far))
    bias = graph.node("Gather", graph.weight(BUCKETS, HEADS, scale=0.5), bucket, axis=0)
    return graph.unsqueeze(graph.transpose(bias, 2, 0, 1), 0)


NARROW = Input(("batch", GROUPS, "past", HEAD))
REMEMBERED = {f"past_{kind}_{layer}": NARROW for layer in range(2) for kind in ("key", "value")}
MASKED = {name: ENCODED[name] for name in ("input_ids", "attention_mask")}
LATER_LANGUAGE = [
    Network(llama, IDS, sequences((2, 7), (3, 1)), opset=14),
    Network(llama_with_cache, {**IDS, **REMEMBERED}, GROWING, opset=17),
    Network(t5_encoder, MASKED, sequences((2, 7), (1, 20)), opset=12),
]
