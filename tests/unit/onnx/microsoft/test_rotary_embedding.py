"""RotaryEmbedding and MRotaryEmbedding: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, node_model

from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.grid(2)
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize(
    ("shape", "words"),
    [((2, 3, 8), {}), ((2, 2, 3, 4), {}), ((2, 3, 12), {"num_heads": 2, "rotary_embedding_dim": 4})],
)
def test_rotary_embedding(shape: tuple[int, ...], words: dict[str, Any], interleaved: int) -> None:
    angles = RNG.random((9, 2)).astype(np.float32)
    for ids in (np.array([2]), RNG.integers(0, 9, (2, 3))):
        inputs = [normal(*shape), ids, np.cos(angles), np.sin(angles)]
        check("RotaryEmbedding", inputs, interleaved=interleaved, **words)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((2, 5, 24), {"mrope_section": [2, 3, 1], "num_heads": 2}),
        ((2, 2, 5, 12), {"mrope_section": [2, 2, 2], "mrope_layout": 1, "interleaved": 1}),
        ((2, 2, 5, 14), {"mrope_section": [3, 2, 2], "mrope_layout": 1}),
    ],
)
def test_rotary_embeddings_of_images(shape: tuple[int, ...], words: dict[str, Any]) -> None:
    places = RNG.integers(0, 9, (3, 2, 5))
    tables = [normal(9, sum(words["mrope_section"])) for _ in range(2)]
    check("MRotaryEmbedding", [normal(*shape), places, *tables], **words)
    wrong: dict[str, Any] = {**words, "mrope_section": [1, 1, 1]}
    with pytest.raises(ModelImportError, match=r"mrope_section.*\[1, 1, 1\]; help: three numbers"):
        import_onnx(node_model("MRotaryEmbedding", [normal(*shape), places, *tables], 17, domain=DOMAIN, **wrong))


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("RotaryEmbedding", [normal(1, 2, 4), np.array([0]), np.array(1.0), normal(9, 2)], {}, "a tensor with axes"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
