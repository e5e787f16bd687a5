"""Compress in the interpreter: behaviour that onnx's cases do not cover."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_a_constant_condition_chooses_at_import(axis: int | None) -> None:
    x, condition = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([False, True])
    node = helper.make_node("Compress", ["x", "c"], ["y"], **({} if axis is None else {"axis": axis}))
    module = import_onnx(model([node], [value("x", (2, 3))], ["y"], initializers={"c": condition}))
    assert "relay.compress" not in str(module)
    np.testing.assert_array_equal(run_relay(module, [x])[0], np.compress(condition, x, axis))


def test_a_condition_of_an_open_axis() -> None:
    node = helper.make_node("Compress", ["x", "c"], ["y"], axis=0)
    module = import_onnx(model([node], [value("x", ("n", 2)), value("c", ("m",), TensorProto.BOOL)], ["y"]))
    assert "n - m >= 0" in str(module) or "n >= m" in str(module)
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(run_relay(module, [x, np.array([False, True])])[0], x[1:2])
