"""Slice, Expand and Tile in the interpreter against numpy; and their errors."""

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
        ("Expand", {"s": [4, 12]}, {}, "do not broadcast"),
        ("Tile", {"r": [2]}, {}, "do not suit rank 2"),
    ],
)
def test_refusals(op: str, constants: dict[str, Any], attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelImportError, match=words) as caught:
        result(op, constants, **attributes)
    assert "'node'" in str(caught.value)
