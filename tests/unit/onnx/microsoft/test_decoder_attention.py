"""DecoderMaskedMultiHeadAttention of com.microsoft: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

OP = "DecoderMaskedMultiHeadAttention"
RNG = np.random.default_rng(2)
MASK = np.array([[1] * 6, [1] * 3 + [0] * 3], np.int32)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


NEW = [normal(2, 1, 12) for _ in range(3)]
BUFFERS = [normal(2, 3, 9, 4) for _ in range(2)]


@pytest.mark.parametrize(
    ("mask", "bias", "past", "projection", "words"),
    [
        (None, None, 5, None, {}),
        (MASK, None, 5, normal(36), {}),
        (None, normal(2, 3, 1, 6), 5, None, {"scale": 0.3}),
        (None, None, 0, None, {}),
    ],
)
def test_buffers(
    mask: Array | None, bias: Array | None, past: int, projection: Array | None, words: dict[str, Any]
) -> None:
    inputs = [*NEW, mask, bias, *BUFFERS, np.array([past], np.int32), None, None, projection]
    check(OP, inputs, num_heads=3, past_present_share_buffer=1, outputs=("y", "key", "value"), **words)


@pytest.mark.parametrize("mask", [None, MASK])
def test_keys_of_an_encoder(mask: Array | None) -> None:
    check(OP, [NEW[0], normal(2, 3, 6, 4), normal(2, 3, 6, 4), mask], num_heads=3)


def test_beams_are_refused() -> None:
    inputs = [*NEW, None, None, *BUFFERS, *[np.array([2], np.int32)] * 2, np.zeros((1, 2, 9), np.int32)]
    with pytest.raises(ModelImportError, match="beams and the scores"):
        import_onnx(node_model(OP, inputs, 17, domain=DOMAIN, num_heads=3, past_present_share_buffer=1))
