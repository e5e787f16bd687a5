"""Gates of com.microsoft: against onnxruntime if its CPU provider has them, else against their formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, agrees, check
from support.one_node import Array, node_model

from xrelay.errors import XRelayError
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


def test_swiglu() -> None:
    gate, up = normal(2, 4), normal(2, 4)
    agrees("SwiGLU", [gate, up], gate * sigmoid(gate) * up)
    agrees("SwiGLU", [np.concatenate([gate, up], 1)], gate * sigmoid(gate) * up)
    bounded, linear = np.minimum(gate, 0.5), np.clip(up, -0.5, 0.5)
    words = {"limit": 0.5, "activation_alpha": 1.5, "activation_beta": 1.0, "round_activation": 1}
    agrees("SwiGLU", [gate, up], bounded * sigmoid(np.float32(1.5) * bounded) * (linear + 1), **words)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("GatedRMSNorm", [normal(2, 5), normal(3), normal(2, 5)], {}, "does not split into parts"),
        ("GatedAdd", [normal(2, 5), normal(2, 5), normal(2, 3), normal(3, 1)], {}, "a gate that is projected"),
        ("SwiGLU", [normal(2, 5)], {}, "does not split into halves"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
