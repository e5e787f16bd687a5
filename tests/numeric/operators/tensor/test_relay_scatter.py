"""scatter_elements and scatter_nd: a loop over the updates, the interpreter, every level and native code agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.levels import check_exact, check_refused
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay

Array = NDArray[Any]
RNG = np.random.default_rng(11)
REDUCTIONS = {"update": lambda old, new: new, "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
ELEMENTS = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64"]


def module_of(op: str, *arrays: Array, **attributes: Any) -> ModuleOp:
    names = [f"x{n}" for n in range(len(arrays))]
    inputs = [relay.var(name, shape=a.shape, dtype=str(a.dtype)) for name, a in zip(names, arrays, strict=True)]
    return relay.Module.from_expr(relay.Function(inputs, getattr(relay, op)(*inputs, **attributes)))


def check(expected: Array, op: str, *arrays: Array, **attributes: Any) -> None:
    check_exact(module_of(op, *arrays, **attributes), arrays, expected)


def one_by_one(x: Array, places: list[tuple[int, ...]], updates: Array, reduction: str) -> Array:
    """Applies updates in order, rounding every step to the data's type."""
    result = x.copy()
    with np.errstate(all="ignore"):
        for place, update in zip(places, updates.reshape(-1), strict=True):
            result[place] = REDUCTIONS[reduction](result[place], update).astype(x.dtype)
    return result


def values(dtype: str, *shape: int) -> Array:
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        return RNG.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True)
    return np.asarray(RNG.integers(0, 2, shape) if kind.kind == "b" else RNG.standard_normal(shape) * 3).astype(kind)


def check_elements(x: Array, at: Array, updates: Array, axis: int, reduction: str) -> None:
    points = [list(point) for point in np.ndindex(at.shape)]
    for point in points:
        point[axis] = int(at[tuple(point)])
    expected = one_by_one(x, [tuple(point) for point in points], updates, reduction)
    check(expected, "scatter_elements", x, at, updates, axis=axis, reduction=reduction)


@pytest.mark.grid(8)
@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_elements_of_every_type(reduction: str, dtype: str):
    if dtype != "bool" or reduction not in ("add", "mul"):
        check_elements(values(dtype, 4, 5), RNG.integers(-4, 4, (9, 3)), values(dtype, 9, 3), 0, reduction)


@settings(max_examples=examples(6, more=2), deadline=None)
@given(
    st.lists(st.sampled_from([1, 2, 7, 17]), min_size=1, max_size=3),
    st.sampled_from([0, 1, 3, 16]),
    st.integers(-3, 2),
    st.sampled_from(list(REDUCTIONS)),
    st.sampled_from(["int8", "int32", "int64"]),
)
def test_elements_of_every_shape(shape: list[int], count: int, axis: int, reduction: str, kind: str):
    axis = axis % len(shape) - (len(shape) if axis < 0 else 0)
    reach = [int(RNG.integers(1, n + 1)) for n in shape]
    reach[axis] = count
    at = RNG.integers(-shape[axis], shape[axis], reach).astype(kind)
    check_elements(values("float32", *shape), at, values("float32", *reach), axis, reduction)


@pytest.mark.grid(6)
@pytest.mark.parametrize(
    ("shape", "places"),
    [((5,), (1, 9)), ((5, 7), (2, 9)), ((5, 7), (1, 2, 3)), ((5, 7, 2), (3, 0)), ((5, 7), (2,)), ((3, 4), (0, 6)),
     ((6, 3, 17), (1, 20))],
)  # fmt: skip
@pytest.mark.parametrize("reduction", ["update", "add", "max"])
def test_slices_at_tuples(shape: tuple[int, ...], places: tuple[int, ...], reduction: str):
    """Empty index tuples update the whole data."""
    x, rest = values("float32", *shape), shape[places[0] :]
    at = np.array([RNG.integers(-n, n, places[1:]) for n in shape[: places[0]]]).reshape(places).astype(np.int64)
    updates = values("float32", *places[1:], *rest)
    points = [
        (*(int(part) for part in at[(slice(None), *point)]), *tail)
        for point in np.ndindex(places[1:])
        for tail in np.ndindex(rest)
    ]
    check(one_by_one(x, points, updates, reduction), "scatter_nd", x, at, updates, mode=reduction)


@pytest.mark.parametrize(
    ("op", "places", "wrong", "limits"),
    [("scatter_elements", (5, 6), 11, "[-11, 11)"), ("scatter_nd", (2, 5), -7, "[-6, 6)")],
)
def test_an_index_out_of_range_names_the_value(op: str, places: tuple[int, ...], wrong: int, limits: str):
    x, at = values("float32", 11, 6), np.zeros(places, np.int64)
    at.flat[-1] = wrong
    updates = values("float32", *(places if op == "scatter_elements" else places[1:]))
    message = f"index out of range: {wrong} is not in {limits}"
    check_refused(module_of(op, x, at, updates), [x, at, updates], message)


def test_the_operands_stay_as_they_are():
    """The update applies to a copy: the model's inputs and weights keep their elements."""
    x, at, updates = values("float32", 7, 3), RNG.integers(0, 7, (4, 3)), values("float32", 4, 3)
    places = relay.var("i", shape=(4, 3), dtype="int64")
    module = relay.Module.from_expr(relay.Function([places], relay.scatter_elements(relay.const(x), places, updates)))
    model, first = xrelay.compile(module, cache=False), None
    for _ in range(2):
        (found,) = model(at)
        first = found if first is None else first
        np.testing.assert_array_equal(found, first)
