"""Activations of com.microsoft and the sums before them: against onnxruntime, or their formulas."""

from __future__ import annotations

from math import erf, sqrt
from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, agrees, check
from support.one_node import Array, node_model

from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(
    ("op", "inputs", "words"),
    [
        ("Gelu", [normal(2, 5)], {}),
        ("BiasGelu", [normal(2, 5), normal(5)], {"dims": {0: ("n", 5)}}),
        ("FastGelu", [normal(2, 5)], {}),
        ("FastGelu", [normal(2, 5), normal(5)], {}),
        ("QuickGelu", [normal(2, 5)], {"alpha": 0.7}),
        ("QuickGelu", [normal(2, 5)], {}),
    ],
)
def test_activations(op: str, inputs: list[Array | None], words: dict[str, Any]) -> None:
    check(op, inputs, **words)


def test_sums() -> None:
    x, bias, skip = normal(2, 3, 4), normal(4), normal(2, 3, 4)
    agrees("BiasAdd", [x, bias, skip], x + bias + skip)
    first, second = np.split(x + bias, 2, axis=2)
    gelu = second * (1 + np.vectorize(erf)(second / sqrt(2)).astype(np.float32)) / 2
    agrees("BiasSplitGelu", [x, bias], first * gelu)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("BiasSplitGelu", [normal(2, 5), normal(5)], {}, "does not split into halves"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
