"""Products of com.microsoft and the distances of CDist: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, node_model

from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def numbers(*shape: int, dtype: DTypeLike = np.uint8) -> Array:
    return RNG.integers(0, 256, shape).astype(dtype)


@pytest.mark.parametrize(
    ("op", "inputs", "words"),
    [
        ("FusedMatMul", [normal(2, 4, 3), normal(2, 5, 4)], {"transA": 1, "transB": 1, "alpha": 0.5}),
        ("FusedMatMul", [normal(3, 2, 4), normal(2, 4, 5)], {"transBatchA": 1}),
        ("FusedGemm", [normal(3, 4), normal(5, 4), normal(5)], {"transB": 1, "activation": "Relu"}),
        ("FusedGemm", [normal(3, 4), normal(4, 5)], {"activation": "LeakyRelu", "activation_alpha": 0.3}),
        (
            "FusedGemm",
            [normal(3, 4), normal(4, 5)],
            {"activation": "HardSigmoid", "activation_alpha": 0.2, "activation_beta": 0.3},
        ),
        ("CDist", [normal(4, 3), normal(5, 3)], {"metric": "euclidean", "dims": {0: ("n", 3)}}),
        ("CDist", [normal(1, 3), normal(5, 3)], {"metric": "sqeuclidean"}),
        ("MatMulInteger16", [numbers(3, 4, dtype=np.int16), numbers(4, 2, dtype=np.int16)], {}),
    ],
)
def test_products(op: str, inputs: list[Array | None], words: dict[str, Any]) -> None:
    check(op, inputs, **words)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("FusedGemm", [normal(1, 2), normal(2, 1)], {"activation": "Swoosh"}, "legal are"),
        ("FusedGemm", [normal(1, 2), normal(2, 1)], {"activation": "Clip"}, "expected"),
        ("CDist", [normal(3, 4), normal(2, 4)], {"metric": "cosine"}, "illegal value 'cosine'"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
