"""`xrelay.quantize`: ONNX models, files and modules, calibrated on data, with accurate defaults for 8 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.float_networks import batches, residual_network, signal_to_noise

import xrelay
from xrelay import relay
from xrelay.api.sources import save_module
from xrelay.errors import InputError
from xrelay.passes.infra.verify import walk_ops


def onnx_model() -> onnx.ModelProto:
    rng = np.random.default_rng(0)
    arrays = {"w": (8, 3, 3, 3), "b": (8,), "v": (4, 8, 1, 1), "dense": (4, 5)}
    scales = {name: (rng.normal(size=shape) * 0.3).astype(np.float32) for name, shape in arrays.items()}
    nodes = [
        helper.make_node("Conv", ["data", "w", "b"], ["c"], "conv1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu1"),
        helper.make_node("Conv", ["r", "v"], ["d"], "conv2"),
        helper.make_node("GlobalAveragePool", ["d"], ["g"], "pool1"),
        helper.make_node("Flatten", ["g"], ["f"], "flatten1"),
        helper.make_node("Gemm", ["f", "dense"], ["y"], "gemm1"),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 5])],
        [numpy_helper.from_array(array, name) for name, array in scales.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def names(module: relay.IRModule) -> list[str]:
    return [op.name.removeprefix("relay.") for op in walk_ops(module)]


def test_an_onnx_model() -> None:
    model, dataset, shapes = onnx_model(), batches(2, 3, 8, 8), {"data": (2, 3, 8, 8)}
    found = xrelay.quantize(model, dataset, shapes=shapes)
    assert names(found).count("qnn.conv2d") == 2
    assert names(found).count("qnn.dense") == 1
    assert "axis = 0" in str(found) or "tensor<8xf32>" in str(found)
    data = batches(2, 3, 8, 8, count=1, seed=5)[0]["data"]
    expected = xrelay.compile(model, shapes=shapes, cache=False).run([data])[0]
    result = xrelay.compile(found, cache=False).run([data])[0]
    assert signal_to_noise(expected, result) > 30


def test_a_saved_program_is_the_same(tmp_path: Path) -> None:
    module = residual_network()
    save_module(module, tmp_path / "model.mlir")
    dataset = batches(2, 3, 12, 12)
    found = xrelay.quantize(tmp_path / "model.mlir", dataset)
    save_module(found, tmp_path / "quantised.mlir")
    results = [xrelay.interpret(each, [dataset[0]["data"]])[0] for each in (found, tmp_path / "quantised.mlir")]
    np.testing.assert_array_equal(*results)


def test_shapes_and_a_configuration() -> None:
    config = relay.quantize.qconfig(skip_conv_layers=[1])
    found = xrelay.quantize(onnx_model(), shapes={"data": (1, 3, 8, 8)}, config=config)
    assert "tensor<1x3x8x8xf32>" in str(found)
    assert (names(found).count("qnn.conv2d"), names(found).count("nn.conv2d"), names(found).count("nn.dense")) == (
        1,
        1,
        1,
    )
    assert relay.quantize.current_qconfig() == relay.quantize.qconfig()


def test_defaults_of_models() -> None:
    config = relay.quantize.model_config(calibrate_mode="max")
    assert (config.calibrate_mode, config.per_channel, config.skip_conv_layers) == ("max", True, None)
    with pytest.raises(InputError, match="needs a dataset"):
        xrelay.quantize(onnx_model())
