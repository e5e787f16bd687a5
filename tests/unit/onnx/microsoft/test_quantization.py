"""Quantised operators of com.microsoft: interpreter and native code against onnxruntime, within one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from onnx import helper
from support.one_node import Array, both, inputs_by_name, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(9)


def number(value: float, dtype: type[Any] = np.float32) -> Array:
    return np.array(value, dtype)


def integers(shape: Sequence[int], dtype: type[Any]) -> Array:
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max, tuple(shape), endpoint=True).astype(dtype)


def weights(shape: Sequence[int], dtype: type[Any]) -> Array:
    """Weights of 7 bits: without VNNI onnxruntime adds two byte products in 16 bits, which saturates for 8 bits."""
    return integers(shape, dtype) // 2


def check(op: str, inputs: Sequence[Array | None], *, constants: Sequence[int] = (), **words: Any) -> None:
    """Checks that results are within a step of onnxruntime's, which rounds in another order; most must be equal."""
    of_softmax = words.pop("opset_of_softmax", None)
    proto = node_model(op, inputs, 17, domain="com.microsoft", constants=constants, **words)
    if of_softmax is not None:
        proto.graph.node[0].attribute.append(helper.make_attribute("opset", of_softmax))
    expected = onnxruntime_outputs(proto, inputs_by_name(proto, inputs))
    assert expected is not None
    for found in both(proto, inputs):
        ours, theirs = found[0], expected[0]
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        if ours.dtype == np.float32:
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-3)
            continue
        assert np.abs(ours.astype(np.int32) - theirs.astype(np.int32)).max() <= 1
        assert np.mean(ours == theirs) > 0.95


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_arithmetic(op: str, dtype: type[Any]) -> None:
    a, b = integers((2, 3, 5), dtype), integers((3, 1), dtype)
    zeros = [number(value, dtype) for value in (3, 100, 7)]
    scales = [number(value) for value in (0.0213, 0.0507, 0.0977 if op == "QLinearAdd" else 0.2931)]
    inputs = [a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2]]
    check(op, inputs, dims={0: ("n", 3, 5)})


def test_sums_of_known_scales_are_between_dequantize_and_quantize() -> None:
    """Passes on quantised models transform these ops."""
    a, b = integers((40, 64), np.uint8), integers((40, 64), np.uint8)
    parameters = [number(0.0213), number(120, np.uint8)], [number(0.0507), number(7, np.uint8)]
    inputs = [a, *parameters[0], b, *parameters[1], number(0.0977), number(90, np.uint8)]
    constants = (1, 2, 4, 5, 6, 7)
    check("QLinearAdd", inputs, constants=constants)
    module = import_onnx(node_model("QLinearAdd", inputs, 17, domain="com.microsoft", constants=constants))
    names = [op.name for op in module.walk()]
    assert names.count("relay.qnn.dequantize") == 2
    assert names.count("relay.qnn.quantize") == 1


def test_several_constant_zero_points_are_refused() -> None:
    a = integers((4, 2), np.uint8)
    inputs = [a, number(0.5), np.array([1, 2], np.uint8), a, number(0.5), number(3, np.uint8), number(1.0)]
    model = node_model("QLinearAdd", inputs, 17, domain="com.microsoft", constants=(1, 2, 4, 5, 6))
    with pytest.raises(ModelImportError, match=r"input #2 is .*: one number is expected"):
        import_onnx(model)


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("QLinearSigmoid", {}),
        ("QLinearLeakyRelu", {"alpha": 0.2}),
        ("QLinearSoftmax", {"axis": -1, "opset_of_softmax": 13}),
        ("QLinearSoftmax", {"axis": 2, "opset_of_softmax": 12}),
        ("QLinearGlobalAveragePool", {"channels_last": 0}),
        ("QLinearGlobalAveragePool", {"channels_last": 1}),
        ("QLinearAveragePool", {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}),
        ("QLinearAveragePool", {"kernel_shape": [2, 2], "channels_last": 1}),
    ],
)
def test_one_operand(op: str, words: dict[str, Any], dtype: type[Any]) -> None:
    scale = 1 / 256 if op in ("QLinearSigmoid", "QLinearSoftmax") else 0.05
    result_zero = 0 if dtype is np.uint8 else -128
    inputs = [integers((2, 4, 5, 6), dtype), number(0.04), number(5, dtype), number(scale), number(result_zero, dtype)]
    check(op, inputs, constants=(1, 2, 3, 4), **words)


