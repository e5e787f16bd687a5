"""`xrelay explain fusion --op` for a name without an op: explains in one line what became of it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from xrelay.tools.xrelay_cli import main

TEXT = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %k = relay.exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %dead = relay.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.add(%x, %k) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = relay.add(%x, %k) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relay.add(%e, %f) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @kernel(%y: tensor<4xf32>) -> tensor<4xf32> attributes {relay.primitive} {
  %n = relay.negative(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["%f"], r"no op is called '%f'; help: "),
        (["%n", "--as-is"], r"no op is called '%n'; help: "),
        (["%rr"], r"no op is called '%rr'; help: did you mean '%r'\?"),
        (["99"], "no op is called '99'; help: omit --op to list all ops"),
    ],
)
def test_what_became_of_it(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(TEXT)
    assert main(["explain", "fusion", str(path), "--op", *arguments]) == 1
    error = capsys.readouterr().err
    assert re.search(message, error)
    assert error.count("\n") == 1


@pytest.fixture
def model(tmp_path: Path) -> str:
    """An addition of a constant that the importer folds, and a relu without a name."""
    nodes = [
        helper.make_node("Exp", ["w"], ["e"], name="folded"),
        helper.make_node("Add", ["x", "e"], ["a"], name="sum"),
        helper.make_node("Identity", ["a"], ["i"], name="nothing"),
        helper.make_node("Relu", ["i"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(np.ones(4, np.float32), "w")])
    path = tmp_path / "net.onnx"
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(made.SerializeToString())
    return str(path)


@pytest.mark.parametrize(("name", "label"), [("a", "add [sum]"), ("sum", "add [sum]"), ("y", "nn.relu [y]")])
def test_the_output_of_an_onnx_node_names_it(
    name: str, label: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "fusion", model, "--op", name]) == 0
    assert label in capsys.readouterr().out.splitlines()[0]


def test_an_onnx_node_that_became_no_op(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "fusion", model, "--op", "nothing"]) == 1
    assert "has removed the node 'nothing' (Identity), or merged it" in capsys.readouterr().err


def test_an_op_answers_to_its_number(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "fusion", model, "--op", "sum"]) == 0
    story = capsys.readouterr().out
    number = story.partition("node #")[2].partition(" ")[0]
    assert main(["explain", "fusion", model, "--op", number]) == 0
    assert capsys.readouterr().out == story
