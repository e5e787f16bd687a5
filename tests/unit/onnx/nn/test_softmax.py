"""Softmax and LogSoftmax before opset 13, which flatten the axes from `axis` on; Hardmax of any opset."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_node import both, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

X = np.array([[1.0, np.inf, -2.0], [np.nan, 0.0, 3.0]], np.float32)


@pytest.mark.parametrize(("op", "alone"), [("Softmax", 1.0), ("LogSoftmax", 0.0)])
def test_behind_the_last_axis_each_element_is_a_row(op: str, alone: float) -> None:
    expected = np.where(np.isfinite(X), np.float32(alone), np.float32(np.nan))
    for dims in (None, {0: ("n", 3)}):
        for (found,) in both(node_model(op, [X], 9, dims=dims, axis=2), [X]):
            np.testing.assert_array_equal(found, expected, strict=True)


def test_the_default_axis_of_a_list_is_behind_it() -> None:
    for (found,) in both(node_model("Softmax", [X[0, ::2]], 9), [X[0, ::2]]):
        np.testing.assert_array_equal(found, np.ones(2, np.float32), strict=True)


def test_from_opset_11_on_it_is_refused() -> None:
    with pytest.raises(ModelImportError, match="'axis' has the illegal value 2"):
        import_onnx(node_model("Softmax", [X], 11, axis=2))


@pytest.mark.parametrize(("opset", "axis"), [(11, 2), (11, 1), (13, -1), (13, 0), (13, 1)])
def test_hardmax(opset: int, axis: int) -> None:
    x = np.array([[[1, 3, 3, 0], [2, 2, 2, 2], [-1, 0, np.inf, 5]], [[0, 1, 0, 0], [7, -np.inf, 7, 1], [1, 2, 3, 4]]])
    x = x.astype(np.float16)
    proto = node_model("Hardmax", [x], opset, dims={0: ("n", 3, 4)} if opset == 13 else None, axis=axis)
    flat = x.reshape(2, -1) if opset == 11 and axis == 1 else x
    best = np.expand_dims(np.argmax(flat, axis), axis)
    expected = np.zeros(flat.shape, np.float16)
    np.put_along_axis(expected, best, np.float16(1), axis)
    for (found,) in both(proto, [x]):
        np.testing.assert_array_equal(found, expected.reshape(x.shape), strict=True)
