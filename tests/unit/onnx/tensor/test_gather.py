"""Gather and OneHot: the conversion of constant indices, and errors of the importer and the compiled model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

import xrelay
from xrelay.errors import ExecutionError, ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

X = np.arange(5 * 12, dtype=np.float32).reshape(5, 12)


def imported(op: str, *inputs: Any, opset: int = 13, x: Any = X, **attributes: Any) -> Any:
    """A node of `x` and of constants; a `ValueInfoProto` is an input."""
    names = [item if isinstance(item, str) else getattr(item, "name", f"c{n}") for n, item in enumerate(inputs)]
    given = [item for item in inputs if hasattr(item, "name")]
    constants = {name: item for name, item in zip(names, inputs, strict=True) if isinstance(item, np.ndarray)}
    node = helper.make_node(op, names, ["y"], name="node", **attributes)
    data = [value("x", x.shape, helper.np_dtype_to_tensor_dtype(x.dtype))] if "x" in names else []
    return import_onnx(model([node], [*data, *given], ["y"], initializers=constants, opset=opset))


@pytest.mark.parametrize("indices", [3, -1, [1, 2], [4, 0, 4], [[0, 1], [2, 3]], np.zeros(0, np.int64)])
def test_constant_indices(indices: Any):
    module = imported("Gather", "x", np.array(indices))
    np.testing.assert_array_equal(run_relay(module, [X])[0], np.take(X, indices, axis=0), strict=True)


@pytest.mark.parametrize(
    "at", [np.array(-1), np.array([1, 2, 3]), np.array([4, 0, -1], np.int32), np.zeros((2, 0), int)]
)
def test_constant_indices_are_checked_at_import(at: np.ndarray):
    """Evenly spaced indices become a slice, any others a `take` without a check."""
    module = imported("Gather", "x", at)
    assert "raise" not in str(module)
    np.testing.assert_array_equal(run_relay(module, [X])[0], X[at])
    with pytest.raises(ModelImportError, match="index -6 of axis 0, of extent 5, is out of range"):
        imported("Gather", "x", np.array([0, -6]))
    with pytest.raises(ModelImportError, match="index 5 of axis 0, of extent 5, is out of range"):
        imported("Gather", "x", np.array([5]))


def test_indices_of_any_order_and_number():
    at = np.random.default_rng(0).permutation(12)
    assert str(imported("Gather", "x", at, axis=1)).count("relay.take") == 1


def test_an_open_axis_is_checked_where_it_runs():
    node = helper.make_node("Gather", ["x", "c"], ["y"], name="node")
    proto = model([node], [value("x", ("n", 12))], ["y"], initializers={"c": np.array([4, 1, -1])})
    module = import_onnx(proto)
    np.testing.assert_array_equal(run_relay(module, [X])[0], X[[4, 1, -1]])


@pytest.mark.parametrize("kind", [TensorProto.INT32, TensorProto.INT64])
def test_an_index_that_is_an_input_is_checked_where_it_runs(kind: int):
    module = imported("Gather", "x", value("i", (3,), kind))
    compiled = xrelay.compile(module, cache=False)
    at = np.array([4, -5, 0], helper.tensor_dtype_to_np_dtype(kind))
    np.testing.assert_array_equal(compiled(X, at)[0], X[at])
    at[1] = 5
    with pytest.raises(ExecutionError, match=r"^node: kernel '\w+' failed: index out of range: 5 is not in \[-5, 5\)"):
        compiled(X, at)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "words"),
    [
        ("Gather", [value("i", (3,))], {}, "the element type of operand #1 must be an integer, found f32"),
        (
            "Gather",
            [value("i", (3,), TensorProto.BOOL)],
            {},
            "the element type of operand #1 must be an integer, found i1",
        ),
        ("Gather", [np.array([0])], {"axis": 2}, "'axis' has the illegal value 2"),
        ("GatherElements", [value("i", (3,), TensorProto.INT64)], {}, "differ in rank"),
        ("GatherElements", [value("i", (3, 13), TensorProto.INT64)], {}, "the indices have 13 elements along axis 1"),
        ("GatherND", [value("i", (), TensorProto.INT64)], {}, "must have an axis for the parts of an index"),
        ("GatherND", [value("i", (2, 3), TensorProto.INT64)], {}, "tuples of 3 after 0 batch axes"),
    ],
)
def test_refusals(op: str, inputs: list[Any], attributes: dict[str, Any], words: str):
    with pytest.raises(ModelImportError, match=words) as caught:
        imported(op, "x", *inputs, **attributes)
    assert "'node'" in str(caught.value)


@pytest.mark.parametrize("opset", [9, 11])
def test_one_hot_counts_negative_indices_from_the_end_since_opset_11(opset: int):
    at, depth, values = np.array([0, -1, 3, -5, 4]), np.array([4.0], np.float32), np.array([2, 7])
    module = imported("OneHot", "x", depth, values, opset=opset, x=at)
    hot = at % 4 if opset >= 11 else at
    outside = (at < -4) | (at > 3)
    expected = np.where((np.arange(4) == hot[:, None]) & ~outside[:, None], 7, 2)
    np.testing.assert_array_equal(run_relay(module, [at])[0], expected)
    np.testing.assert_array_equal(xrelay.compile(module, cache=False)(at)[0], expected)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ([value("d", (2,), TensorProto.INT64), np.array([0, 1])], r"input #1 \(depth\) must be one number"),
        ([np.array(-2), np.array([0, 1])], r"input #1 \(depth\) must not be negative, found -2"),
        ([np.array(2), np.array(0)], r"input #2 \(values\) must be a list of two"),
        ([np.array([2, 3]), np.array([0, 1])], r"input #1 \(depth\) must be one number"),
    ],
)
def test_one_hot_refuses(inputs: list[Any], words: str):
    with pytest.raises(ModelImportError, match=words):
        imported("OneHot", "x", *inputs, x=np.arange(3))


def test_an_extent_that_the_type_of_the_indices_does_not_hold():
    node = helper.make_node("Gather", ["x", "i"], ["y"])
    proto = model([node], [value("x", (2**31,))], ["y"], initializers={"i": np.array([-1, 2], np.int32)})
    assert "tensor<2xf32>" in str(import_onnx(proto))
