"""GroupQueryAttention: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, node_model
from xdsl.dialects.func import FuncOp

from xrelay.dialects.shared.types import shape_of
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.index_algebra.dims import shape_text

RNG = np.random.default_rng(8)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


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


@pytest.mark.grid(2)
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


@pytest.mark.parametrize(("buffer", "lengths"), [(8, [5, 3]), (6, [5, 0]), (5, [5, 4])])
def test_entries_of_different_lengths(buffer: int, lengths: list[int]) -> None:
    """Buffers for the longest entry, or more, with zeros in unused places, which onnxruntime clears."""
    query, key, value = normal(2, 1, 32), normal(2, 1, 16), normal(2, 1, 16)
    is_used = np.arange(buffer)[:, None] < np.array(lengths)[:, None, None, None]
    caches = [normal(2, 2, buffer, 8) * is_used for _ in range(2)]
    counts = [np.array(lengths, np.int32), np.array(max(lengths) + 1, np.int32)]
    words: dict[str, Any] = {"num_heads": 4, "kv_num_heads": 2, "outputs": ("y", "k", "v")}
    check("GroupQueryAttention", [query, key, value, *caches, *counts], **words)


def test_extents_of_caches_are_known() -> None:
    """The total length is an extent that the model narrows to i32."""
    nodes = [
        helper.make_node("Shape", ["mask"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["extent"]),
        helper.make_node("Cast", ["extent"], ["total"], to=TensorProto.INT32),
        helper.make_node(
            "GroupQueryAttention",
            ["q", "k", "v", "past_k", "past_v", "lengths", "total"],
            ["y", "present_k", "present_v"],
            domain=DOMAIN,
            num_heads=4,
            kv_num_heads=2,
        ),
    ]
    floats: dict[str, list[str | int]] = {
        "q": ["b", "s", 32],
        **{name: ["b", "s", 16] for name in ("k", "v")},
        **{name: ["b", 2, "p", 8] for name in ("past_k", "past_v")},
    }
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in floats.items()]
    inputs.append(helper.make_tensor_value_info("mask", TensorProto.INT64, ["b", "t"]))
    inputs.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, ["b"]))
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "present_k", "present_v")]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(np.array(1), "one")])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    module = import_onnx(helper.make_model(graph, opset_imports=opsets))
    (main,) = [op for op in module.walk() if isinstance(op, FuncOp)]
    shapes = [shape_text(shape_of(type)) for type in main.function_type.outputs.data]
    assert shapes == ["(b, s, 32)", *["(b, 2, max(p, t), 8)"] * 2]


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
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
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
