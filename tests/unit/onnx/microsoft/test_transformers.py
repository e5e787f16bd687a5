"""Operators of com.microsoft for transformers: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, both, node_model
from support.onnx_models import model, value

from xrelay.errors import InterpreterError, ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("op", "inputs", "words"),
    [
        ("Gelu", [normal(2, 5)], {}),
        ("BiasGelu", [normal(2, 5), normal(5)], {"dims": {0: ("n", 5)}}),
        ("FastGelu", [normal(2, 5)], {}),
        ("FastGelu", [normal(2, 5), normal(5)], {}),
        ("QuickGelu", [normal(2, 5)], {"alpha": 0.7}),
        ("QuickGelu", [normal(2, 5)], {}),
        ("FusedMatMul", [normal(2, 4, 3), normal(2, 5, 4)], {"transA": 1, "transB": 1, "alpha": 0.5}),
        ("Trilu", [normal(3, 4)], {"upper": 0}),
        ("ExpandDims", [normal(3, 4), np.array(-2, np.int32)], {"constants": (1,)}),
        ("GatherND", [normal(3, 4), np.array([[0, 1], [2, 3]])], {}),
        ("FusedMatMul", [normal(3, 2, 4), normal(2, 4, 5)], {"transBatchA": 1}),
        ("FusedGemm", [normal(3, 4), normal(5, 4), normal(5)], {"transB": 1, "activation": "Relu"}),
        ("FusedGemm", [normal(3, 4), normal(4, 5)], {"activation": "LeakyRelu", "activation_alpha": 0.3}),
        (
            "FusedGemm",
            [normal(3, 4), normal(4, 5)],
            {"activation": "HardSigmoid", "activation_alpha": 0.2, "activation_beta": 0.3},
        ),
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
    ],
)
def test_activations_and_products(op: str, inputs: list[Array], words: dict[str, Any]) -> None:
    check(op, inputs, **words)


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


PADDED: list[Array | None] = [
    None,
    np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32),
    np.array([3, 2], np.int32),
    np.array([4, 3, 1, 0], np.int32),
    RNG.integers(0, 2, (2, 4, 4)).astype(np.int32),
]


@pytest.mark.grid(4)
@pytest.mark.parametrize("unidirectional", [0, 1])
@pytest.mark.parametrize("mask", PADDED)
def test_attention_with_masks(mask: Array | None, unidirectional: int) -> None:
    inputs = [normal(2, 4, 6), normal(6, 24), normal(24), mask]
    check("Attention", inputs, num_heads=2, unidirectional=unidirectional)


def test_attention_with_past_sizes_and_bias() -> None:
    past, bias = normal(2, 2, 2, 3, 4), normal(1, 2, 4, 4)
    outputs = ("y", "present")
    check("Attention", [normal(2, 4, 6), normal(6, 24), normal(24), None, past], num_heads=2, outputs=outputs)
    check("Attention", [normal(2, 4, 6), normal(6, 24), normal(24), None, None, bias], num_heads=2)
    inputs = [normal(2, 4, 6), normal(6, 24), normal(24), None, past]
    check("Attention", inputs, num_heads=2, outputs=outputs, unidirectional=1)
    check("Attention", [normal(2, 4, 6), normal(6, 22), normal(22)], num_heads=2, qkv_hidden_sizes=[8, 8, 6], scale=0.3)


MULTI: list[tuple[list[Array | None], dict[str, Any]]] = [
    ([normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 6)], {}),
    ([normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 6), normal(22)], {"scale": 0.2}),
    ([normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 8), None, np.array([[1] * 4 + [0], [1] * 5], np.int32)], {}),
    ([normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 8), None, None, normal(1, 2, 3, 5)], {}),
    ([normal(2, 3, 8), normal(2, 2, 5, 4), normal(2, 2, 5, 4)], {}),
    ([normal(2, 3, 8), normal(2, 3, 8), normal(2, 3, 8)], {"unidirectional": 1}),
    ([normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 6)], {"unidirectional": 1}),
    (
        [normal(2, 1, 8), normal(2, 1, 8), normal(2, 1, 8), None, None, None, normal(2, 2, 4, 4), normal(2, 2, 4, 4)],
        {"outputs": ("y", "k", "v")},
    ),
]


@pytest.mark.grid(4)
@pytest.mark.parametrize(("inputs", "words"), MULTI)
def test_attention_of_given_heads(inputs: list[Array | None], words: dict[str, Any]) -> None:
    check("MultiHeadAttention", inputs, num_heads=2, **words)


def test_heads_that_are_packed() -> None:
    query, key, value = normal(2, 5, 8), normal(2, 5, 8), normal(2, 5, 8)
    parts = [each.reshape(2, 5, 2, 4) for each in (query, key, value)]
    words: dict[str, Any] = {"domain": DOMAIN, "num_heads": 2}
    expected = both(node_model("MultiHeadAttention", [query, key, value], 17, **words), [query, key, value])[0][0]
    for inputs in ([np.stack(parts, 3)], [query, np.stack(parts[1:], 3)]):
        for (found,) in both(node_model("MultiHeadAttention", inputs, 17, **words), inputs):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_places_may_be_open() -> None:
    dims = {0: ("n", "s", 8), 1: ("n", "t", 8), 2: ("n", "t", 8)}
    inputs = [normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 8)]
    check("MultiHeadAttention", inputs, num_heads=2, dims=dims, unidirectional=0)
    inputs = [normal(2, 4, 6), normal(6, 24), normal(24)]
    check("Attention", inputs, num_heads=2, dims={0: ("n", "s", 6)}, unidirectional=1)


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
    ("op", "inputs", "words", "message"),
    [
        ("Attention", [normal(1, 2, 4), normal(4, 13)], {"num_heads": 2}, "do not split into queries"),
        ("Attention", [normal(1, 2, 4), normal(4, 12)], {"num_heads": 3}, "does not split into 3 heads"),
        ("Attention", [normal(1, 2, 4), normal(4, 12)], {"num_heads": 2, "do_rotary": 1}, "not supported"),
        ("Attention", [normal(1, 2, 4), np.zeros((4, 0), np.float32)], {"num_heads": 2}, "do not split into queries"),
        ("MultiHeadAttention", [np.zeros((1, 2, 0), np.float32)] * 3, {"num_heads": 2}, "does not split into 2 heads"),
        ("FusedGemm", [normal(1, 2), normal(2, 1)], {"activation": "Swoosh"}, "legal are"),
        ("FusedGemm", [normal(1, 2), normal(2, 1)], {"activation": "Clip"}, "expected"),
        ("SkipLayerNormalization", [normal(1, 2, 4)] * 2 + [normal(4)], {"outputs": ("y", "m")}, "outputs #1 and #2"),
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
        ("RotaryEmbedding", [normal(1, 2, 4), np.array([0]), np.array(1.0), normal(9, 2)], {}, "a tensor with axes"),
        ("MultiHeadAttention", [normal(), normal(1, 2, 4), normal(1, 2, 4)], {"num_heads": 2}, "a tensor with axes"),
        ("Range", [np.array(0), np.array(np.nan, np.float32)], {"constants": (0, 1)}, "the bounds of Range are"),
        ("Sampling", [normal(1, 2)], {}, "no converter for this op"),
    ],
)
def test_forms_that_are_refused(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))


def test_halves_are_computed_in_f32() -> None:
    x, weight = normal(2, 4, 8).astype(np.float16), normal(8, 24).astype(np.float16)
    half, whole = (
        node_model("Attention", each, 17, domain=DOMAIN, num_heads=2)
        for each in ([x, weight], [x.astype(np.float32), weight.astype(np.float32)])
    )
    expected = both(whole, [x.astype(np.float32), weight.astype(np.float32)])[0][0]
    for (found,) in both(half, [x, weight]):
        assert found.dtype == np.float16
        np.testing.assert_allclose(found.astype(np.float32), expected, rtol=1e-2, atol=1e-2)


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


def test_lengths_of_another_batch_are_refused_where_the_program_runs() -> None:
    node = helper.make_node("Attention", ["x", "w", "", "m"], ["y"], domain=DOMAIN, num_heads=1)
    inputs = [value("x", ("n", 3, 4)), value("w", (4, 12)), value("m", ("k",), TensorProto.INT32)]
    proto = model([node], inputs, ["y"])
    proto.opset_import.add(domain=DOMAIN, version=1)
    module, weight = import_onnx(proto), np.ones((4, 12), np.float32)
    assert run_relay(module, [np.ones((2, 3, 4), np.float32), weight, np.array([3, 1], np.int32)])[0].shape == (2, 3, 4)
    with pytest.raises(InterpreterError, match="reshape_like"):
        run_relay(module, [np.ones((1, 3, 4), np.float32), weight, np.array([2, 0], np.int32)])
