"""Attention, MultiHeadAttention and QAttention: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike
from onnx import TensorProto, helper
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, both, node_model
from support.onnx_models import model, value

from xrelay.errors import InterpreterError, XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def numbers(*shape: int, dtype: DTypeLike = np.uint8) -> Array:
    return RNG.integers(0, 256, shape).astype(dtype)


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


@pytest.mark.parametrize(("masked", "past"), [(False, False), (True, False), (False, True)])
def test_quantised_attention(masked: bool, past: bool) -> None:
    inputs: list[Array | None] = [numbers(2, 4, 6), numbers(6, 24), normal(24)]
    inputs += [np.array(0.02, np.float32), np.array(0.03, np.float32)]
    inputs += [np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32) if masked else None]
    inputs += [np.array(120, np.uint8), np.array(130, np.uint8)]
    inputs += [normal(2, 2, 2, 3, 4)] if past else []
    check("QAttention", inputs, num_heads=2, outputs=("y", "present") if past else ("y",))


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("Attention", [normal(1, 2, 4), normal(4, 13)], {"num_heads": 2}, "do not split into queries"),
        ("Attention", [normal(1, 2, 4), normal(4, 12)], {"num_heads": 3}, "does not split into 3 heads"),
        ("Attention", [normal(1, 2, 4), normal(4, 12)], {"num_heads": 2, "do_rotary": 1}, "not supported"),
        ("Attention", [normal(1, 2, 4), np.zeros((4, 0), np.float32)], {"num_heads": 2}, "do not split into queries"),
        ("MultiHeadAttention", [np.zeros((1, 2, 0), np.float32)] * 3, {"num_heads": 2}, "does not split into 2 heads"),
        ("MultiHeadAttention", [normal(), normal(1, 2, 4), normal(1, 2, 4)], {"num_heads": 2}, "a tensor with axes"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))


def test_lengths_of_another_batch_are_refused_where_the_program_runs() -> None:
    node = helper.make_node("Attention", ["x", "w", "", "m"], ["y"], domain=DOMAIN, num_heads=1)
    inputs = [value("x", ("n", 3, 4)), value("w", (4, 12)), value("m", ("k",), TensorProto.INT32)]
    proto = model([node], inputs, ["y"])
    proto.opset_import.add(domain=DOMAIN, version=1)
    module, weight = import_onnx(proto), np.ones((4, 12), np.float32)
    assert run_relay(module, [np.ones((2, 3, 4), np.float32), weight, np.array([3, 1], np.int32)])[0].shape == (2, 3, 4)
    with pytest.raises(InterpreterError, match="reshape_like"):
        run_relay(module, [np.ones((1, 3, 4), np.float32), weight, np.array([2, 0], np.int32)])
