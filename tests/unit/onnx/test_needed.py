"""Invalid parts of a model are ignored if no output depends on them."""

from __future__ import annotations

import logging

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.frontend.onnx.needed import needed_nodes
from xrelay.interpreters.relay import run_relay

RELU = helper.make_node("Relu", ["x"], ["y"], name="relu")
X = np.array([-1, 2], np.float32)


def check(source: onnx.ModelProto) -> None:
    (found,) = run_relay(import_onnx(source), [X])
    np.testing.assert_array_equal(found, [0, 2])


@pytest.mark.parametrize(
    "dead",
    [
        helper.make_node("Frobnicate", ["x"], ["z"]),
        helper.make_node("Frobnicate", ["x"], [""]),
        helper.make_node("Frobnicate", ["x"], []),
        helper.make_node("Frobnicate", ["nowhere"], ["z"]),
        helper.make_node("Relu", ["x"], ["z"], kernel=3),
        helper.make_node("MatMul", ["x", "y"], ["z"], name="of extents that do not fit"),
        helper.make_node("Relu", ["z"], ["z"], name="of itself"),
        helper.make_node("Frobnicate", [], ["z"], domain="nobody"),
    ],
    ids=lambda node: f"{node.op_type} {' '.join(node.output)}",
)
@pytest.mark.parametrize("first", [True, False])
def test_nodes_that_no_output_needs(dead: onnx.NodeProto, first: bool) -> None:
    check(model([dead, RELU] if first else [RELU, dead], [value("x", (2,))], ["y"]))


def test_a_branch_of_several_nodes_and_bodies() -> None:
    body = helper.make_graph([helper.make_node("Neg", ["u"], ["r"])], "body", [], [value("r", (2,))])
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["t"]),
        helper.make_node("Frobnicate", ["t"], ["u", "c"]),
        RELU,
        helper.make_node("If", ["c"], ["v"], then_branch=body, else_branch=body),
    ]
    check(model(nodes, [value("x", (2,))], ["y"]))
    assert needed_nodes(model(nodes, [], ["v"]).graph) == [0, 1, 3]


def test_a_body_needs_what_it_names() -> None:
    body = helper.make_graph(
        [helper.make_node("Frobnicate", ["u"], ["s"]), helper.make_node("Neg", ["u"], ["r"])],
        "body",
        [],
        [value("r", (2,))],
    )
    nodes = [
        helper.make_node("Neg", ["x"], ["u"]),
        helper.make_node("If", ["c"], ["v"], name="if", then_branch=body, else_branch=body),
        helper.make_node("Relu", ["v"], ["y"]),
    ]
    source = model(nodes, [value("x", (2,)), value("c", (), TensorProto.BOOL)], ["y"])
    (found,) = run_relay(import_onnx(source), [X, np.array(True)])
    np.testing.assert_array_equal(found, [0, 2])


def test_nodes_out_of_order_are_sorted() -> None:
    """Also if a body reads the value of a later node; its own names are local."""
    inside = [helper.make_node("Add", ["q", "u"], ["r"]), helper.make_node("Neg", ["x"], ["q"])]
    body = helper.make_graph(inside, "body", [], [value("r", (2,))])
    nodes = [
        helper.make_node("Relu", ["v"], ["y"]),
        helper.make_node("If", ["c"], ["v"], then_branch=body, else_branch=body),
        helper.make_node("Mul", ["x", "x"], ["u"]),
        helper.make_node("Sub", ["v", "y"], ["q"]),
    ]
    source = model(nodes, [value("x", (2,)), value("c", (), TensorProto.BOOL)], ["y", "q"])
    assert needed_nodes(source.graph) == [2, 1, 0, 3]
    first, second = run_relay(import_onnx(source), [X, np.array(True)])
    np.testing.assert_array_equal(first, [2, 2])
    np.testing.assert_array_equal(second, [0, 0])


def test_a_long_chain_that_is_backwards() -> None:
    count = 10_000
    nodes = [helper.make_node("Neg", [f"v{i}"], [f"v{i + 1}"]) for i in reversed(range(count))]
    assert needed_nodes(model(nodes, [], [f"v{count}"]).graph) == list(reversed(range(count)))


def test_a_cycle_in_a_body_is_named() -> None:
    inside = [helper.make_node("Add", ["x", f"v{i}"], [f"v{(i + 1) % 20}"]) for i in range(20)]
    body = helper.make_graph(inside, "body", [], [value("v0", (2,))])
    node = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)
    source = model([node], [value("x", (2,)), value("c", (), TensorProto.BOOL)], ["y"])
    words = r"graph 'body' .*: 'v1', which reads from 'v0', .* from 12 more, which reads from 'v1'"
    with pytest.raises(ModelImportError, match=words):
        import_onnx(source)


@pytest.mark.parametrize("elem", [TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.FLOAT8E5M2, 99])
def test_inputs_and_weights_of_any_type_that_nothing_reads(elem: int, caplog: pytest.LogCaptureFixture) -> None:
    weight = TensorProto(name="w", data_type=elem, dims=(-3, 1 << 50), raw_data=b"abc")
    source = model([RELU], [value("s", (2,), elem), value("x", (2,)), value("n", None)], ["y"])
    source.graph.initializer.append(weight)
    with caplog.at_level(logging.WARNING):
        check(source)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert "input 's'" in messages[0]
    assert "input 'n'" in messages[1]
    source.graph.node.append(helper.make_node("Identity", ["s"], ["z"]))
    check(source)
    source.graph.output.append(value("z", None, elem))
    with pytest.raises(ModelImportError, match=r"input 's': element type .* is not supported"):
        import_onnx(source)


def test_names_of_values_stay_single() -> None:
    twice = helper.make_node("Neg", ["x"], ["y"])
    with pytest.raises(ModelImportError, match="value 'y' is defined twice"):
        import_onnx(model([twice, RELU], [value("x", (2,))], ["y"]))


def test_many_nodes_cost_little() -> None:
    nodes = [helper.make_node("Frobnicate", [f"v{i}"], [f"v{i + 1}"]) for i in range(10_000)]
    check(model([*nodes, RELU], [value("x", (2,)), value("v0", None)], ["y"]))
