"""`GraphModule`, with Relay's interface."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xrelay
from xrelay.api.graph_module import BenchmarkResult, GraphModule
from xrelay.api.model import CompiledModel
from xrelay.errors import InputError
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.metadata import ModelMetadata, TensorSpec

X = np.arange(100, dtype=np.float32)
EXPECTED = 3 * np.arange(100, dtype=np.float32)


@pytest.fixture
def module(adder: CompiledModel) -> GraphModule:
    return GraphModule(adder)


def test_set_run_get(module: GraphModule):
    module.set_input("x", X)
    module.set_input(1, X)
    module.run()
    np.testing.assert_array_equal(module.get_output(0), EXPECTED)
    np.testing.assert_array_equal(module.get_output(0).numpy(), EXPECTED)
    assert type(module.get_output(0).numpy()) is np.ndarray
    assert type(module.get_output(0).asnumpy()) is np.ndarray


def test_inputs_by_keyword(module: GraphModule):
    module.set_input(x=X, bias=X)
    module.run()
    module.run(bias=2 * X)
    np.testing.assert_array_equal(module.get_output(0), 4 * X)


def test_key_and_params_together(module: GraphModule):
    module.set_input("x", X, bias=X)
    module.run()
    np.testing.assert_array_equal(module.get_output(0), EXPECTED)


def test_inputs_are_copied(module: GraphModule):
    x = X.copy()
    module.set_input(x=x, bias=x)
    x[:] = 0
    module.run()
    np.testing.assert_array_equal(module.get_output(0), EXPECTED)


def test_inputs_of_the_same_kind_are_converted(module: GraphModule):
    module.set_input(x=X.astype(np.float64), bias=X.tolist())
    module.run()
    np.testing.assert_array_equal(module.get_output(0), EXPECTED)
    with pytest.raises(InputError, match="got int64"):
        module.set_input("x", np.arange(100))


def test_counts_and_info(module: GraphModule):
    assert (module.get_num_inputs(), module.get_num_outputs()) == (2, 1)
    assert (module.get_input_index("bias"), module.get_input_index("nope")) == (1, -1)
    assert module.get_input_info() == ({"x": (100,), "bias": (100,)}, {"x": "float32", "bias": "float32"})
    first = module.get_input("x")
    assert first is not None
    np.testing.assert_array_equal(first.numpy(), np.zeros(100, np.float32))
    module.set_input("x", X)
    value = module.get_input(0)
    assert value is not None
    np.testing.assert_array_equal(value.numpy(), X)


def test_outputs_of_a_run_stay(module: GraphModule):
    module.run(x=X, bias=X)
    kept = module.get_output(0)
    module.run(x=0 * X)
    np.testing.assert_array_equal(kept, EXPECTED)


def test_output_into_an_array(module: GraphModule):
    module.run(x=X, bias=X)
    out = np.zeros(100, np.float32)
    module.get_output(0, out)
    np.testing.assert_array_equal(out, EXPECTED)
    with pytest.raises(InputError, match=r"out: expected float32\[100\], got float64\[3\]"):
        module.get_output(0, np.zeros(3))


def test_unknown_names(module: GraphModule):
    with pytest.raises(InputError, match=r"Could not find 'bais' in graph's inputs; help: did you mean 'bias'\?"):
        module.set_input("bais", X)
    with pytest.raises(InputError, match="Could not find 'z' in graph's inputs"):
        module.run(z=X)
    with pytest.raises(InputError, match="Could not find 'z'"):
        module.get_input("z")


def test_parameters_bound_when_compiling_are_passed_over(add_artifact: Artifact):
    metadata = dataclasses.replace(add_artifact.metadata, bound_params=("folded.b",))
    module = GraphModule(CompiledModel(dataclasses.replace(add_artifact, metadata=metadata)))
    module.set_input(**{"x": X, "bias": X, "conv1.w": X, "folded.b": X})
    module.run()
    np.testing.assert_array_equal(module.get_output(0), EXPECTED)


def test_misuse(module: GraphModule):
    with pytest.raises(InputError, match="the model has not run"):
        module.get_output(0)
    module.set_input("x", X)
    with pytest.raises(InputError, match="input 2 does not exist"):
        module.set_input(2, X)
    module.run(bias=X)
    with pytest.raises(InputError, match="output 1 does not exist"):
        module.get_output(1)
    with pytest.raises(InputError, match="input 'x': expected"):
        module.set_input("x", X[:3])


def test_benchmark(module: GraphModule):
    result = module.benchmark(repeat=3, number=2, x=X, bias=X)
    assert len(result.results) == 3
    assert 0 < result.min <= result.median <= result.max
    assert result.min <= result.mean <= result.max
    assert "mean (ms)" in str(result)
    slow = module.benchmark(repeat=1, number=1, min_repeat_ms=2, end_to_end=True, x=X)
    assert slow.mean > 0
    for arguments in ({"repeat": 0}, {"number": 0}, {"func_name": "main"}):
        with pytest.raises(InputError, match="benchmark"):
            module.benchmark(**arguments)


def test_statistics():
    result = BenchmarkResult((1.0, 2.0, 6.0))
    assert (result.mean, result.median, result.min, result.max) == (3.0, 2.0, 1.0, 6.0)
    assert result.std == pytest.approx(np.std([1.0, 2.0, 6.0]))


def test_what_outputs_cannot_be_written_to(module: GraphModule):
    module.run(x=X, bias=X)
    fixed = np.zeros(100, np.float32)
    fixed.flags.writeable = False
    for out, got in ((fixed, ".*read-only.*"), ([0.0] * 100, "a list"), (5, "an int")):
        with pytest.raises(InputError, match=rf"^out: expected float32\[100\], got {got}; help: "):
            module.get_output(0, out)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("index", [-1, 1, 1 << 80, "out", 0.0, None])
def test_outputs_that_do_not_exist(module: GraphModule, index: Any):
    module.run(x=X, bias=X)
    with pytest.raises(InputError, match=r"^output .* does not exist; help: "):
        module.get_output(index)


def test_an_input_may_take_the_output(module: GraphModule):
    module.run(x=X, bias=X)
    inside = module.get_input("x")
    assert inside is not None
    module.get_output(0, inside)
    module.run()
    np.testing.assert_array_equal(module.get_output(0), EXPECTED + X + np.arange(100))


def test_an_optional_output_is_its_value(tmp_path: Path):
    path = tmp_path / "optional.mlir"
    path.write_text("""
