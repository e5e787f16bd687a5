"""`relay.quantize.quantize` rejects invalid datasets, names the batch, and leaves unsupported ops in floats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support import remembered_kernels
from support.float_networks import Weights, batches, perceptron, residual_network

import xrelay
from xrelay import relay, transform
from xrelay.errors import InputError
from xrelay.passes.infra.verify import walk_ops

GOOD = {"data": np.ones((4, 24), np.float32)}


def quantized(module: Any, dataset: Any = None, params: Any = None, **options: Any) -> relay.IRModule:
    chosen = {"skip_conv_layers": None, "skip_dense_layer": False, "calibrate_mode": "max", **options}
    with transform.PassContext(opt_level=3), relay.quantize.qconfig(**chosen):
        return relay.quantize.quantize(module, params, dataset)


def names(module: Any) -> list[str]:
    return [op.name.removeprefix("relay.") for op in walk_ops(module)]


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (None, r"calibrate_mode 'max' needs a dataset"),
        ([], "the dataset is empty"),
        (GOOD, "the dataset is a dict; help: "),
        (np.ones((4, 24)), "the dataset is a ndarray"),
        (7, "the dataset is an int"),
        ([GOOD, 7], "batch 1 of the dataset is an int"),
        ([GOOD, {"date": GOOD["data"]}], "batch 1 of the dataset has no input 'data'; help: it has date"),
        ([GOOD, {}], "batch 1 of the dataset has no input 'data'; help: it has nothing"),
        ([{"data": np.ones((4, 25), np.float32)}], "batch 0 of the dataset: input 'data': expected .*24.*25"),
        ([{"data": np.ones((4, 24), np.int32)}], "batch 0 of the dataset: input 'data'"),
        ([{"data": "text"}], "batch 0 of the dataset: input 'data'"),
        ([GOOD, {"data": np.full((4, 24), np.nan, np.float32)}], "batch 1 .* 'data' contains non-finite numbers"),
        ([{"data": np.full((4, 24), np.inf, np.float32)}], "batch 0 .* contains non-finite numbers"),
        ([{"data": np.full((4, 24), 1e300)}], r"batch 0 .*"),
    ],
)
def test_datasets_that_do_not_fit(dataset: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        quantized(perceptron(), dataset)


def test_a_dataset_is_gone_through_once() -> None:
    taken: list[int] = []

    def dataset() -> Iterator[Any]:
        for number in range(3):
            taken.append(number)
            yield {"data": np.full((4, 24), number + 1.0), "label": "not looked at"}

    found = quantized(perceptron(), dataset(), calibrate_chunk_by=2)
    assert taken == [0, 1, 2]
    assert names(found).count("qnn.dense") == 3


def test_chunks_give_the_same_program(monkeypatch: pytest.MonkeyPatch) -> None:
    # LLVM adds the terms of a sum in another order if it optimises a kernel.
    monkeypatch.setattr(remembered_kernels, "OPTIMISED", 1)
    module, dataset = perceptron(), batches(4, 24, count=2)
    whole = str(quantized(module, dataset))
    for chunk in (1, 100):
        assert str(quantized(module, dataset, calibrate_chunk_by=chunk)) == whole


def test_the_global_scale_looks_at_no_data() -> None:
    def dataset() -> Iterator[Any]:
        pytest.fail("nobody asks for data")
        yield GOOD

    assert "qnn.dense" in names(quantized(perceptron(), dataset(), calibrate_mode="global_scale"))


@pytest.mark.parametrize("mode", ["global_scale", "max"])
def test_nothing_to_quantise_comes_back_as_it_was(mode: str) -> None:
    x = relay.var("x", shape=(1, 3, 4, 4))
    norm = [relay.const(np.ones(3, np.float32)) for _ in range(4)]
    module = relay.IRModule.from_expr(relay.Function([x], relay.nn.batch_norm(x, *norm)[0]))
    assert str(quantized(module, calibrate_mode=mode)) == str(transform.InferType()(module))
    everything_left_out = quantized(residual_network(), skip_conv_layers=[0, 1, 2, 3], skip_dense_layer=True)
    assert str(everything_left_out) == str(transform.InferType()(residual_network()))


def test_params_become_constants() -> None:
    x, w = relay.var("x", shape=(2, 4)), relay.var("w", shape=(3, 4))
    function = relay.Function([x, w], relay.nn.dense(x, w))
    weight = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    found = quantized(function, [{"x": np.ones((2, 4))}], {"w": weight})
    assert "qnn.dense" in names(found)
    assert [param.name for param in found["main"].params] == ["x"]
    assert "nn.dense" in names(quantized(function, [{"x": np.ones((2, 4)), "w": weight}]))


def test_a_module_is_not_changed() -> None:
    module = residual_network()
    before = str(module)
    quantized(module, batches(2, 3, 12, 12, count=1))
    assert str(module) == before


def test_what_is_no_program() -> None:
    with pytest.raises(InputError, match="a str is not a program"):
        quantized("model.onnx", [GOOD])


BRANCHES = """
func.func @main(%data: tensor<2x4xf32>, %flag: tensor<i1>) -> tensor<2x2xf32> {
  %w = relay.constant dense<
    [[0.5, -0.2, 1.0, 0.7], [-1.0, 0.5, 0.2, 0.5], [1.0, 1.0, -0.5, 0.2], [0.5, -1.0, 0.2, 0.5]]>
    : tensor<4x4xf32>
  %v = relay.constant dense<[[0.5, -0.25, 1.0, 0.75], [-1.0, 0.5, 0.25, 0.5]]> : tensor<2x4xf32>
  %a = relay.nn.dense(%data, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b = relay.if %flag : tensor<i1> -> tensor<2x4xf32> {
    %c = relay.tanh(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %d = relay.nn.dense(%c, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    relay.yield %d : tensor<2x4xf32>
  } else {
    %e = relay.sigmoid(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    relay.yield %e : tensor<2x4xf32>
  }
  %f = relay.nn.dense(%b, %v) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  func.return %f : tensor<2x2xf32>
}
"""


def branches() -> Any:
    return xrelay.parse(BRANCHES)


def called() -> relay.IRModule:
    weights = Weights()
    x, y, flag = (
        relay.var("x", shape=(2, 4)),
        relay.var("data", shape=(2, 4)),
        relay.var("flag", shape=(), dtype="bool"),
    )
    module = relay.IRModule({"layer": relay.Function([x], weights.dense(x, 4, 4))})
    module["main"] = relay.Function([y, flag], weights.dense(module.get_global_var("layer")(y), 4, 3))
    return module


@pytest.mark.parametrize("mode", ["global_scale", "max"])
@pytest.mark.parametrize("network", [branches, called])
def test_branches_and_called_functions(network: Callable[[], Any], mode: str) -> None:
    module, rng = network(), np.random.default_rng(0)
    dataset = [{"data": rng.normal(size=(2, 4)), "flag": np.array(n % 2 == 0)} for n in range(4)]
    found = quantized(module, dataset, calibrate_mode=mode, weight_scale="max")
    # Calibration only observes values of @main: others stay floats.
    assert names(found).count("nn.dense") == (0 if mode == "global_scale" else 1)
    for flag in (True, False):
        inputs = {"data": dataset[0]["data"].astype(np.float32), "flag": np.array(flag)}
        expected, result = (xrelay.interpret(each, inputs)[0] for each in (module, found))
        # Half a step, 8 / 128 or about 2 / 127 wide, for each of three layers, whose rows add up to less than 3.
        assert np.abs(expected - result).max() < (0.28 if mode == "global_scale" else 0.07)


def test_tensors_that_are_not_always_finite_stay_floats() -> None:
    weights, x = Weights(), relay.var("data", shape=(2, 6))
    result = weights.dense(relay.log(weights.dense(x, 6, 6)), 6, 3)
    module = relay.IRModule.from_expr(relay.Function([x], result))
    found = quantized(module, [{"data": np.random.default_rng(0).normal(size=(2, 6))}])
    assert names(found).count("qnn.dense") == names(found).count("nn.dense") == 1


def test_debug_enabled_ops() -> None:
    found = quantized(residual_network(), batches(2, 3, 12, 12, count=1), debug_enabled_ops=["nn.conv2d", "nn.relu"])
    assert names(found).count("qnn.conv2d") == 4
    assert {"nn.max_pool2d", "nn.dense", "concatenate"} <= set(names(found))


def test_passes_under_relays_names() -> None:
    module = residual_network()
    with relay.quantize.qconfig(skip_conv_layers=[1]):
        steps = [relay.quantize.partition(), relay.quantize.annotate(), relay.quantize.realize()]
        found = transform.Sequential(steps)(module)
    assert names(transform.EliminateCommonSubexpr()(found)).count("qnn.conv2d") == 3
    assert names(found).count("nn.conv2d") == 1
    assert [step.info.name for step in steps] == ["QuantizePartition", "QuantizeAnnotate", "QuantizeRealize"]


def test_networks_without_elements() -> None:
    module = perceptron(batch=0)
    found = quantized(module, [{"data": np.zeros((0, 24))}])
    assert xrelay.interpret(found, [np.zeros((0, 24), np.float32)])[0].shape == (0, 5)


def test_the_operator_is_that_of_qnn() -> None:
    made = relay.qnn.op.quantize(relay.var("x", shape=(2,)), relay.const(0.5), relay.const(0, "int32"))
    assert made.op.name == "qnn.quantize"


def test_hooks_that_are_not_here_say_what_serves_instead() -> None:
    with pytest.raises(AttributeError, match=r"does not exist.*register_fake_quantization_to_integer"):
        _ = relay.quantize.register_annotate_function
    assert not hasattr(relay.quantize, "nothing")
