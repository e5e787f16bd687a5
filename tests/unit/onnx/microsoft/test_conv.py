"""Convolutions of com.microsoft: interpreter and native code against onnxruntime, or Conv."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, agrees, check
from support.one_node import Array, both, node_model

from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(
    ("op", "inputs", "words"),
    [
        ("FusedConv", [normal(1, 2, 5, 5), normal(3, 2, 3, 3), normal(3)], {"activation": "Relu"}),
        (
            "FusedConv",
            [normal(1, 2, 5, 5), normal(3, 2, 3, 3), normal(3), normal(1, 3, 3, 3)],
            {"activation": "Clip", "activation_params": [-0.5, 0.5]},
        ),
        (
            "FusedConv",
            [normal(1, 2, 5), normal(3, 2, 3)],
            {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]},
        ),
        (
            "ConvTransposeWithDynamicPads",
            [normal(1, 2, 4, 4), normal(2, 3, 3, 3), np.array([1, 0, 1, 1]), normal(3)],
            {"constants": (2,), "strides": [2, 2]},
        ),
    ],
)
def test_convolutions(op: str, inputs: list[Array | None], words: dict[str, Any]) -> None:
    check(op, inputs, **words)


@pytest.mark.parametrize("op", ["NhwcConv", "NhwcFusedConv"])
def test_convolutions_of_last_channels(op: str) -> None:
    image, filters, bias = normal(1, 6, 5, 4), normal(6, 2, 2, 3), normal(6)
    words: dict[str, Any] = {"strides": [2, 1], "pads": [1, 0, 1, 0], "group": 2}
    x = np.ascontiguousarray(image.transpose(0, 3, 1, 2))
    (expected,) = both(node_model("Conv", [x, filters, bias], 17, **words), [x, filters, bias])[0]
    expected, weight = expected.transpose(0, 2, 3, 1), filters
    if op == "NhwcConv":
        weight = np.ascontiguousarray(filters.transpose(0, 2, 3, 1))
    agrees(op, [image, weight, bias], expected, **words)
    if op == "NhwcFusedConv":
        other = normal(*expected.shape)
        agrees(op, [image, weight, bias, other], np.maximum(expected + other, 0), activation="Relu", **words)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        (
            "ConvTransposeWithDynamicPads",
            [normal(1, 2, 4, 4), normal(2, 3, 3, 3), np.zeros(0, np.int64)],
            {"constants": (2,)},
            "pads",
        ),
        ("NhwcConv", [normal(2, 5), normal(1, 2, 5)], {}, "they have a batch, spatial axes and channels"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
