"""Axes of reductions known only at run time, in the interpreter and native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
X = np.random.default_rng(3).random((2, 3, 4)).astype(np.float32)


def results(proto: onnx.ModelProto, runs: Sequence[Sequence[Array]]) -> list[tuple[Array, Array]]:
    """For each list of inputs, the results of the interpreter and of one compiled model."""
    module, native = import_onnx(proto), compile(proto, cache=False, threads=1)
    return [(run_relay(module, list(inputs))[0], native.run(list(inputs))[0]) for inputs in runs]


def reduction(op: str, count: int, kind: int = TensorProto.FLOAT, **attributes: Any) -> onnx.ModelProto:
    given = [value("x", ("n", 3, "k"), kind), value("a", (count,), TensorProto.INT64)]
    return model([helper.make_node(op, ["x", "a"], ["y"], **attributes)], given, ["y"], opset=20)


@pytest.mark.grid(3)
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize(("op", "fold"), [("ReduceSum", np.sum), ("ReduceMax", np.max), ("ReduceMean", np.mean)])
def test_axes_of_a_reduction(op: str, fold: Callable[..., Array], keepdims: int) -> None:
    axes = [[0, 2], [1, -1], [-3, 1], [2, 1]]
    found = results(reduction(op, 2, keepdims=keepdims), [[X, np.array(each)] for each in axes])
    for each, pair in zip(axes, found, strict=True):
        expected = fold(X, axis=tuple(each), keepdims=bool(keepdims))
        for array in pair:
            np.testing.assert_allclose(array, expected, rtol=1e-6, strict=True)


@pytest.mark.grid(2)
@pytest.mark.parametrize("name", ["int8", "uint64", "float16", "float64"])
def test_all_axes_of_other_types_and_of_nothing(name: str) -> None:
    dtype = np.dtype(name)
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    proto = reduction("ReduceSum", 3, kind, keepdims=0)
    whole, empty = np.arange(24).reshape(2, 3, 4).astype(dtype), np.ones((0, 3, 2), dtype)
    axes = np.array([2, 0, 1])
    for array, pair in zip((whole, empty), results(proto, [[whole, axes], [empty, axes]]), strict=True):
        for found in pair:
            np.testing.assert_array_equal(found, np.sum(array, dtype=dtype), strict=True)


@pytest.mark.grid(2)
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [[0, 3], [-4, 0]])
def test_axes_that_are_none(axes: list[int], keepdims: int) -> None:
    proto = reduction("ReduceSum", 2, keepdims=keepdims)
    inputs = [X, np.array(axes)]
    with pytest.raises(XRelayError, match="index out of range"):
        run_relay(import_onnx(proto), inputs)
    with pytest.raises(XRelayError, match="index out of range"):
        compile(proto, cache=False).run(inputs)


def test_a_list_of_no_axes_is_known() -> None:
    for noop, expected in ((0, np.sum(X, keepdims=True)), (1, X)):
        for pair in results(reduction("ReduceSum", 0, noop_with_empty_axes=noop), [[X, np.zeros(0, np.int64)]]):
            for found in pair:
                np.testing.assert_allclose(found, expected, rtol=1e-6, strict=True)


def test_more_axes_than_the_data_have_and_an_unknown_number() -> None:
    with pytest.raises(ModelImportError, match="4 axes of a tensor"):
        import_onnx(reduction("ReduceSum", 4, keepdims=0))
    given = [value("x", (2, 3)), value("a", ("m",), TensorProto.INT64)]
    proto = model([helper.make_node("ReduceSum", ["x", "a"], ["y"])], given, ["y"])
    with pytest.raises(ModelImportError, match="a list of known length is expected"):
        import_onnx(proto)
