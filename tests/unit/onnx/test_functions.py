"""Functions: those defined in a model, and the standard's definitions of ops without a converter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, FunctionProto, NodeProto, TensorProto, helper
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import conversion, import_onnx
from xrelay.interpreters.relay import run_relay

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
OURS = [helper.make_opsetid("", 17), helper.make_opsetid("ours", 1)]


def function(
    name: str,
    inputs: list[str],
    outputs: list[str],
    nodes: list[NodeProto],
    attributes: Sequence[str] = (),
    **more: Any,
) -> FunctionProto:
    return helper.make_function("ours", name, inputs, outputs, nodes, OURS, list(attributes), **more)


def call(name: str, inputs: list[str], outputs: list[str], **attributes: Any) -> NodeProto:
    return helper.make_node(name, inputs, outputs, domain="ours", **attributes)


def referring(
    op: str, inputs: list[str], outputs: list[str], **references: tuple[str, AttributeProto.AttributeType]
) -> NodeProto:
    """A node whose attributes refer to those of the call."""
    node = helper.make_node(op, inputs, outputs)
    for name, (target, kind) in references.items():
        node.attribute.append(AttributeProto(name=name, ref_attr_name=target, type=kind))
    return node


def with_functions(
    functions: list[FunctionProto], nodes: list[NodeProto], outputs: Sequence[str] = ("y",)
) -> onnx.ModelProto:
    proto = model(nodes, [value("x", (2, 3))], outputs)
    proto.opset_import.append(helper.make_opsetid("ours", 1))
    proto.functions.extend(functions)
    return proto


def run(proto: onnx.ModelProto, *inputs: np.ndarray) -> list[np.ndarray]:
    module = import_onnx(proto)
    module.verify()
    return run_relay(module, list(inputs))


def complaint(proto: onnx.ModelProto) -> str:
    with pytest.raises(ModelImportError) as raised:
        import_onnx(proto)
    return str(raised.value)


LEAKY = function(
    "Leaky", ["a"], ["b"], [referring("LeakyRelu", ["a"], ["b"], alpha=("slope", AttributeProto.FLOAT))], ["slope"]
)


@pytest.mark.parametrize(("given", "slope"), [({"slope": 0.5}, 0.5), ({}, 0.01)], ids=["given", "left out"])
def test_attributes_are_passed_by_reference(given: dict[str, Any], slope: float) -> None:
    (found,) = run(with_functions([LEAKY], [call("Leaky", ["x"], ["y"], **given)]), X)
    np.testing.assert_allclose(found, np.where(X < 0, np.float32(slope) * X, X))


def test_a_function_may_have_defaults_for_attributes() -> None:
    inner = [referring("LeakyRelu", ["a"], ["b"], alpha=("slope", AttributeProto.FLOAT))]
    proto = function("Leaky", ["a"], ["b"], inner, attribute_protos=[helper.make_attribute("slope", 0.25)])
    (found,) = run(with_functions([proto], [call("Leaky", ["x"], ["y"])]), X)
    np.testing.assert_allclose(found, np.where(X < 0, 0.25 * X, X))


def test_names_of_a_function_are_its_own() -> None:
    twice = function("Twice", ["y"], ["x"], [helper.make_node("Add", ["y", "y"], ["x"])])
    four = function("Four", ["x"], ["y"], [call("Twice", ["x"], ["h"]), call("Twice", ["h"], ["y"])])
    proto = with_functions([twice, four], [call("Four", ["x"], ["h"]), call("Four", ["h"], ["y"])])
    np.testing.assert_array_equal(run(proto, X)[0], 16 * X)


def test_a_function_sees_nothing_of_the_graph_around_its_call() -> None:
    spy = function("Spy", ["a"], ["b"], [helper.make_node("Add", ["a", "x"], ["b"])])
    assert "input 'x' " in complaint(with_functions([spy], [call("Spy", ["x"], ["y"])]))


def test_references_reach_the_graphs_of_nodes() -> None:
    then = helper.make_graph(
        [referring("LeakyRelu", ["a"], ["t"], alpha=("slope", AttributeProto.FLOAT))], "then", [], [value("t", None)]
    )
    otherwise = helper.make_graph([helper.make_node("Neg", ["a"], ["e"])], "else", [], [value("e", None)])
    nodes = [
        helper.make_node("ReduceSum", ["a"], ["s"], keepdims=0),
        helper.make_node("Greater", ["s", "limit"], ["c"]),
        helper.make_node("If", ["c"], ["b"], then_branch=then, else_branch=otherwise),
    ]
    proto = with_functions(
        [function("Pick", ["a", "limit"], ["b"], nodes, ["slope"])],
        [helper.make_node("Constant", [], ["zero"], value_float=0.0), call("Pick", ["x", "zero"], ["y"], slope=0.5)],
    )
    np.testing.assert_array_equal(run(proto, X)[0], np.where(X < 0, 0.5 * X, X))
    np.testing.assert_array_equal(run(proto, X - 2)[0], 2 - X)


def test_inputs_and_outputs_may_be_left_out() -> None:
    clip = function(
        "Bounded",
        ["a", "low", "high"],
        ["b", "unused", "c"],
        [
            helper.make_node("Clip", ["a", "low", "high"], ["b"]),
            helper.make_node("Nothing", [], []),
            helper.make_node("Neg", ["a"], ["c"]),
        ][::2],
    )
    zero = helper.make_node("Constant", [], ["zero"], value_float=0.0)
    nodes = [zero, call("Bounded", ["x", "", "zero"], ["y", "", "z"])]
    low, negative = run(with_functions([clip], nodes, ["y", "z"]), X)
    np.testing.assert_array_equal(low, np.minimum(X, 0))
    np.testing.assert_array_equal(negative, -X)
    asked = [zero, call("Bounded", ["x", "", "zero"], ["y", "u"])]
    assert "output 'unused' of the function 'Bounded' " in complaint(with_functions([clip], asked, ["y", "u"]))


def test_a_function_is_written_in_opsets_of_its_own() -> None:
    """Before opset 13 Softmax flattens the axes from 1 on."""
    old = helper.make_function(
        "ours", "Old", ["a"], ["b"], [helper.make_node("Softmax", ["a"], ["b"])], [helper.make_opsetid("", 11)]
    )
    shape = helper.make_node("Unsqueeze", ["x", "zero"], ["wide"])
    zero = helper.make_node("Constant", [], ["zero"], value_ints=[0])
    (found,) = run(with_functions([old], [zero, shape, call("Old", ["wide"], ["y"])]), X)
    np.testing.assert_allclose(found.sum(), 1, rtol=1e-6)


def test_a_function_of_the_model_comes_before_a_converter() -> None:
    proto = model([helper.make_node("Relu", ["x"], ["y"])], [value("x", (2, 3))], ["y"])
    negated = [helper.make_node("Neg", ["a"], ["b"])]
    proto.functions.append(helper.make_function("", "Relu", ["a"], ["b"], negated, [helper.make_opsetid("", 17)]))
    np.testing.assert_array_equal(run(proto, X)[0], -X)


def test_shape_arithmetic_in_a_function_is_known() -> None:
    nodes = [
        helper.make_node("Shape", ["a"], ["s"]),
        helper.make_node("Reshape", ["b", "s"], ["c"]),
    ]
    like = function("Like", ["a", "b"], ["c"], nodes)
    flat = helper.make_node("Flatten", ["x"], ["f"], axis=0)
    proto = with_functions([like], [flat, call("Like", ["x", "f"], ["y"])])
    assert "dyn.reshape" not in str(import_onnx(proto))
    np.testing.assert_array_equal(run(proto, X)[0], X)


def test_functions_that_call_themselves_are_refused() -> None:
    functions = [function(name, ["a"], ["b"], [call(other, ["a"], ["b"])]) for name, other in (("F", "G"), ("G", "F"))]
    assert "the function 'F' calls itself" in complaint(with_functions(functions, [call("F", ["x"], ["y"])]))


def test_a_recursive_function_that_nothing_calls_does_no_harm() -> None:
    again = function("F", ["a"], ["b"], [call("F", ["a"], ["b"])])
    np.testing.assert_array_equal(run(with_functions([again], [helper.make_node("Neg", ["x"], ["y"])]), X)[0], -X)


def chained(depth: int, calls: int) -> onnx.ModelProto:
    """Functions that each call the next one `calls` times."""
    functions = [function("F0", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])])]
    for number in range(1, depth):
        values = ["a", *(f"v{index}" for index in range(calls - 1)), "b"]
        nodes = [call(f"F{number - 1}", [given], [made]) for given, made in pairwise(values)]
        functions.append(function(f"F{number}", ["a"], ["b"], nodes))
    return with_functions(functions, [call(f"F{depth - 1}", ["x"], ["y"])])


def test_deep_calls_are_refused_from_a_depth_on() -> None:
    np.testing.assert_array_equal(run(chained(64, 1), X)[0], -X)
    assert "more than 64 deep" in complaint(chained(65, 1))


def test_calls_that_multiply_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xrelay.frontend.onnx.functions.MAX_NODES", 1000)
    np.testing.assert_array_equal(run(chained(6, 2), X)[0], X)
    assert "nodes" in complaint(chained(40, 2))


def test_calls_that_multiply_are_counted_before_any_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(conversion, "instantiated", lambda *given: made.append(given[2]))
    assert "more than 1,000,000 nodes" in complaint(chained(40, 2))
    assert not made


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (call("Leaky", ["x", "x"], ["y"]), "2 inputs, the function has 1"),
        (call("Leaky", ["x"], ["y"], slop=1.0), "the function has no attribute 'slop'"),
        (call("Leaky", ["x"], ["y"], slope="steep"), "attribute 'alpha' must be of type FLOAT, found STRING"),
        (call("Leaky", ["x"], ["h", "y"]), "output 'y' "),
        (call("Leaky", [], ["y"]), "input #0 is missing"),
        (call("Leaked", ["x"], ["y"]), "no converter for this op"),
    ],
    ids=["inputs", "attribute", "type", "outputs", "none", "name"],
)
def test_calls_that_do_not_fit_are_refused(node: NodeProto, words: str) -> None:
    assert words in complaint(with_functions([LEAKY], [node]))


def window(**attributes: Any) -> onnx.ModelProto:
    node = helper.make_node("HannWindow", ["n"], ["y"], name="hann", **attributes)
    return model([node], [], ["y"], initializers={"n": np.array(5)}, opset=17)


@pytest.mark.skipif(onnx.defs.onnx_opset_version() < 17, reason="this onnx defines no window")
def test_defaults_of_the_standard_are_filled_in() -> None:
    for given, length in (({}, 5), ({"periodic": 1}, 5), ({"periodic": 0}, 4)):
        expected = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(5) / length)
        np.testing.assert_allclose(run(window(**given))[0], expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"ignore_index": 1.0}, "attribute 'ignore_index' must be of type INT, found FLOAT"),
        ({"period": 1}, "NegativeLogLikelihoodLoss has no attribute 'period'"),
    ],
)
def test_nodes_that_do_not_fit_the_standard_are_refused(attributes: dict[str, Any], words: str) -> None:
    node = helper.make_node("NegativeLogLikelihoodLoss", ["x", "c"], ["y"], name="loss", **attributes)
    found = complaint(model([node], [value("x", (2, 3))], ["y"], initializers={"c": np.array([0, 1])}, opset=13))
    assert words in found
    assert "loss" in found


def test_types_that_attributes_ask_for_are_those_of_the_function() -> None:
    typed = function(
        "Typed", ["a"], ["b"], [referring("Cast", ["a"], ["b"], to=("kind", AttributeProto.INT))], ["kind"]
    )
    found = complaint(with_functions([typed], [call("Typed", ["x"], ["y"], kind=TensorProto.STRING)]))
    assert "attribute 'to' is STRING" in found


def test_a_definition_of_too_few_inputs_is_not_made() -> None:
    node = helper.make_node("SoftmaxCrossEntropyLoss", ["x"], ["y"], name="loss")
    found = complaint(model([node], [value("x", (2, 3))], ["y"], opset=13))
    assert "1 inputs, SoftmaxCrossEntropyLoss has 2 to 3" in found
