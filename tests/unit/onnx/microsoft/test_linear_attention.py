"""Recurrent attention of com.microsoft: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(6)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32) / 2


@pytest.mark.grid(2)
@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize("places", [1, 4])
def test_linear_attention(rule: str, places: int) -> None:
    decay = -np.abs(normal(2, places, 6)) if "gated" in rule else None
    rate = np.abs(normal(2, places, 2)) if "delta" in rule else None
    operands = [normal(2, places, 12), normal(2, places, 6), normal(2, places, 10), normal(2, 2, 3, 5)]
    words: dict[str, Any] = {"q_num_heads": 4, "kv_num_heads": 2, "update_rule": rule, "outputs": ("y", "state")}
    check("LinearAttention", [*operands, decay, rate], **words)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ([normal(2, 4, 7), normal(4, 1, 3), normal(4), normal(2, 4, 2)], {"dims": {0: ("n", 4, "s")}}),
        ([normal(2, 4, 1), normal(4, 1, 3), None, normal(2, 4, 2)], {"activation": "silu"}),
        ([normal(2, 4, 5), normal(4, 1, 3)], {"activation": "swish"}),
        ([normal(2, 4, 2), normal(4, 1, 1), normal(4)], {}),
    ],
)
def test_causal_convolutions(inputs: list[Array | None], words: dict[str, Any]) -> None:
    check("CausalConvWithState", inputs, outputs=("y", "state"), **words)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("LinearAttention", [normal(1, 1, 2)] * 3, {"state_window": 2}, "'state_window' is 2, only 0 is supported"),
        ("CausalConvWithState", [normal(1, 2, 3), normal(2, 1, 2)], {"dilation": 2}, "'dilation' is 2"),
        ("CausalConvWithState", [normal(1, 2), normal(2, 1, 2)], {}, "one axis and known filters are expected"),
        ("CausalConvWithState", [normal(1, 2, 3), normal()], {}, "one axis and known filters are expected"),
        ("CausalConvWithState", [normal(1, 2, 3), normal(2, 1, 2), None, normal(1, 2, 3)], {}, "1 places are expected"),
    ],
)
def test_forms_that_are_refused(op: str, inputs: list[Array | None], words: dict[str, Any], message: str) -> None:
    heads = {"q_num_heads": 1, "kv_num_heads": 1} if op == "LinearAttention" else {}
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **heads, **words))
