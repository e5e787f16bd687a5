"""Blocks of a language model in the sizes of TinyLlama 1.1B: a prompt, a step of decoding, and weights of 4 bits.

Source: Touvron et al., LLaMA, 2023 (arXiv:2302.13971); Zhang et al., TinyLlama, 2024 (arXiv:2401.02385).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from numpy.typing import DTypeLike

from networks.graph import NetworkGraph, Shape

WIDTH, INNER, HEADS, GROUPS, HEAD, LAYERS = 2048, 5632, 32, 4, 64, 4
BLOCK = 32
"""The number of weights of 4 bits that have a scale and a zero point in common."""

Linear = Callable[[NetworkGraph, str, int, int], str]


def llama(past: int, new: int, linear: Linear | None = None) -> onnx.ModelProto:
    """Four blocks that append `new` positions to `past` cached ones, and return the cache with them."""
    graph, multiply = NetworkGraph(), linear or _linear
    hidden, inputs, outputs = "hidden", dict[str, tuple[DTypeLike, Shape]](), dict[str, str]()
    inputs[hidden] = np.float32, (1, new, WIDTH)
    turns, mask = _turns(graph, past, new), _later(graph, past, new)
    for layer in range(LAYERS):
        cache = [f"past_{kind}_{layer}" for kind in ("key", "value")]
        inputs |= {name: (np.float32, (1, GROUPS, past, HEAD)) for name in cache if past}
        normal = _rms_norm(graph, hidden)
        query, key, values = (
            graph.heads(multiply(graph, normal, WIDTH, count * HEAD), count, HEAD) for count in (HEADS, GROUPS, GROUPS)
        )
        query, key = _turned(graph, query, turns), _turned(graph, key, turns)
        if past:
            key, values = (graph.node("Concat", a, b, axis=2) for a, b in zip(cache, (key, values), strict=True))
        outputs |= {f"present_key_{layer}": key, f"present_value_{layer}": values}
        key, values = (_repeated(graph, each, past + new) for each in (key, values))
        attended = graph.joined_heads(graph.attention(query, key, values, HEAD, mask), WIDTH)
        hidden = graph.node("Add", hidden, multiply(graph, attended, WIDTH, WIDTH))
        hidden = graph.node("Add", hidden, _gated(graph, _rms_norm(graph, hidden), multiply))
    return graph.model(inputs, {"result": _rms_norm(graph, hidden), **outputs})


def four_bits(graph: NetworkGraph, data: str, inputs: int, outputs: int) -> str:
    """A product with weights of 4 bits in blocks of 32, two in a byte."""
    packed = graph.integers(256, outputs, inputs // BLOCK, BLOCK // 2)
    scales = graph.weight(outputs * inputs // BLOCK, mean=0.2 * inputs**-0.5, deviation=0.02 * inputs**-0.5)
    sizes = {"K": inputs, "N": outputs, "bits": 4, "block_size": BLOCK}
    return graph.node("MatMulNBits", data, packed, scales, domain="com.microsoft", **sizes)


def _linear(graph: NetworkGraph, data: str, inputs: int, outputs: int) -> str:
    return graph.node("MatMul", data, graph.weight(inputs, outputs))


def _gated(graph: NetworkGraph, data: str, multiply: Linear) -> str:
    gate = multiply(graph, data, WIDTH, INNER)
    gate = graph.node("Mul", gate, graph.node("Sigmoid", gate))
    wide = graph.node("Mul", gate, multiply(graph, data, WIDTH, INNER))
    return multiply(graph, wide, INNER, WIDTH)


def _rms_norm(graph: NetworkGraph, data: str) -> str:
    square = graph.node("Pow", data, graph.constant(2.0))
    mean = graph.node("ReduceMean", square, axes=[-1])
    root = graph.node("Sqrt", graph.node("Add", mean, graph.constant(1e-5)))
    share = graph.node("Mul", data, graph.node("Div", graph.constant(1.0), root))
    return graph.node("Mul", share, graph.weight(WIDTH, mean=1.0))


def _turns(graph: NetworkGraph, past: int, new: int) -> tuple[str, str]:
    """The cosines and sines of each new position's angles; axes 1, 1, position, feature."""
    angles = np.arange(past, past + new)[:, None] * 10000.0 ** (-np.arange(0, HEAD, 2) / HEAD)
    wide = np.concatenate([angles, angles], 1)[None, None]
    return graph.stored(np.cos(wide).astype(np.float32)), graph.stored(np.sin(wide).astype(np.float32))


def _later(graph: NetworkGraph, past: int, new: int) -> str:
    """The least float at later positions, else 0."""
    later = np.arange(past + new)[None] > np.arange(past, past + new)[:, None]
    return graph.stored(np.where(later, np.finfo(np.float32).min, 0).astype(np.float32)[None, None])


def _turned(graph: NetworkGraph, data: str, turns: tuple[str, str]) -> str:
    """Rotates each pair of features half a head apart by its angle."""
    first, second = graph.nodes("Split", data, count=2, axis=3)
    across = graph.node("Concat", graph.node("Neg", second), first, axis=3)
    cosine, sine = turns
    return graph.node("Add", graph.node("Mul", data, cosine), graph.node("Mul", across, sine))


def _repeated(graph: NetworkGraph, data: str, length: int) -> str:
    """Repeats each head of keys or values for all heads of queries that read it."""
    wide = graph.node("Unsqueeze", data, graph.constant([2], np.int64))
    shape = graph.constant([1, GROUPS, HEADS // GROUPS, length, HEAD], np.int64)
    return graph.node("Reshape", graph.node("Expand", wide, shape), graph.constant([1, HEADS, length, HEAD], np.int64))
