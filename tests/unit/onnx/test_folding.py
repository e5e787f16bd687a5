"""Nodes on constants: folding in the importer computes the same as the node at run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from support.onnx_models import model, value
from support.onnx_node_cases import NodeCase, node_cases
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.frontend.onnx.folding import FOLD_LIMIT
from xrelay.frontend.onnx.signature import graph_inputs
from xrelay.interpreters.relay import run_relay

SMALL = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)


def folded(op: str, constants: dict[str, Any], opset: int = 13, outputs: int = 1, **attributes: Any) -> np.ndarray:
    """The value of a node on constants; it must be a constant after the import."""
    names = [f"y{index}" for index in range(outputs)]
    node = helper.make_node(op, list(constants), names, name="node", **attributes)
    arrays = {name: np.asarray(array) for name, array in constants.items() if name}
    module = import_onnx(model([node], [], names[:1], initializers=arrays, opset=opset))
    (function,) = [op for op in module.ops if isinstance(op, FuncOp)]
    assert all(isinstance(op, ConstantOp) for op in list(function.body.block.ops)[:-1])
    return run_relay(module, [])[0]


def as_initializers(case: NodeCase) -> onnx.ModelProto:
    """The model of a case with constant inputs."""
    proto = onnx.ModelProto()
    proto.CopyFrom(case.model)
    for info, array in zip(graph_inputs(case.model.graph), case.inputs, strict=True):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, info.name))
    return proto


SMALL_CASES = [
    case
    for case in node_cases()
    if all(isinstance(each, np.ndarray) and each.size <= FOLD_LIMIT for each in case.inputs)
]


@pytest.mark.grid(8, values=lambda case: case.ops)
@pytest.mark.parametrize("case", SMALL_CASES, ids=lambda case: case.name)
def test_what_is_folded_is_what_runs(case: NodeCase) -> None:
    try:
        expected = run_relay(import_onnx(case.model), case.inputs)
    except XRelayError:
        # With constant inputs more nodes can be imported than without.
        expected = case.outputs
    try:
        found = run_relay(import_onnx(as_initializers(case)), [])
    except ModelImportError:
        return
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(
            ours.astype(np.float64), theirs.astype(np.float64), rtol=max(case.rtol, 1e-6), atol=case.atol
        )


@pytest.mark.parametrize("opset", [9, 13])
def test_batch_normalization(opset: int) -> None:
    statistics = {name: np.array([number], np.float32) for name, number in zip("sbmv", (2, 3, 4, 5), strict=True)}
    expected = (SMALL - 4) / np.sqrt(5 + 1e-5) * 2 + 3
    np.testing.assert_allclose(folded("BatchNormalization", {"x": SMALL} | statistics, opset), expected, rtol=1e-6)


def test_max_pool_with_pads() -> None:
    found = folded("MaxPool", {"x": -SMALL}, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[3, 3])
    np.testing.assert_array_equal(found, [[[[-1, -3], [-9, -11]]]])


def test_softmax_before_opset_13_flattens() -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    flat = np.exp(x.reshape(2, 4) - x.reshape(2, 4).max(axis=1, keepdims=True))
    expected = (flat / flat.sum(axis=1, keepdims=True)).reshape(2, 2, 2)
    np.testing.assert_allclose(folded("Softmax", {"x": x}, opset=11), expected, rtol=1e-6)


def test_unsqueeze_of_unsorted_axes() -> None:
    x = np.zeros((2, 3), np.int64)
    assert folded("Unsqueeze", {"x": x}, opset=11, axes=[3, 0]).shape == (1, 2, 3, 1)
    assert folded("Unsqueeze", {"x": x, "axes": [3, 0]}).shape == (1, 2, 3, 1)


@pytest.mark.parametrize(("start", "stop", "step"), [(-1, -100, -1), (4, 0, -2), (2, 2, 1), (3, 1, 1)])
def test_slices(start: int, stop: int, step: int) -> None:
    x = np.arange(6)
    found = folded("Slice", {"x": x, "s": [start], "e": [stop], "a": [0], "t": [step]})
    np.testing.assert_array_equal(found, x[slice(start, None if stop == -100 else stop, step)])


@pytest.mark.parametrize(
    ("op", "operands", "attributes", "expected"),
    [
        ("Range", [np.int64(2**53 + 1), np.int64(2**53 + 7), np.int64(3)], {}, [2**53 + 1, 2**53 + 4]),
        ("Range", [np.float32(0), np.float32(1), np.float32(0.25)], {}, np.float32([0, 0.25, 0.5, 0.75])),
        ("Range", [np.int64(5), np.int64(0), np.int64(-2)], {}, [5, 3, 1]),
        ("Range", [np.int64(5), np.int64(0), np.int64(2)], {}, np.zeros(0, np.int64)),
        ("Floor", [np.float32([-1.5, 1.5])], {}, np.float32([-2, 1])),
        ("Ceil", [np.float32([-1.5, 1.5])], {}, np.float32([-1, 2])),
        ("Where", [[True, False], [[1], [2]], [3, 4]], {}, [[1, 4], [2, 4]]),
        ("Mod", [[-7, 7], [3, -3]], {}, [2, -2]),
        ("Mod", [[-7, 7], [3, -3]], {"fmod": 1}, [-1, 1]),
        ("Mod", [np.float32([-7.5]), np.float32([2])], {"fmod": 1}, np.float32([-1.5])),
        ("Not", [[True, False]], {}, [False, True]),
        ("Div", [[-7, 7], [2, -2]], {}, [-3, -3]),
    ],
)
def test_values(op: str, operands: list[Any], attributes: dict[str, Any], expected: Any) -> None:
    found = folded(op, dict(zip("abc", operands, strict=False)), **attributes)
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("op", "operands", "words"),
    [
        ("Range", [0, 5, 0], "the step is 0"),
        ("Range", [[0, 1], 5, 1], "must be one number, found tensor<2xi64>"),
        ("Where", [[1], [1], [2]], "the element type must be i1"),
        ("Where", [[True, False], [1, 2, 3], [2]], r"shapes \(2\), \(3\) and \(1\) do not broadcast"),
        ("Mod", [[1], [0]], "divisors other than 0"),
        ("Mod", [np.float32([1]), np.float32([2])], "'fmod' must be 1"),
        ("Not", [[1]], "the element type must be i1, found i64"),
    ],
)
def test_refusals(op: str, operands: list[Any], words: str) -> None:
    with pytest.raises(ModelImportError, match=words):
        folded(op, dict(zip("abc", operands, strict=False)))


def test_a_division_by_zero_fails_where_it_runs() -> None:
    node = helper.make_node("Div", ["a", "b"], ["y"])
    proto = model([node], [], ["y"], initializers={"a": np.array([1]), "b": np.array([0])})
    module = import_onnx(proto)
    with pytest.raises(XRelayError, match="division by zero"):
        run_relay(module, [])


def test_large_results_stay_in_the_graph() -> None:
    node = helper.make_node("Tile", ["x", "r"], ["y"])
    constants = {"x": np.ones(8, np.float32), "r": np.array([FOLD_LIMIT])}
    text = str(import_onnx(model([node], [value("z", (1,))], ["y"], initializers=constants)))
    assert "relay.tile" in text


def test_the_lesser_of_numbers_beyond_signed_ones() -> None:
    numbers = {"a": np.array([2**63 - 1, 2**64 - 1], np.uint64), "b": np.array([2**64 - 1, 2**63 - 1], np.uint64)}
    assert folded("Min", numbers).tolist() == [2**63 - 1, 2**63 - 1]
    assert folded("Max", numbers).tolist() == [2**64 - 1, 2**64 - 1]
