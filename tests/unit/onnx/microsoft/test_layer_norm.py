"""Normalisations of com.microsoft: against onnxruntime, or their formulas without its support."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, both, node_model

from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


SUM = ("y", "", "", "sum")


@pytest.mark.parametrize("outputs", [("y",), SUM])
def test_normalised_sums(outputs: tuple[str, ...]) -> None:
    x, skip, gamma, beta, bias = normal(2, 3, 8), normal(2, 3, 8), normal(8), normal(8), normal(8)
    check(
        "SkipLayerNormalization",
        [x, skip, gamma, beta, bias],
        outputs=outputs,
        dims={0: ("n", "s", 8), 1: ("n", "s", 8)},
    )
    check("SkipLayerNormalization", [x, skip, gamma], outputs=outputs, epsilon=1e-3)
    check("SkipLayerNormalization", [x, skip[:1], gamma, None, bias], outputs=outputs)
    check("SkipSimplifiedLayerNormalization", [x, skip, gamma], outputs=outputs, epsilon=1e-5)
    check("SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], outputs=outputs)


def test_normalisations_that_onnxruntime_writes_in_the_default_domain() -> None:
    x, scale = normal(2, 3, 8), normal(8)
    check("SimplifiedLayerNormalization", [x, scale], domain="", epsilon=1e-5)
    check("SimplifiedLayerNormalization", [x, normal(3, 8)], domain="", axis=1)
    check("LayerNormalization", [x, scale, normal(8)], domain="", opset=12)


@pytest.mark.parametrize("form", ["whole", "bare", "places"])
def test_embeddings(form: str) -> None:
    ids, segments = RNG.integers(0, 9, (2, 4)).astype(np.int32), RNG.integers(0, 2, (2, 4)).astype(np.int32)
    mask = np.array([[1, 1, 0, 0], [1, 1, 1, 0]], np.int32)
    tables = [normal(9, 8), normal(6, 8), normal(2, 8)]
    vectors = [normal(8), normal(8)]
    outputs = ("y", "mask_index", "sum")
    if form == "whole":
        check("EmbedLayerNormalization", [ids, segments, *tables, *vectors, mask], outputs=outputs)
    elif form == "bare":
        check("EmbedLayerNormalization", [ids, None, *tables[:2], None, *vectors], outputs=("y", "mask_index"))
    else:
        places = np.array([[5, 0, 1, 2]], np.int32)
        check("EmbedLayerNormalization", [ids, segments, *tables, *vectors, None, places], outputs=("y", "", "sum"))


def table_of_bytes(*shape: int, dtype: type[Any]) -> tuple[Array, Array, Array]:
    """Integers, their scale and their zero point."""
    limits = np.iinfo(dtype)
    numbers = RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return numbers, np.array(RNG.uniform(0.005, 0.02), np.float32), np.array(RNG.integers(0, 100), dtype)


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("whole", [True, False])
def test_embeddings_of_bytes(dtype: type[Any], whole: bool) -> None:
    ids, segments = RNG.integers(0, 9, (2, 4)).astype(np.int32), RNG.integers(0, 2, (2, 4)).astype(np.int32)
    shapes: list[tuple[int, ...]] = [(9, 8), (6, 8), (2, 8), (8,), (8,)]
    tables: list[tuple[Array | None, ...]] = [table_of_bytes(*shape, dtype=dtype) for shape in shapes]
    mask = np.array([[1, 1, 0, 0], [1, 1, 1, 0]], np.int32) if whole else None
    if not whole:
        tables[2] = (None, None, None)
    numbers, scales, points = zip(*tables, strict=True)
    inputs: list[Array | None] = [ids, segments if whole else None, *numbers, mask, *scales, *points]
    check("QEmbedLayerNormalization", inputs, outputs=("y", "mask_index"), dims={0: ("n", "s"), 1: ("n", "s")})


def normalised(x: Array, gamma: Array, beta: Array, groups: int) -> Array:
    """Group normalization of images with channels last."""
    parts = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    mean, variance = parts.mean((1, 3), keepdims=True), parts.var((1, 3), keepdims=True)
    return ((parts - mean) / np.sqrt(variance + 1e-5)).reshape(x.shape) * gamma + beta


@pytest.mark.parametrize("last", [0, 1])
def test_groups_of_channels(last: int) -> None:
    x, skip, gamma, beta, bias = normal(2, 3, 5, 6), normal(2, 6), normal(6), normal(6), normal(6)
    turned = x if last else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    words: dict[str, Any] = {"groups": 3, "channels_last": last, "domain": DOMAIN}
    for activation in (0, 1):
        for inputs, total in (
            ([turned, gamma, beta], x),
            ([turned, gamma, beta, skip, bias], x + skip[:, None, None] + bias),
        ):
            op, outputs = ("GroupNorm", ("y",)) if len(inputs) == 3 else ("SkipGroupNorm", ("y", "sum"))
            expected = normalised(total, gamma, beta, 3)
            expected = expected / (1 + np.exp(-expected)) if activation else expected
            for found in both(node_model(op, inputs, 17, outputs=outputs, activation=activation, **words), inputs):
                for ours, wanted in zip(found, (expected, total), strict=False):
                    wanted = wanted if last else wanted.transpose(0, 3, 1, 2)
                    np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("SkipLayerNormalization", [normal(1, 2, 4)] * 2 + [normal(4)], {"outputs": ("y", "m")}, "outputs #1 and #2"),
        (
            "EmbedLayerNormalization",
            [np.zeros(2, np.int32), None, normal(9, 4), normal(6, 4), None, normal(4), normal(4)],
            {},
            "has no axis 1",
        ),
        ("GroupNorm", [normal(2, 6), normal(6), normal(6)], {"groups": 2, "activation": 0}, "images of"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
