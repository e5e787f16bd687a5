"""`ChangeBatch` and `FlexibleShapeDispatch`: other sizes of an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay, transform
from xrelay.errors import PassError


def network() -> relay.IRModule:
    data, weight = relay.var("data", shape=(2, 3)), relay.var("weight", shape=(4, 3))
    return relay.IRModule.from_expr(relay.Function([data, weight], relay.nn.relu(relay.nn.dense(data, weight))))


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("axis", [0, -2])
def test_a_batch_of_another_size(named: bool, axis: int) -> None:
    module = network()
    data = module["main"].params[0]
    change = transform.ChangeBatch({"data": axis} if named else {data: axis}, batch_size=5)
    main = relay.IRModule.of(transform.Sequential([change])(module))["main"]
    assert [param.shape for param in main.params] == [(5, 3), (4, 3)]
    assert main.body.shape == (5, 4)
    assert module["main"].params[0].shape == (2, 3)
    arrays = [np.arange(15, dtype=np.float32).reshape(5, 3), np.ones((4, 3), np.float32)]
    (result,) = xrelay.compile(relay.IRModule.from_expr(main)).run(arrays)
    assert result[:, 0].tolist() == [3, 12, 21, 30, 39]


def test_what_it_refuses() -> None:
    with pytest.raises(PassError, match="@main has no parameter 'x'; help: it has data, weight"):
        transform.ChangeBatch({"x": 0})(network())
    with pytest.raises(PassError, match="'data' is tensor<2x3xf32>, which has no axis 2"):
        transform.ChangeBatch({"data": 2})(network())
    with pytest.raises(PassError, match="a batch of 0 has no examples"):
        transform.ChangeBatch({"data": 0}, batch_size=0)


Array = NDArray[np.float32]
X, W = relay.var("x", shape=(10, 6)), relay.var("w", shape=(10, 6))


def module(result: relay.Expr) -> relay.IRModule:
    return relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), result))


def rows(count: int, *rest: int) -> Array:
    return np.random.default_rng(count).standard_normal((count, *rest)).astype(np.float32)


@pytest.mark.parametrize("auto_pad", [False, True])
def test_each_bucket_has_a_function_and_other_sizes_run(auto_pad: bool) -> None:
    dispatch = transform.FlexibleShapeDispatch([5, 10], auto_pad=auto_pad, input_indices=[0, 1], pad_value=7)
    found = dispatch(module(relay.tanh(X) + W))
    assert sorted(each.name_hint for each in found.functions) == ["main", "main_10", "main_5", "main_any"]
    model = xrelay.compile(found, cache=False, threads=1)
    for count in (1, 5, 7, 10, 12):
        x, w = rows(count, 6), rows(count, 6)
        np.testing.assert_allclose(model.run([x, w])[0], np.tanh(x) + w, rtol=1e-5, atol=1e-6)


def test_another_axis_and_results_without_it() -> None:
    found = transform.FlexibleShapeDispatch(
        axis=1, buckets=[5, 7], auto_pad=True, input_indices=[0, 1], affects_output=False
    )(module(relay.nn.dense(X, W)))
    model = xrelay.compile(found, cache=False, threads=1)
    for count in (4, 5, 6, 7, 8):
        x, w = rows(10, count), rows(10, count)
        np.testing.assert_allclose(model.run([x, w])[0], x @ w.T, rtol=1e-4, atol=1e-5)


def test_several_results_and_parameters_of_one_size() -> None:
    v = relay.var("v", shape=(6,))
    result = relay.Tuple([*relay.split(X, 2, axis=1), X * v])
    found = transform.FlexibleShapeDispatch([4, 8], auto_pad=True)(module(result))
    model = xrelay.compile(found, cache=False, threads=1)
    scale = rows(6)
    for count in (3, 4, 6, 9):
        x = rows(count, 6)
        for one, other in zip(model.run([x, scale]), (x[:, :3], x[:, 3:], x * scale), strict=True):
            np.testing.assert_array_equal(one, other)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "order": ({"buckets": [5, 5]}, r"buckets \[5, 5\] do not ascend from 1"),
    "none": ({"buckets": []}, r"buckets \[\] do not ascend from 1"),
    "parameter": ({"buckets": [5], "input_indices": [1]}, "@main has 1 parameters, there is no #1"),
    "axis": ({"buckets": [5], "axis": 2}, "parameter #0 of @main has no axis 2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    given, message = REFUSED[name]
    with pytest.raises(PassError, match=message):
        transform.FlexibleShapeDispatch(**given)(module(relay.tanh(X)))
