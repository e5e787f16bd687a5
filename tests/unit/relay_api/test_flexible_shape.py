"""`transform.FlexibleShapeDispatch`: programs of one size at other sizes, with a copy for each expected size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay, transform
from xrelay.errors import PassError

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
