"""GroupQueryAttention: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, node_model

from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.grid(4)
@pytest.mark.parametrize("rotary", [0, 1])
@pytest.mark.parametrize(
    ("past", "new", "words"), [(0, 4, {}), (3, 1, {}), (3, 1, {"local_window_size": 2}), (0, 4, {"softcap": 2.0})]
)
def test_grouped_queries(past: int, new: int, words: dict[str, Any], rotary: int) -> None:
    angles = RNG.random((16, 8)).astype(np.float32)
    query, key, value = normal(2, new, 64), normal(2, new, 32), normal(2, new, 32)
    lengths, total = np.full(2, past + new - 1, np.int32), np.array(past + new, np.int32)
    caches = [normal(2, 2, past, 16), normal(2, 2, past, 16)]
    tables = [np.cos(angles), np.sin(angles)] if rotary else []
    words = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": rotary, "outputs": ("y", "k", "v"), **words}
    check("GroupQueryAttention", [query, key, value, *caches, lengths, total, *tables], **words)
    packed = np.concatenate([query, key, value], 2)
    check("GroupQueryAttention", [packed, None, None, *caches, lengths, total, *tables], constants=(5, 6), **words)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("past", "new", "bias", "sinks", "words"),
    [
        (0, 3, None, normal(4), {}),
        (4, 1, normal(1, 4, 1, 5), normal(4), {"softcap": 2.0}),
        (0, 3, normal(2, 1, 3, 3), None, {"smooth_softmax": 1, "local_window_size": 2}),
    ],
)
def test_grouped_queries_with_biases_and_sinks(
    past: int, new: int, bias: Array | None, sinks: Array | None, words: dict[str, Any]
) -> None:
    operands = [
        normal(2, new, 32),
        normal(2, new, 16),
        normal(2, new, 16),
        normal(2, 2, past, 8),
        normal(2, 2, past, 8),
    ]
    counts = [np.full(2, past + new - 1, np.int32), np.array(past + new, np.int32)]
    words = {"num_heads": 4, "kv_num_heads": 2, "outputs": ("y", "k", "v"), **words}
    check("GroupQueryAttention", [*operands, *counts, None, None, None, bias, sinks], **words)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        (
            "GroupQueryAttention",
            [normal(8), None, None, None, None, np.zeros(1, np.int32), np.array(1, np.int32)],
            {"num_heads": 2, "kv_num_heads": 1},
            "are expected, with keys and values or neither",
        ),
        (
            "GroupQueryAttention",
            [normal(1, 1, 8), normal(1, 1, 4), None, None, None, np.zeros(1, np.int32), np.array(1, np.int32)],
            {"num_heads": 2, "kv_num_heads": 1},
            "with keys and values or neither",
        ),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
