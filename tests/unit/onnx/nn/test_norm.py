"""BatchNormalization of every opset: inference, statistics for each element, training; Dropout's mask."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
NAMES = ["x", "s", "b", "m", "v"]
RNG = np.random.default_rng(11)
X = RNG.random((3, 2, 4, 5)).astype(np.float32)


def vectors(shape: tuple[int, ...]) -> list[Array]:
    """Scale, bias, mean and variance."""
    return [np.asarray(RNG.random(shape) + 0.5, np.float32) for _ in range(4)]


def node_model(inputs: list[Array], opset: int, outputs: int = 1, **attributes: Any) -> onnx.ModelProto:
    given = [
        value(name, ("n", *array.shape[1:]) if name == "x" else array.shape, kind_of(array))
        for name, array in zip(NAMES, inputs, strict=True)
    ]
    names = ["y", "rm", "rv"][:outputs]
    return model([helper.make_node("BatchNormalization", NAMES, names, **attributes)], given, names, opset=opset)


def kind_of(array: Array) -> int:
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def both(proto: onnx.ModelProto, inputs: list[Array]) -> list[list[Array]]:
    return [run_relay(import_onnx(proto), inputs), compile(proto, cache=False, threads=1).run(inputs)]


def normal(x: Array, s: Array, b: Array, m: Array, v: Array, epsilon: Array | float = 1e-5) -> Array:
    s, b, m, v = (each.reshape(-1, 1, 1) if each.ndim == 1 else each for each in (s, b, m, v))
    return (x - m) / np.sqrt(v + epsilon) * s + b


@pytest.mark.parametrize(
    ("opset", "attributes"), [(1, {"is_test": 1, "consumed_inputs": [0] * 5}), (6, {"is_test": 1}), (7, {}), (15, {})]
)
def test_inference(opset: int, attributes: dict[str, Any]) -> None:
    inputs = [X, *vectors((2,))]
    for (found,) in both(node_model(inputs, opset, **attributes), inputs):
        np.testing.assert_allclose(found, normal(X, *inputs[1:5]), rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.parametrize(("opset", "attributes"), [(6, {"is_test": 1}), (7, {})])
def test_statistics_for_each_element(opset: int, attributes: dict[str, Any]) -> None:
    inputs = [X, *vectors((2, 4, 5))]
    for (found,) in both(node_model(inputs, opset, spatial=0, **attributes), inputs):
        np.testing.assert_allclose(found, normal(X, *inputs[1:5]), rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.parametrize(
    ("data", "scale", "mean"),
    [
        (np.float32, np.float32, np.float32),
        (np.float16, np.float16, np.float32),
        (ml_dtypes.bfloat16, np.float32, np.float64),
        (np.float64, np.float64, np.float64),
    ],
)
def test_training_gives_the_statistics_in_their_types(data: type[Any], scale: type[Any], mean: type[Any]) -> None:
    types = [data, scale, scale, mean, mean]
    inputs = [array.astype(dtype) for array, dtype in zip([X, *vectors((2,))], types, strict=True)]
    proto = node_model(inputs, 15, 3, training_mode=1, momentum=0.75, epsilon=2**-7)
    x, s, b, m, v = (array.astype(np.float64) for array in inputs)
    current, spread = x.mean((0, 2, 3)), x.var((0, 2, 3))
    expected = [
        normal(x, s, b, current, spread, 2**-7), m * 0.75 + current * 0.25, v * 0.75 + spread * 0.25
    ]  # fmt: skip
    for found in both(proto, inputs):
        for array, wanted, dtype in zip(found, expected, (data, mean, mean), strict=True):
            assert array.dtype == dtype
            unit = {2: 2.0**-7, 4: 2.0**-23, 8: 2.0**-40}[array.dtype.itemsize]
            np.testing.assert_allclose(array.astype(np.float64), wanted, rtol=4 * unit, atol=4 * unit)


@pytest.mark.parametrize(
    ("opset", "outputs", "attributes", "words"),
    [
        (6, 1, {}, "'is_test' = 0"),
        (9, 3, {}, "output 'rm'"),
        (15, 3, {}, "output 'rm'"),
    ],
)
def test_training_is_refused(opset: int, outputs: int, attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelImportError, match=words):
        import_onnx(node_model([X, *vectors((2,))], opset, outputs, **attributes))


def test_the_mask_of_a_dropout_of_any_size() -> None:
    node = helper.make_node("Dropout", ["x", "r"], ["y", "mask"])
    proto = model([node], [value("x", ("n", 3)), value("r", ())], ["y", "mask"])
    x = np.array([[np.nan, 0, 1]], np.float32)
    for found, mask in both(proto, [x, np.array(0.5, np.float32)]):
        np.testing.assert_array_equal(found, x, strict=True)
        np.testing.assert_array_equal(mask, np.ones((1, 3), np.bool_), strict=True)
