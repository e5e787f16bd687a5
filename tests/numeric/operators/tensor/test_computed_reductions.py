"""Reductions over axes, and OneHot with a depth, known only at run time: native code and interpreter against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ExecutionError, InterpreterError, XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
Run = Callable[[list[Array]], Array]


def total(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(np.add.reduce(x, axis=axes, keepdims=keepdims))


OPS: dict[str, Callable[[Array, tuple[int, ...], bool], Array]] = {
    "ReduceSum": total,
    "ReduceMean": lambda x, axes, keepdims: total(x, axes, keepdims) * (total(x, axes, keepdims).size / x.size),
    "ReduceMax": lambda x, axes, keepdims: np.asarray(np.maximum.reduce(x, axis=axes, keepdims=keepdims)),
    "ReduceProd": lambda x, axes, keepdims: np.asarray(np.multiply.reduce(x, axis=axes, keepdims=keepdims)),
    "ReduceL2": lambda x, axes, keepdims: np.sqrt(total(x * x, axes, keepdims)),
    "ReduceLogSumExp": lambda x, axes, keepdims: np.log(total(np.exp(x), axes, keepdims)),
}


def both(proto: Any) -> list[Run]:
    """The model in the interpreter and, compiled once, as native code."""
    module, native = import_onnx(proto), compile(proto, cache=False, opt_level=1)
    return [lambda inputs: run_relay(module, inputs)[0], lambda inputs: native.run(inputs)[0]]


def reduction(op: str, axes: int, *, keepdims: int, dtype: str = "float32") -> list[Run]:
    """A reduction of a tensor of rank 3 over a list of `axes` axes."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    node = helper.make_node(op, ["x", "axes"], ["y"], keepdims=keepdims)
    given = [value("x", ("n", 3, "m"), kind), value("axes", (axes,), TensorProto.INT64)]
    return both(model([node], given, ["y"], opset=18))


@pytest.mark.grid(4)
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("op", OPS)
def test_any_axes_at_any_sizes(op: str, keepdims: int) -> None:
    rng, runs = np.random.default_rng(3), reduction(op, 2, keepdims=keepdims)
    for n, m in ((2, 5), (1, 1), (7, 2)):
        x = rng.uniform(0.5, 1.5, (n, 3, m)).astype(np.float32)
        for axes in ([0, 1], [2, 0], [-1, 1], [-2, -3]):
            wanted = OPS[op](x, tuple(axes), bool(keepdims))
            for run in runs:
                np.testing.assert_allclose(run([x, np.array(axes)]), wanted.astype(np.float32), rtol=1e-5, strict=True)


def test_no_elements() -> None:
    for run in reduction("ReduceSum", 1, keepdims=1):
        for shape in ((0, 3, 2), (2, 3, 0), (0, 3, 0)):
            for axis in range(3):
                x = np.ones(shape, np.float32)
                wanted = x.sum(axis, keepdims=True)
                np.testing.assert_array_equal(run([x, np.array([axis])]), wanted, strict=True)


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64", "float16"])
def test_other_elements(dtype: str) -> None:
    x = np.arange(12).reshape(2, 3, 2).astype(np.dtype(dtype))
    for run in reduction("ReduceMax", 1, keepdims=0, dtype=dtype):
        for axis in range(-3, 3):
            np.testing.assert_array_equal(run([x, np.array([axis])]), x.max(axis), strict=True)


def test_axes_that_are_none_of_the_tensor() -> None:
    x = np.ones((2, 3, 2), np.float32)
    for keepdims in (0, 1):
        for run in reduction("ReduceSum", 1, keepdims=keepdims):
            for axis in (3, -4, 2**40, -(2**63)):
                with pytest.raises((InterpreterError, ExecutionError), match=r"index|out of range"):
                    run([x, np.array([axis])])
            np.testing.assert_array_equal(run([x, np.array([1])]).reshape(-1), [3] * 4)


def test_an_axis_that_is_named_twice() -> None:
    """With keepdims it is reduced once; without, the result would have another rank."""
    x, axes = np.ones((2, 3, 2), np.float32), np.array([1, -2])
    for run in reduction("ReduceSum", 2, keepdims=1):
        np.testing.assert_array_equal(run([x, axes]), np.full((2, 1, 2), 3))
    for run in reduction("ReduceSum", 2, keepdims=0):
        with pytest.raises((InterpreterError, ExecutionError)):
            run([x, axes])


@pytest.mark.parametrize(("noop", "wanted"), [(0, 6), (1, 1)])
def test_no_axes(noop: int, wanted: float) -> None:
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], noop_with_empty_axes=noop, keepdims=0)
    given = [value("x", (2, 3)), value("axes", (0,), TensorProto.INT64)]
    for run in both(model([node], given, ["y"], opset=18)):
        found = run([np.ones((2, 3), np.float32), np.zeros(0, np.int64)])
        np.testing.assert_array_equal(found, np.full((2, 3) if noop else (), wanted))


def test_more_axes_than_the_tensor_has() -> None:
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)
    given = [value("x", (2,)), value("axes", (2,), TensorProto.INT64)]
    with pytest.raises(XRelayError, match="2 axes of a tensor of rank 1"):
        import_onnx(model([node], given, ["y"], opset=18))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_hot_of_a_depth_that_is_computed(axis: int) -> None:
    node = helper.make_node("OneHot", ["x", "depth", "values"], ["y"], axis=axis)
    given = [value("x", ("n",), TensorProto.INT32), value("depth", (), TensorProto.INT64), value("values", (2,))]
    runs, values = both(model([node], given, ["y"])), np.array([2, 5], np.float32)
    for indices in ([0, 3, -1, 9, -9], [], [2]):
        x = np.array(indices, np.int32)
        for depth in (0, 1, 4):
            hot = np.where(x < 0, x + depth, x)[:, None] == np.arange(depth)
            wanted = values[(hot if axis else hot.T).astype(np.int64)]
            for run in runs:
                np.testing.assert_array_equal(run([x, np.array(depth), values]), wanted, strict=True)
    for run in runs:
        with pytest.raises((InterpreterError, ExecutionError), match="-1"):
            run([np.zeros(1, np.int32), np.array(-1), values])
