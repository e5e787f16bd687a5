"""MoE and QMoE against onnxruntime, whose CPU kernels only support the interleaved gated layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, both, inputs_by_name, node_model

from xrelay.api.compile import compile
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(77)
EXPERTS, HIDDEN, INNER, TOKENS = 4, 32, 16, 5
GATED = {"activation_type": "swiglu", "activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 1.0}


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def plain(*, twice: int = 1, shape: Sequence[int] = (TOKENS, HIDDEN)) -> list[Array | None]:
    """Tokens, the router's scores, and the two layers with biases."""
    rows = twice * INNER
    layers = [normal(EXPERTS, rows, HIDDEN), normal(EXPERTS, rows)]
    layers += [normal(EXPERTS, HIDDEN, INNER), normal(EXPERTS, HIDDEN)]
    return [normal(*shape), normal(TOKENS, EXPERTS), *layers]


@pytest.mark.grid(3)
@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "identity"])
@pytest.mark.parametrize(("k", "normalized"), [(1, 0), (2, 1), (3, 0)])
def test_a_mixture(activation: str, k: int, normalized: int) -> None:
    inputs = plain()
    if k == 3:
        inputs[3] = inputs[5] = None
    check("MoE", inputs, k=k, normalize_routing_weights=normalized, activation_type=activation)


def test_batches_of_open_extents() -> None:
    inputs = plain(shape=(1, TOKENS, HIDDEN))
    check("MoE", inputs, k=2, dims={0: ("b", "t", HIDDEN), 1: ("n", EXPERTS)}, constants=(2, 3, 4, 5))


def test_as_many_scores_as_tokens_are_demanded() -> None:
    inputs = plain(shape=(1, TOKENS, HIDDEN))
    tokens, scores = inputs[:2]
    assert tokens is not None
    assert scores is not None
    proto = node_model("MoE", inputs, 17, domain=DOMAIN, k=2, dims={1: ("n", EXPERTS)}, constants=(2, 3, 4, 5))
    model = compile(proto, cache=False, threads=1)
    for given in ([tokens, scores[:1]], [tokens[:, :1], scores]):
        with pytest.raises(XRelayError):
            model.run(given)
        with pytest.raises(XRelayError, match="reshape_like C2"):
            import_onnx(node_model("MoE", [*given, *inputs[2:]], 17, domain=DOMAIN, k=2))


def test_experts_that_no_token_chooses_do_not_count() -> None:
    inputs = plain()
    scores = np.zeros((TOKENS, EXPERTS), np.float32)
    scores[:, 2] = 9.0
    inputs[1] = scores
    weights = inputs[2]
    assert weights is not None
    weights[0] = np.nan
    check("MoE", inputs, k=1)


@pytest.mark.parametrize("fusion", [0, 1, 2])
def test_gated_layers_stand_in_three_ways(fusion: int) -> None:
    """Interleaved, as onnxruntime supports; concatenated; and in a separate layer."""
    inputs = plain(twice=2)
    proto = node_model("MoE", inputs, 17, domain=DOMAIN, k=2, swiglu_fusion=1, **GATED)
    expected = onnxruntime_outputs(proto, inputs_by_name(proto, inputs))
    assert expected is not None
    for index in (2, 3):
        value = inputs[index]
        assert value is not None
        halves = value[:, 0::2], value[:, 1::2]
        if fusion == 2:
            inputs[index] = np.concatenate(halves, axis=1)
        elif fusion == 0:
            inputs[index] = halves[0]
            inputs.append(halves[1])
    turned = node_model("MoE", inputs, 17, domain=DOMAIN, k=2, swiglu_fusion=fusion, **GATED)
    for found in both(turned, inputs):
        np.testing.assert_allclose(found[0], expected[0], rtol=2e-4, atol=2e-5)


