"""`xrelay.import_onnx` and `relay.frontend.from_onnx`, from a model to its results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from support.onnx_models import model, value
from xdsl.dialects.func import FuncOp

import xrelay
from xrelay import relay
from xrelay.errors import InputError, ModelImportError, TypeInferenceError
from xrelay.interpreters.relay import run_relay

X = np.arange(6, dtype=np.float32).reshape(2, 3)
W = np.arange(12, dtype=np.float32).reshape(3, 4)


def network() -> onnx.ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Reshape", ["p", "s"], ["y"]),
    ]
    weights = {"w": W, "s": np.array([-1])}
    return model(nodes, [value("x", ("n", 3))], ["y"], initializers=weights)


def test_import_onnx_takes_a_path_or_a_model(tmp_path: Path) -> None:
    onnx.save(network(), tmp_path / "m.onnx")
    for source in (network(), tmp_path / "m.onnx", network().SerializeToString()):
        module = xrelay.import_onnx(source, shapes={"x": (2, 3)})
        np.testing.assert_array_equal(run_relay(module, [X])[0], (X @ W).reshape(-1))


def test_frozen_parameters_are_constants() -> None:
    mod, params = relay.frontend.from_onnx(network(), {"x": (2, 3)})
    assert params == {}
    assert isinstance(mod, relay.IRModule)
    lib = relay.build(mod, "llvm", params=params)
    np.testing.assert_array_equal(lib.run({"x": X})[0], (X @ W).reshape(-1))


def test_free_parameters_are_given_to_build() -> None:
    mod, params = relay.frontend.from_onnx(network(), {"x": (2, 3)}, freeze_params=False)
    assert list(params) == ["w"]
    np.testing.assert_array_equal(params["w"], W)
    (function,) = (op for op in mod.ops if isinstance(op, FuncOp))
    assert len(function.args) == 2
    mod.verify()
    np.testing.assert_array_equal(run_relay(mod, [X, 2 * W])[0], (X @ W * 2).reshape(-1))
    lib = relay.build(mod, "llvm", params=params)
    np.testing.assert_array_equal(lib.run({"x": X})[0], (X @ W).reshape(-1))


def test_a_weight_that_is_a_result_is_a_parameter_too() -> None:
    proto = model([helper.make_node("Relu", ["x"], ["y"])], [value("x", (2,))], ["y", "w"], initializers={"w": W})
    mod, params = relay.frontend.from_onnx(proto, freeze_params=False)
    mod.verify()
    np.testing.assert_array_equal(run_relay(mod, [np.ones(2, np.float32), params["w"]])[1], W)


def test_dtype_is_for_inputs_without_one() -> None:
    proto = model([helper.make_node("Relu", ["x"], ["y"])], [value("x", (2,))], ["y"])
    proto.graph.input[0].type.tensor_type.elem_type = 0
    for dtype in ("float64", {"x": "float64"}):
        mod, _ = relay.frontend.from_onnx(proto, dtype=dtype)
        assert run_relay(mod, [np.array([-1.0, 1.0])])[0].dtype == np.float64
    with pytest.raises(ModelImportError, match="dtype names 'z'"):
        relay.frontend.from_onnx(proto, dtype={"z": "float32"})
    with pytest.raises(TypeInferenceError, match="dtype 'float33' has no element type"):
        relay.frontend.from_onnx(proto, dtype="float33")


def test_opset_stands_in_for_the_model_s() -> None:
    node = helper.make_node("Softmax", ["x"], ["y"], axis=0)
    proto = model([node], [value("x", (2, 3))], ["y"], opset=13)
    columns, _ = relay.frontend.from_onnx(proto)
    whole, _ = relay.frontend.from_onnx(proto, opset=11)
    np.testing.assert_allclose(run_relay(columns, [X])[0].sum(axis=0), 1, rtol=1e-6)
    np.testing.assert_allclose(run_relay(whole, [X])[0].sum(), 1, rtol=1e-6)
    with pytest.raises(InputError, match="there is no opset 0"):
        relay.frontend.from_onnx(proto, opset=0)
