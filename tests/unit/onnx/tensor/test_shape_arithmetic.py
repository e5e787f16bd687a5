"""Computed shapes: folded if known, and otherwise expressed in the names of dimensions."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import InterpreterError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay
from xrelay.passes.types.infer_type import infer_types


def model(nodes: list[onnx.NodeProto], shape: list[int | str], out_rank: int, *constants: tuple[str, object]) -> bytes:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * out_rank)],
        [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in constants],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def merge_last_axes(shape: list[int | str]) -> bytes:
    """`x` of N × S × 8 as N × 8 S, as exporters write it: by extents of the shape."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        helper.make_node("Gather", ["s", "one"], ["t"], axis=0),
        helper.make_node("Mul", ["t", "eight"], ["m"]),
        helper.make_node("Unsqueeze", ["n", "zeros"], ["n1"]),
        helper.make_node("Unsqueeze", ["m", "zeros"], ["m1"]),
        helper.make_node("Concat", ["n1", "m1"], ["shape"], axis=0),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    return model(nodes, shape, 2, ("zero", 0), ("one", 1), ("eight", 8), ("zeros", [0]))


def imported(content: bytes) -> ModuleOp:
    module = import_onnx(content)
    infer_types(module)
    return module


def test_shapes_that_are_known_leave_a_static_reshape() -> None:
    text = str(imported(merge_last_axes([2, 3, 8])))
    assert "relay.reshape(" in text
    assert "dyn.reshape" not in text
    assert "shape_of" not in text


def test_named_dimensions_reach_the_type_of_a_reshape() -> None:
    module = imported(merge_last_axes(["N", "S", 8]))
    text = str(module)
    assert "relay.dyn.reshape(" in text
    assert "-> tensor<?x?xf32, #relay.dims<N, 8 * S>>" in text
    x = np.arange(48, dtype=np.float32).reshape(2, 3, 8)
    np.testing.assert_array_equal(run_relay(module, [x])[0], x.reshape(2, 24))


def test_an_impossible_shape_is_an_error_with_both() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], start=0, end=1),
        helper.make_node("Concat", ["s", "five"], ["shape"], axis=0),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    module = imported(model(nodes, ["N", "S"], 2, ("five", [5])))
    x = np.ones((2, 5), np.float32)
    np.testing.assert_array_equal(run_relay(module, [x])[0], x)
    with pytest.raises(InterpreterError, match="S"):
        run_relay(module, [np.ones((2, 4), np.float32)])


def test_filled_and_broadcast_to_a_computed_shape() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("ConstantOfShape", ["s"], ["zeros"]),
        helper.make_node("Size", ["x"], ["size"]),
        helper.make_node("Expand", ["zeros", "s"], ["wide"]),
        helper.make_node("Add", ["x", "wide"], ["y"]),
    ]
    module = imported(model(nodes, ["N", 3], 2))
    assert "#relay.dims<N>" in str(module)
    x = np.ones((4, 3), np.float32)
    np.testing.assert_array_equal(run_relay(module, [x])[0], x)
