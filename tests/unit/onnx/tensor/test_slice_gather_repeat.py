"""Slice, Gather, Expand, Tile and stacked MatMul in the interpreter against numpy; and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

X = np.arange(5 * 12, dtype=np.float32).reshape(5, 12)


def result(op: str, constants: dict[str, Any], opset: int = 13, **attributes: Any) -> np.ndarray:
    node = helper.make_node(op, ["x", *constants], ["y"], name="node", **attributes)
    arrays = {name: np.asarray(array) for name, array in constants.items() if name}
    proto = model([node], [value("x", X.shape)], ["y"], initializers=arrays, opset=opset)
    (found,) = run_relay(import_onnx(proto), [X])
    return found


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 12, 2), (1, 12, 2), (1, 9, 3), (-1, -13, -1), (3, 4, 1), (3, 3, 1), (4, 1, 1)]
)
def test_slices(start: int, stop: int, step: int) -> None:
    constants = {"starts": [start], "ends": [stop], "axes": [1], "steps": [step]}
    np.testing.assert_array_equal(result("Slice", constants), X[:, slice(start, stop, step)])


@pytest.mark.parametrize("indices", [3, -1, [1, 2], [4, 0, 4], [[0, 1], [2, 3]]])
def test_gathers(indices: Any) -> None:
    np.testing.assert_array_equal(result("Gather", {"i": indices}), np.take(X, indices, axis=0))


@pytest.mark.parametrize("shape", [(1, 1), (2, 1, 12), (3, 5, 12)])
def test_expansions(shape: tuple[int, ...]) -> None:
    np.testing.assert_array_equal(result("Expand", {"s": np.array(shape)}), X * np.ones(shape, np.float32))


def test_tiles() -> None:
    np.testing.assert_array_equal(result("Tile", {"r": [2, 3]}), np.tile(X, (2, 3)))


@pytest.mark.parametrize(
    ("op", "constants", "attributes", "words"),
    [
        ("Slice", {"s": [0], "e": [5], "a": [0], "t": [0]}, {}, "step of Slice is 0"),
        ("Slice", {"s": [0, 1], "e": [5]}, {}, "2 starts, 1 ends"),
        ("Slice", {"s": [0], "e": [5], "a": [7]}, {}, r"'axes' has the illegal value \[7\]"),
        ("Gather", {"i": [5]}, {}, "index 5 of axis 0, of extent 5, is out of range"),
        ("Expand", {"s": [4, 12]}, {}, "do not broadcast"),
        ("Tile", {"r": [2]}, {}, "do not suit rank 2"),
    ],
)
def test_refusals(op: str, constants: dict[str, Any], attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelImportError, match=words) as caught:
        result(op, constants, **attributes)
    assert "'node'" in str(caught.value)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((3,), (3,)),
        ((2, 5, 3), (2, 3, 4)),
        ((5, 3), (2, 2, 3, 4)),
        ((3,), (70, 3, 4)),
        ((9, 1, 5, 3), (8, 3, 4)),
        ((2, 5, 3), (3,)),
        ((0, 5, 3), (3, 4)),
        ((2, 3), (3, 3, 1)),
    ],
)
def test_products_of_vectors_and_stacks(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in (left, right))
    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    (found,) = run_relay(import_onnx(model([node], [value("a", left), value("b", right)], ["y"])), [a, b])
    np.testing.assert_allclose(found, a @ b, rtol=1e-5, atol=1e-5)


def test_a_product_keeps_an_open_batch() -> None:
    node = helper.make_node("MatMul", ["a", "w"], ["y"])
    proto = model([node], [value("a", ("n", 3))], ["y"], initializers={"w": np.ones((3, 4), np.float32)})
    import_onnx(proto).verify()


def test_no_elements_at_all() -> None:
    assert result("Gather", {"i": np.zeros((0,), np.int64)}).shape == (0, 12)
