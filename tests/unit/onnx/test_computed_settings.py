"""Settings that are inputs of the model: the interpreter takes them as they come."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.errors import InterpreterError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_repeats_that_are_computed() -> None:
    node = helper.make_node("Tile", ["x", "r"], ["y"])
    for shape in ((2, 3), ("n", 3)):
        inputs = [value("x", shape), value("r", (2,), TensorProto.INT64)]
        module = import_onnx(model([node], inputs, ["y"]))
        np.testing.assert_array_equal(run_relay(module, [X, np.array([2, 3])])[0], np.tile(X, (2, 3)))


@pytest.mark.parametrize("largest", [0, 1])
def test_a_k_that_is_computed(largest: int) -> None:
    node = helper.make_node("TopK", ["x", "k"], ["y", "i"], axis=-1, largest=largest)
    module = import_onnx(model([node], [value("x", (2, 3)), value("k", (1,), TensorProto.INT64)], ["y", "i"]))
    for k in range(4):
        values, places = run_relay(module, [X, np.array([k])])
        order = np.arange(3)[::-1] if largest else np.arange(3)
        np.testing.assert_array_equal(places, np.tile(order[:k], (2, 1)), strict=True)
        np.testing.assert_array_equal(values, X[:, order[:k]], strict=True)
    with pytest.raises(InterpreterError, match="k is 4, the axis has 3 elements"):
        run_relay(module, [X, np.array([4])])


@pytest.mark.parametrize(
    ("bounds", "axes", "expected"),
    [
        (([0, 1], [1, 9], [1, 1]), None, (slice(0, 1), slice(1, 9))),
        (([-1], [-9], [-2]), [1], (slice(None), slice(-1, None, -2))),
        (([1, 0], [3, 1]), [2, 0], (slice(0, 1), slice(None), slice(1, 3))),
    ],
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_bounds_that_are_computed(
    bounds: tuple[list[int], ...], axes: list[int] | None, expected: tuple[slice, ...], dtype: type
) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    names = ["starts", "ends", "steps"][: len(bounds)]
    inputs = ["x", "starts", "ends", "" if axes is None else "axes", *names[2:]]
    constants = {} if axes is None else {"axes": np.array(axes, dtype)}
    given = [value("x", ("n", 3, 4)), *(value(name, (len(bounds[0]),), kind) for name in names)]
    module = import_onnx(model([helper.make_node("Slice", inputs, ["y"])], given, ["y"], initializers=constants))
    (found,) = run_relay(module, [x, *(np.array(each, dtype) for each in bounds)])
    np.testing.assert_array_equal(found, x[expected])
