"""Parsing of texts, interpretation of programs, and intermediate values as outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import xrelay
from xrelay.api.intermediates import NodeOutput, add_outputs
from xrelay.api.sources import load_source
from xrelay.errors import InputError, InterpreterError, ParseError, VerificationError
from xrelay.interpreters.relay import run_relay

TEXT = """
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = relay.exp(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = relay.nn.relu(%e) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}
"""
HUGE = """
func.func @main() -> tensor<1099511627776x1024xf32> {
  %0 = relay.zeros() {shape = [1099511627776, 1024], dtype = f32} : () -> tensor<1099511627776x1024xf32>
  func.return %0 : tensor<1099511627776x1024xf32>
}
"""
X = np.arange(-4, 4, dtype=np.float32).reshape(2, 4)


@pytest.fixture
def split_model() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Exp", ["x"], ["net/e:0"], name="exp"),
        helper.make_node("Split", ["net/e:0"], ["s0", "s1"], axis=1, num_outputs=2, name="halves"),
        helper.make_node("Add", ["s0", "s1"], ["y"], name="add"),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2])]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def test_a_text_is_parsed_and_interpreted() -> None:
    (y,) = xrelay.interpret(xrelay.parse(TEXT), [X])
    np.testing.assert_allclose(y, np.exp(X), rtol=1e-6)


def test_a_path_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(TEXT)
    for source in (path, str(path)):
        assert str(xrelay.parse(source)) == str(xrelay.parse(TEXT))


def test_errors_have_the_place_in_the_text() -> None:
    with pytest.raises(ParseError, match=r"net:3:17: the value %z is not defined"):
        xrelay.parse(
            "\nfunc.func @f() {\n  %y = relay.exp(%z) : (f32) -> f32\n  func.return }\n".replace("  %y", " %y"),
            name="net",
        )
    with pytest.raises(VerificationError, match=r"<text>:2:1: the symbol @f is already defined"):
        xrelay.parse("func.func private @f()\nfunc.func private @f()")
    with pytest.raises(InputError, match=r"an int .*"):
        xrelay.parse(3)  # pyright: ignore


def test_inputs_are_checked_as_those_of_a_compiled_model() -> None:
    module = xrelay.parse(TEXT)
    with pytest.raises(InputError, match="the model has no input 'z'"):
        xrelay.interpret(module, {"z": X})
    with pytest.raises(InputError, match=r"expected float32\[2, 4\], got float32\[4, 2\]"):
        xrelay.interpret(module, [X.T])
    with pytest.raises(InputError, match="expected 1 inputs"):
        xrelay.interpret(module, [])
    with pytest.raises(InputError, match=r"the shape of input 'x' .*float32"):
        xrelay.interpret(xrelay.parse(TEXT.replace("tensor<2x4xf32>", "tensor<?x4xf32>")), [X])
    named = xrelay.parse(TEXT.replace("tensor<2x4xf32>", "tensor<?x4xf32, #relay.dims<n>>"))
    with pytest.raises(InputError, match=r"expected float32\[n, 4\], got float32\[4, 2\]"):
        xrelay.interpret(named, [X.T])
    np.testing.assert_array_equal(xrelay.interpret(named, [X])[0], xrelay.interpret(module, [X])[0])


def test_intermediate_values_are_outputs_by_name_and_by_node(split_model: onnx.ModelProto) -> None:
    module = load_source(split_model)
    nodes = {"net/e:0": NodeOutput("exp", 0), "net/e:1": NodeOutput("halves", 1)}
    add_outputs(module, ["%s1", "net/e:0", "exp", "halves", "x", "net/e:1"], nodes=nodes)
    y, s1, e, exp, first, second, x, again = xrelay.interpret(module, [X])
    np.testing.assert_array_equal(s1, e[:, 2:])
    np.testing.assert_array_equal(exp, e)
    np.testing.assert_array_equal(np.concatenate([first, second], 1), e)
    np.testing.assert_array_equal(first + second, y)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(again, second)
    compiled = xrelay.compile(module)
    assert list(compiled.output_names) == ["y", "s1", "net/e:0", "exp", "halves.0", "halves.1", "x", "net/e:1"]
    np.testing.assert_allclose(compiled(X)[2], np.exp(X), rtol=1e-6)


def test_values_that_do_not_exist_or_are_several() -> None:
    with pytest.raises(InputError, match="no value is called '%main_y'; help: "):
        add_outputs(xrelay.parse(TEXT), ["%main_y"])
    with pytest.raises(InputError, match="output 1 of the node 'exp'"):
        add_outputs(xrelay.parse(TEXT), ["v"], nodes={"v": NodeOutput("exp", 1)})
    twice = xrelay.parse(TEXT)
    for op in twice.walk():
        for result in op.results:
            result.name_hint = "y"
    with pytest.raises(InputError, match=r"2 values are called 'y'; help: .*: <text>:3:3, "):
        add_outputs(twice, ["y"])
    add_outputs(twice, ["<text>:3:3"])
    assert len(xrelay.interpret(twice, [X])) == 2


def test_a_result_that_no_memory_holds() -> None:
    many = 1 << 45
    module = xrelay.parse(
        f"func.func @main(%x: tensor<{many}xi8>) -> tensor<{many}xi8> {{ func.return %x : tensor<{many}xi8> }}"
    )
    with pytest.raises(InterpreterError, match=f"a result of {many} bytes needs more memory than is available"):
        run_relay(module, [np.broadcast_to(np.int8(0), many)])


def test_a_value_that_no_memory_holds() -> None:
    module = xrelay.parse(HUGE)
    with pytest.raises(InterpreterError, match=r"relay\.zeros needs more memory than is available$"):
        xrelay.interpret(module, [])
