"""Argmax, argmin, variance, all, any, cumsum and cumprod: native code, the intermediate levels and numpy agree."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import check_levels, graph_of, outputs
from support.op_cases import OpCase

import xrelay
from xrelay import relay
from xrelay.errors import ConstraintError

Array = NDArray[Any]
DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int64", "bool")


def check(case: OpCase, inputs: list[Array], expected: Array, rtol: float = 0) -> None:
    """Checks the interpreter and native code against `expected`, and the other levels against the interpreter."""
    module = graph_of(case)
    found = {"interpreter": outputs(module, inputs)[0]}
    found["native"] = xrelay.compile(module.clone(), cache=False).run(inputs)[0]
    for level, actual in found.items():
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol, err_msg=f"{level} of {case.id}")
    check_levels(module, inputs, rtol=max(rtol, 1e-6))


def ties(shape: tuple[int, ...], dtype: str, nans: float = 0.0) -> Array:
    """Few distinct values, some of them NaN."""
    rng = np.random.default_rng(1)
    data = rng.integers(0, 2 if dtype == "bool" else 4, shape).astype(dtype)
    if nans:
        data[rng.random(shape) < nans] = np.nan
    return data


def chosen(data: Array, largest: bool, axis: tuple[int, ...], last: bool) -> Array:
    """The index of the first or last extreme over some axes, as i32."""
    kept = [each for each in range(data.ndim) if each not in axis]
    count = prod(data.shape[each] for each in axis)
    rows = data.transpose([*kept, *axis]).reshape([*(data.shape[each] for each in kept), count])
    find = np.argmax if largest else np.argmin
    if last:
        return np.asarray(rows.shape[-1] - 1 - find(rows[..., ::-1], axis=-1), np.int32)
    return np.asarray(find(rows, axis=-1), np.int32)


AXES = [((5, 67), (1,)), ((5, 67), (0,)), ((3, 4, 37), (0, 2)), ((2, 3, 5, 40), (2, 3)), ((1,), (0,)), ((0, 3), (1,))]


@pytest.mark.grid(14)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_ties_and_types(op: str, last: bool, dtype: str) -> None:
    for shape, axis in AXES[:3]:
        data = ties(shape, dtype, 0.03 if dtype.startswith("float") else 0)
        case = OpCase(op, [shape], {"axis": axis, "select_last_index": last}, dtype=dtype)
        check(case, [data], chosen(data, op == "argmax", axis, last))


@pytest.mark.grid(5)
@pytest.mark.parametrize(("shape", "axis"), AXES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_shapes_and_axes(shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool) -> None:
    data = ties(shape, "float32")
    expected = chosen(data, True, axis, False)
    expected = expected.reshape([1 if n in axis else e for n, e in enumerate(shape)]) if keepdims else expected
    negative = tuple(each - len(shape) for each in axis)
    check(OpCase("argmax", [shape], {"axis": negative, "keepdims": keepdims}), [data], expected)


@pytest.mark.grid(4)
@pytest.mark.parametrize("fill", [-np.inf, np.inf, np.nan, 0.0])
@pytest.mark.parametrize("last", [False, True])
def test_rows_of_one_value(fill: float, last: bool) -> None:
    for op in ("argmax", "argmin"):
        for shape in ((2, 5), (2, 70)):
            data = np.full(shape, fill, np.float32)
            data[1, 2] = np.nan
            case = OpCase(op, [shape], {"axis": 1, "select_last_index": last})
            check(case, [data], chosen(data, op == "argmax", (1,), last))


def test_nothing_to_choose_from_is_an_error() -> None:
    with pytest.raises(ConstraintError, match=r"\[relay.argmax C2\] axis 0 has no elements to choose from"):
        relay.argmax(relay.var("x", shape=(0, 3)), axis=0)
    with pytest.raises(ConstraintError, match=r"\[relay.argmin C2\] axis 1 has no elements"):
        relay.argmin(relay.var("x", shape=(2, 0)), axis=1)
    with pytest.raises(ConstraintError, match=r"\[relay.argmax C1\] axis 2 is out of range"):
        relay.argmax(relay.var("x", shape=(0, 3)), axis=2)
    with pytest.raises(ConstraintError, match=r"\[relay.argmin C1\]"):
        relay.argmin(relay.var("x", shape=(0, 3)), axis=(1, 1))


@pytest.mark.grid(5)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("unbiased", [False, True])
def test_variance(dtype: str, unbiased: bool) -> None:
    for shape, axis in (((5, 33), (1,)), ((5, 33), (0,)), ((2, 3, 17), (0, 2))):
        data = np.random.default_rng(2).standard_normal(shape).astype(dtype)
        mean = data.mean(axis, keepdims=True, dtype=np.float64).astype(dtype)
        case = OpCase("variance", [shape, mean.shape], {"axis": axis, "unbiased": unbiased}, dtype=dtype)
        wide = (data.astype(np.float64) - mean) ** 2
        count = wide.size // np.prod([e for n, e in enumerate(shape) if n not in axis], dtype=int) - unbiased
        expected = (wide.sum(axis) / count).astype(dtype)
        check(case, [data, mean], expected, 2e-3 if dtype == "float16" else 1e-5)


@pytest.mark.parametrize("extent", [0, 1])
def test_unbiased_variance_of_too_few_terms_is_no_number(extent: int) -> None:
    data, mean = np.ones((2, extent), np.float32), np.ones((2, 1), np.float32)
    case = OpCase("variance", [data.shape, mean.shape], {"axis": 1, "unbiased": True})
    check(case, [data, mean], np.full(2, np.nan, np.float32))
    x = relay.var("x", shape=(2, "n"))
    model = xrelay.compile(relay.Module.from_expr(relay.Function([x], relay.std(x, 1, unbiased=True))), cache=False)
    np.testing.assert_array_equal(model.run([data])[0], np.full(2, np.nan, np.float32))


def test_arguments_come_in_the_order_of_relay() -> None:
    x = relay.var("x", shape=(2, 3, 4))
    data = np.random.default_rng(6).standard_normal((2, 3, 4)).astype(np.float32)
    results = [
        relay.variance(x, 1, True, False, True),
        relay.variance(x),
        relay.std(x, (0, 2), False, True),
        relay.argmax(x, -1, True, False, True),
        relay.cumsum(x, 1),
    ]
    module = relay.Module.from_expr(relay.Function([x], relay.Tuple(results)))
    expected = [
        data.var(1, keepdims=True, ddof=1),
        data.var(),
        data.std(1),
        data.argmax(-1)[..., None].astype(np.int32),
        data.cumsum(1),
    ]
    for found, wanted in zip(xrelay.compile(module, cache=False).run([data]), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_a_mean_of_another_shape_is_an_error() -> None:
    x = relay.var("x", shape=(2, 3))
    with pytest.raises(ConstraintError, match=r"\[relay.variance C4\] the mean has shape \(2\), it must be \(2, 1\)"):
        relay.variance(x, 1, with_mean=relay.mean(x, axis=1))
    with pytest.raises(ConstraintError, match=r"\[relay.variance C1\] axis 3 is out of range"):
        relay.variance(x, 3, with_mean=relay.mean(x, axis=1, keepdims=True))


@pytest.mark.grid(2)
@pytest.mark.parametrize(("op", "axis"), [("all", (1,)), ("any", (0,)), ("all", (0, 1)), ("any", (0, 1))])
def test_logic_over_axes(op: str, axis: tuple[int, ...]) -> None:
    for shape in ((3, 37), (0, 4), (1, 1)):
        data = np.random.default_rng(3).random(shape) < (0.97 if op == "all" else 0.03)
        check(OpCase(op, [shape], {"axis": axis}, dtype="bool"), [data], np.asarray(getattr(np, op)(data, axis=axis)))
    with pytest.raises(ConstraintError, match=rf"\[relay.{op} C1\] axis 2 is out of range"):
        getattr(relay, op)(relay.var("x", shape=(2, 3), dtype="bool"), axis=2)


@pytest.mark.grid(12)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8", "int64"])
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
@pytest.mark.parametrize("exclusive", [False, True])
def test_cumulative(op: str, exclusive: bool, dtype: str) -> None:
    for shape, axis in (((5, 13), 1), ((5, 13), -2), ((2, 3, 17), None), ((7,), 0), ((0, 3), 1), ((3, 0), 1)):
        data = np.random.default_rng(4).integers(1, 3, shape).astype(dtype)
        data = data / 2 if dtype.startswith("float") else data
        line = data.astype("float32" if dtype == "float16" else dtype)
        steps = getattr(np, op)(line, axis=axis, dtype=line.dtype)
        if exclusive and steps.size:
            along = 0 if axis is None else axis
            first = np.full_like(steps.take([0], along), op == "cumprod")
            steps = np.concatenate([first, steps.take(range(steps.shape[along] - 1), along)], along)
        attributes: dict[str, Any] = {"exclusive": exclusive} | ({} if axis is None else {"axis": axis})
        check(OpCase(op, [shape], attributes, dtype=dtype), [data.astype(dtype)], steps.astype(dtype), 1e-6)


def test_cumulative_sums_in_another_type() -> None:
    truths = np.array([[True, False, True], [True, True, True]])
    case = OpCase("cumsum", [(2, 3)], {"axis": 1, "dtype": "int32"}, dtype="bool")
    check(case, [truths], np.cumsum(truths, 1, dtype=np.int32))
    x = relay.var("x", shape=(2, 3), dtype="bool")
    with pytest.raises(ConstraintError, match=r"\[relay.cumsum C2\]"):
        relay.cumsum(x, axis=1)
    with pytest.raises(ConstraintError, match=r"\[relay.cumprod C2\]"):
        relay.cumprod(x)