def test_joins_and_choices() -> None:
    parts = [integers((2, 3), np.uint8), integers((2, 5), np.uint8)]
    inputs = [
        number(0.1),
        number(9, np.uint8),
        parts[0],
        number(0.05),
        number(1, np.uint8),
        parts[1],
        number(0.2),
        number(99, np.uint8),
    ]
    check("QLinearConcat", inputs, constants=(0, 1, 3, 4, 6, 7), axis=1)
    condition, x, y = np.array([[True], [False]]), integers((2, 4), np.int8), integers((2, 4), np.int8)
    numbers = [number(0.1), number(3, np.int8), number(0.2), number(-7, np.int8), number(0.15), number(1, np.int8)]
    check("QLinearWhere", [condition, x, *numbers[:2], y, *numbers[2:]], constants=(2, 3, 5, 6, 7, 8))


@pytest.mark.parametrize("last", [0, 1])
def test_convolutions(last: int) -> None:
    x, w = integers((1, 6, 5, 4) if last else (1, 4, 6, 5), np.uint8), weights((4, 2, 3, 3), np.int8)
    each = np.array([0.02, 0.05, 0.01, 0.03], np.float32)
    inputs = [x, number(0.04), number(9, np.uint8), w, each, np.zeros(4, np.int8), number(0.9), number(120, np.uint8)]
    inputs.append(np.arange(4).astype(np.int32))
    words: dict[str, Any] = {"channels_last": last, "group": 2, "pads": [1, 0, 1, 1], "strides": [2, 1]}
    check("QLinearConv", inputs, constants=tuple(range(1, 9)), **words)


@pytest.mark.parametrize("axis", [None, 0])
def test_there_and_back(axis: int | None) -> None:
    shape = () if axis is None else (3,)
    words: dict[str, Any] = {} if axis is None else {"axis": axis}
    scale, zero = np.full(shape, 0.1, np.float32), np.full(shape, 7, np.uint8)
    check("QuantizeLinear", [RNG.normal(size=(3, 4)).astype(np.float32), scale, zero], **words)
    check("DequantizeLinear", [integers((3, 4), np.uint8), scale, zero], **words)


@pytest.mark.grid(2)
@pytest.mark.parametrize("columns", [(), (5,)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_products(columns: tuple[int, ...], dtype: type[Any]) -> None:
    b, scale, zero = weights((4, 5), dtype), np.full(columns, 0.02, np.float32), np.full(columns, 3, dtype)
    x, bias = RNG.normal(size=(2, 3, 4)).astype(np.float32), RNG.normal(size=5).astype(np.float32)
    check("DynamicQuantizeMatMul", [x, b, scale, zero, bias], constants=(1, 2, 3, 4))
    check("DynamicQuantizeMatMul", [x, b, scale], constants=(1, 2))
    a = integers((2, 3, 4), np.uint8)
    check(
        "MatMulIntegerToFloat",
        [a, b, number(0.01), scale, number(9, np.uint8), zero, bias],
        constants=(1, 2, 3, 4, 5, 6),
    )


@pytest.mark.parametrize("result", ["float", "quantised"])
@pytest.mark.parametrize("turned", [0, 1])
def test_gemm(turned: int, result: str) -> None:
    a, b = integers((4, 3) if turned else (3, 4), np.uint8), weights((5, 4) if turned else (4, 5), np.int8)
    c = RNG.integers(-999, 999, 5).astype(np.int32)
    inputs = [a, number(0.01), number(7, np.uint8), b, number(0.02), number(3, np.int8), c]
    if result == "quantised":
        inputs += [number(0.3), number(100, np.uint8)]
    check("QGemm", inputs, transA=turned, transB=turned, alpha=0.5)