def test_a_third_layer_is_a_factor() -> None:
    """As in the gated form of other activations; here the factor is all ones."""
    inputs = plain()
    proto = node_model("MoE", inputs, 17, domain=DOMAIN, k=2, activation_type="silu")
    expected = onnxruntime_outputs(proto, inputs_by_name(proto, inputs))
    assert expected is not None
    inputs += [np.zeros((EXPERTS, INNER, HIDDEN), np.float32), np.full((EXPERTS, INNER), 2.0, np.float32)]
    last = inputs[4]
    assert last is not None
    inputs[4] = last / 2
    gated = node_model("MoE", inputs, 17, domain=DOMAIN, k=2, activation_type="silu")
    for found in both(gated, inputs):
        np.testing.assert_allclose(found[0], expected[0], rtol=2e-4, atol=2e-5)


def packed(rows: int, columns: int, bits: int, block: int, *, points: bool) -> tuple[Array, Array, Array | None]:
    """Weights, scales and zero points of a layer."""
    weights = RNG.integers(0, 256, (EXPERTS, rows, columns * bits // 8), np.uint8)
    blocks = columns // block if block else 1
    scales = np.abs(normal(EXPERTS, rows, blocks)) * 0.1
    shape = (EXPERTS, rows, -(-blocks * bits // 8)) if block else (EXPERTS, -(-rows * bits // 8))
    zero = RNG.integers(0, 256, shape, np.uint8) if points else None
    return weights, scales if block else scales[:, :, 0], zero


@pytest.mark.grid(4)
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("block", [0, 16])
@pytest.mark.parametrize("points", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_packed_weights(bits: int, block: int, points: bool, known: bool) -> None:
    first, second = packed(32, HIDDEN, bits, block, points=points), packed(HIDDEN, 16, bits, block, points=points)
    inputs = [normal(TOKENS, HIDDEN), normal(TOKENS, EXPERTS), *first[:2], normal(EXPERTS, 32), *second[:2]]
    inputs += [normal(EXPERTS, HIDDEN), None, None, None, first[2], second[2]]
    while inputs[-1] is None:
        inputs.pop()
    words: dict[str, Any] = {"block_size": block} if block else {}
    if known:
        words["constants"] = tuple(index for index in range(2, len(inputs)) if inputs[index] is not None)
    check("QMoE", inputs, k=2, expert_weight_bits=bits, swiglu_fusion=1, **GATED, **words)


def test_constant_weights_stay_packed() -> None:
    first, second = packed(16, HIDDEN, 4, 0, points=False), packed(HIDDEN, 16, 4, 0, points=False)
    inputs = [normal(TOKENS, HIDDEN), normal(TOKENS, EXPERTS), *first[:2], None, *second[:2]]
    products = list[tuple[int, int]]()
    for constants in ((2, 3, 5, 6), (2, 5)):
        module = import_onnx(node_model("QMoE", inputs, 17, domain=DOMAIN, constants=constants))
        names = [op.name for op in module.walk()]
        products.append((names.count("relay.qnn.block_dense"), names.count("relay.nn.dense")))
    assert products == [(2, 0), (0, 2)]


@pytest.mark.parametrize("normalized", [0, 1])
def test_weights_beside_the_scores(normalized: int) -> None:
    first, second = packed(16, HIDDEN, 4, 0, points=False), packed(HIDDEN, 16, 4, 0, points=False)
    inputs = [normal(TOKENS, HIDDEN), normal(TOKENS, EXPERTS), *first[:2], normal(EXPERTS, 16), *second[:2]]
    inputs += [normal(EXPERTS, HIDDEN), *[None] * 6, np.abs(normal(TOKENS, EXPERTS))]
    check("QMoE", inputs, k=2, activation_type="silu", normalize_routing_weights=normalized)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"k": 5}, "illegal value 5; help: a number from 1 to 4"),
        ({"activation_type": "geglu", "swiglu_fusion": 2}, "geglu"),
        ({"activation_type": "swiglu"}, "swiglu_fusion is 0, and the layer FC3 is not there"),
        ({"activation_type": "swiglu", "swiglu_fusion": 1}, r"of FC2 \(4, 32, 8\) is expected"),
        ({"use_sparse_mixer": 1}, "sparse mixers"),
    ],
)
def test_refusals(words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model("MoE", plain(), 17, domain=DOMAIN, **words))
