"""A package outside this repository adds an operator, which is used from import to native code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from support.out_of_tree import installed, run
from support.tool_server.served import served

CONTRIBUTED = """
func.func @main(%x: tensor<4xf32>) -> !relay.incomplete {
  %y = relay.contrib.hard_swish(%x) : (tensor<4xf32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""

RUN = """
import sys
import numpy as np
import onnx.reference
import xrelay

x = np.linspace(-5, 5, 2 * 3 * 8 * 8, dtype=np.float32).reshape(2, 3, 8, 8)
model = xrelay.compile(sys.argv[1], cache=False)
(found,) = model.run({"x": x})
(wanted,) = onnx.reference.ReferenceEvaluator(sys.argv[1]).run(None, {"x": x})
np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
kernels = model.artifact.metadata.kernels
assert len(kernels) == 1, kernels
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yields an environment in which hardswish is installed, offline and without a change to this environment."""
    with installed(tmp_path_factory.mktemp("site"), "hardswish") as environment:
        yield environment


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the path of a model of relu(hard_swish(x))."""
    shape = [2, 3, 8, 8]
    nodes = [helper.make_node("HardSwish", ["x"], ["h"], "hs"), helper.make_node("Relu", ["h"], ["y"], "relu")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
    graph = helper.make_graph(nodes, "outside", ends[:1], ends[1:])
    path = tmp_path_factory.mktemp("model") / "outside.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), path)
    return path


@pytest.fixture(scope="module")
def plain() -> Iterator[dict[str, str]]:
    """Yields an environment without packages from outside."""
    with served(os.environ) as environment:
        yield environment


def test_without_the_package_the_op_is_unknown(plain: dict[str, str], model: Path) -> None:
    done = run(["xrelay-opt"], plain, CONTRIBUTED)
    assert done.returncode == 1
    assert "relay.contrib.hard_swish" in done.stderr
    done = run(["xrelay", "import", str(model)], plain)
    assert done.returncode == 0, done.stderr
    assert "contrib" not in done.stdout


def test_its_converter_comes_before_the_one_of_xrelay(environment: dict[str, str], model: Path) -> None:
    done = run(["xrelay", "import", str(model)], environment)
    assert done.returncode == 0, done.stderr
    assert "relay.contrib.hard_swish" in done.stdout


def test_the_op_parses_verifies_and_infers(environment: dict[str, str]) -> None:
    done = run(["xrelay-opt", "-p", "relay-infer-type"], environment, CONTRIBUTED)
    assert done.returncode == 0, done.stderr
    assert "relay.contrib.hard_swish(%x) : (tensor<4xf32>) -> tensor<4xf32>" in done.stdout
    wrong = CONTRIBUTED.replace("f32", "i32").replace("!relay.incomplete", "tensor<4xi32>")
    done = run(["xrelay-opt"], environment, wrong)
    assert "[relay.contrib.hard_swish C1]" in done.stderr


def test_an_onnx_model_imports_and_compiles(environment: dict[str, str], model: Path) -> None:
    done = run(["python", "-c", RUN, str(model)], environment)
    assert done.returncode == 0, done.stderr


def test_native_equals_interpreter(environment: dict[str, str], model: Path) -> None:
    done = run(["xrelay", "run", str(model), "--random", "--check", "--no-cache"], environment)
    assert done.returncode == 0, done.stderr
