"""Settings that are inputs of the model: the interpreter takes them as they come."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.errors import InterpreterError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_repeats_that_are_computed() -> None:
    node = helper.make_node("Tile", ["x", "r"], ["y"])
    for shape in ((2, 3), ("n", 3)):
        inputs = [value("x", shape), value("r", (2,), TensorProto.INT64)]
        module = import_onnx(model([node], inputs, ["y"]))
        np.testing.assert_array_equal(run_relay(module, [X, np.array([2, 3])])[0], np.tile(X, (2, 3)))


@pytest.mark.parametrize("largest", [0, 1])
def test_a_k_that_is_computed(largest: int) -> None:
    node = helper.make_node("TopK", ["x", "k"], ["y", "i"], axis=-1, largest=largest)
    module = import_onnx(model([node], [value("x", (2, 3)), value("k", (1,), TensorProto.INT64)], ["y", "i"]))
    for k in range(4):
        values, places = run_relay(module, [X, np.array([k])])
        order = np.arange(3)[::-1] if largest else np.arange(3)
        np.testing.assert_array_equal(places, np.tile(order[:k], (2, 1)), strict=True)
        np.testing.assert_array_equal(values, X[:, order[:k]], strict=True)
    with pytest.raises(InterpreterError, match="k is 4, the axis has 3 elements"):
        run_relay(module, [X, np.array([4])])
