"""Sums and gates of com.microsoft: against onnxruntime if its CPU provider has them, else against their formulas."""

from __future__ import annotations

from math import erf, sqrt
from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, both, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(9)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("op", "inputs", "words"),
    [
        ("GatedRMSNorm", [normal(2, 3, 12), normal(4), normal(2, 3, 12)], {"epsilon": 0.1}),
        ("GatedRMSNorm", [normal(2, 12), normal(12), normal(2, 12)], {"activation": "sigmoid"}),
        ("GatedAdd", [normal(2, 3, 5), normal(2, 3, 5), normal(2, 3, 1)], {"dims": {0: ("n", 3, 5)}}),
        ("ScaledSiLU", [normal(2, 3)], {"alpha": 0.7}),
        ("ScaledSiLU", [normal(2, 3), np.array(0.3, np.float32)], {}),
        ("LinearAttentionGate", [normal(2, 3, 4), normal(4), normal(4), normal(2, 3, 4)], {"outputs": ("y", "b")}),
        ("LinearAttentionGate", [normal(2, 3, 4), normal(4), normal(4)], {}),
    ],
)
def test_gates(op: str, inputs: list[Array], words: dict[str, Any]) -> None:
    check(op, inputs, **words)


def agrees(op: str, inputs: list[Array | None], expected: Array, **words: Any) -> None:
    """Checks that interpreter and native code agree with the formula."""
    for (found,) in both(node_model(op, inputs, 17, domain=DOMAIN, **words), inputs):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, strict=True)


def test_swiglu() -> None:
    gate, up = normal(2, 4), normal(2, 4)
    agrees("SwiGLU", [gate, up], gate * sigmoid(gate) * up)
    agrees("SwiGLU", [np.concatenate([gate, up], 1)], gate * sigmoid(gate) * up)
    bounded, linear = np.minimum(gate, 0.5), np.clip(up, -0.5, 0.5)
    words = {"limit": 0.5, "activation_alpha": 1.5, "activation_beta": 1.0, "round_activation": 1}
    agrees("SwiGLU", [gate, up], bounded * sigmoid(np.float32(1.5) * bounded) * (linear + 1), **words)


def test_sums() -> None:
    x, bias, skip = normal(2, 3, 4), normal(4), normal(2, 3, 4)
    agrees("BiasAdd", [x, bias, skip], x + bias + skip)
    first, second = np.split(x + bias, 2, axis=2)
    gelu = second * (1 + np.vectorize(erf)(second / sqrt(2)).astype(np.float32)) / 2
    agrees("BiasSplitGelu", [x, bias], first * gelu)


@pytest.mark.parametrize(("shape", "axis"), [((2, 1, 1, 5), 3), ((4, 5), -1), ((2, 3, 4, 5), 2)])
def test_softmax_of_sums(shape: tuple[int, ...], axis: int) -> None:
    x, bias = normal(2, 3, 4, 5), normal(*shape)
    last = (2, 3) if axis == 2 else (3,)
    weights = np.exp(x + bias)
    agrees("BiasSoftmax", [x, bias], weights / weights.sum(last, keepdims=True), axis=axis, is_inner_broadcast=1)


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
    ("op", "inputs", "message"),
    [
        ("GatedRMSNorm", [normal(2, 5), normal(3), normal(2, 5)], "does not split into parts"),
        ("GatedAdd", [normal(2, 5), normal(2, 5), normal(2, 3), normal(3, 1)], "a gate that is projected"),
        ("SwiGLU", [normal(2, 5)], "does not split into halves"),
        ("BiasSplitGelu", [normal(2, 5), normal(5)], "does not split into halves"),
        ("BiasSoftmax", [normal(2, 5), normal(1, 2, 5)], "the bias tensor<1x2x5xf32> "),
        ("NhwcConv", [normal(2, 5), normal(1, 2, 5)], "they have a batch, spatial axes and channels"),
    ],
)
def test_forms_that_are_refused(op: str, inputs: list[Array], message: str) -> None:
    words: dict[str, Any] = {"axis": 1, "is_inner_broadcast": 0} if op == "BiasSoftmax" else {}
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