func.func @main(%x: tensor<2xf32>, %c: tensor<i1>) -> !relay.optional<tensor<2xf32>> {
  %y = relay.if %c : tensor<i1> -> !relay.optional<tensor<2xf32>> {
    %o = relay.optional_construct(%x) : (tensor<2xf32>) -> !relay.optional<tensor<2xf32>>
    relay.yield %o : !relay.optional<tensor<2xf32>>
  } else {
    %n = relay.optional_construct() {of = tensor<2xf32>} : () -> !relay.optional<tensor<2xf32>>
    relay.yield %n : !relay.optional<tensor<2xf32>>
  }
  return %y : !relay.optional<tensor<2xf32>>
}""")
    module = GraphModule(xrelay.compile(path))
    module.run(x=np.ones(2, np.float32), c=np.array(True))
    np.testing.assert_array_equal(module.get_output(0), [1, 1])
    module.run(c=np.array(False))
    with pytest.raises(InputError, match="output 'output0' is an optional that has no value in this run"):
        module.get_output(0)


def test_models_with_sequences_are_refused():
    specs = (TensorSpec("s", "float32", ("?",), ("sequence",)),)
    message = r"^a GraphModule .*'s' is sequence\(float32\[\?\]\); help: use the model"
    for metadata in (ModelMetadata(specs, ()), ModelMetadata((), specs)):
        with pytest.raises(InputError, match=message):
            GraphModule(CompiledModel(Artifact((), metadata)))
