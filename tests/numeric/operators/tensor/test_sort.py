"""`topi.sort` against numpy at every level, including native code."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.kernels.topi_levels import forms
from xdsl.dialects.builtin import ModuleOp

from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel
from xrelay.passes.infra.source import full_context, parse_module

Array = NDArray[Any]
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i1": "bool", "i8": "int8",
          "i32": "int32", "i64": "int64", "ui8": "uint8", "ui32": "uint32", "ui64": "uint64"}  # fmt: skip
RNG = np.random.default_rng(5)


def sort_module(shape: tuple[int, ...], element: str, axis: int, count: int, *, descending: bool) -> ModuleOp:
    """@f sorts, @main calls it."""
    kept = [count if n == axis else size for n, size in enumerate(shape)]
    data = f"tensor<{'x'.join(map(str, (*shape, element)))}>"
    values, indices = (f"tensor<{'x'.join(map(str, (*kept, each)))}>" for each in (element, "i64"))
    order = ", descending" if descending else ""
    text = f"""
      func.func private @f(%x: {data}) -> ({values}, {indices}) attributes {{relay.primitive}} {{
        %v, %i = topi.sort(%x) {{axis = {axis} : i64{order}}} : ({data}) -> ({values}, {indices})
        func.return %v, %i : {values}, {indices}
      }}
      func.func @main(%x: {data}) -> ({values}, {indices}) {{
        %v, %i = func.call @f(%x) : ({data}) -> ({values}, {indices})
        func.return %v, %i : {values}, {indices}
      }}"""
    module = parse_module(full_context(), text, "sort.mlir")
    module.verify()
    return module


@cache
def native_sort(shape: tuple[int, ...], element: str, axis: int, count: int, *, descending: bool) -> CompiledModel:
    """`sort_module` as native code, which is compiled once for all data."""
    return compile(sort_module(shape, element, axis, count, descending=descending), cache=False, threads=2)


def expected_order(keys: Array, *, descending: bool) -> list[int]:
    """The definition, by comparisons of Python numbers."""

    def rank(place: int) -> tuple[bool, float]:
        key = keys[place].item()
        # NaN is the greatest.
        return (not descending, 0) if key != key else (descending, -key if descending else key)

    return sorted(range(len(keys)), key=rank)


def check_sort(x: Array, element: str, axis: int, count: int, *, descending: bool, levels: bool = True) -> None:
    rows = np.moveaxis(x, axis, -1)
    order = np.zeros((*rows.shape[:-1], count), np.int64)
    for row in np.ndindex(rows.shape[:-1]):
        order[row] = expected_order(rows[row], descending=descending)[:count]
    indices = np.moveaxis(order, -1, axis)
    expected = [np.take_along_axis(x, indices, axis), indices]
    results = dict(forms(sort_module(x.shape, element, axis, count, descending=descending), [x])) if levels else {}
    results["native"] = list(native_sort(x.shape, element, axis, count, descending=descending).run([x]))
    for form, found in results.items():
        for actual, wanted in zip(found, expected, strict=True):
            assert actual.dtype == wanted.dtype, form
            # Bitwise, so that -0.0 and the order of NaNs count.
            np.testing.assert_array_equal(bits(actual), bits(wanted), err_msg=form)


def bits(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def numbers(shape: tuple[int, ...], dtype: str, *, special: bool = True) -> Array:
    """Few distinct values, so that many are equal, including special ones."""
    kind: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    if kind.kind == "b":
        return RNG.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        choices = np.array([low, low + 1, 0, 1, 2, 3, high - 1, high], kind)
    else:
        choices = np.array([-2.5, -1, -0.0, 0.0, 1, 3, np.inf, -np.inf, np.nan if special else 7], kind)
    return RNG.choice(choices, shape)


@pytest.mark.grid(6)
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_every_dtype_with_special_values(element: str, descending: bool) -> None:
    check_sort(numbers((3, 29), DTYPES[element]), element, 1, 29, descending=descending)


@pytest.mark.grid(2)
@pytest.mark.parametrize("length", [0, 1, 8, 9, 32, 33, 101])
def test_lengths(length: int) -> None:
    x = RNG.permutation(length).astype(np.float32)
    for row in (x, np.sort(x), np.sort(x)[::-1].copy(), np.zeros_like(x)):
        check_sort(row, "f32", 0, length, descending=False)


@pytest.mark.grid(2)
@pytest.mark.parametrize("length", [1, 8, 13, 97])
def test_top_k_of_every_size(length: int) -> None:
    for count in sorted({0, 1, 3, 8, 17, length - 1} & set(range(length + 1))):
        check_sort(numbers((2, length), "float32"), "f32", 1, count, descending=True, levels=False)


@pytest.mark.grid(6)
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_selections_of_every_dtype(element: str, descending: bool) -> None:
    for shape, axis in (((2, 150), 1), ((150, 3), 0)):
        x = numbers(shape, DTYPES[element])
        for count in (5, 20):
            check_sort(x, element, axis, count, descending=descending, levels=False)


@pytest.mark.grid(3)
@pytest.mark.parametrize("count", [1, 16, 17, 100])
@pytest.mark.parametrize("length", [300, 1001])
def test_selections_from_rows_in_any_order(length: int, count: int) -> None:
    x = RNG.permutation(length).astype(np.float32)
    nan = np.where(x % 3 == 0, np.float32(np.nan), x)
    for row in (x, np.sort(x), np.sort(x)[::-1].copy(), np.zeros_like(x), nan):
        for descending in (False, True):
            check_sort(row, "f32", 0, count, descending=descending, levels=False)


@settings(max_examples=examples(6, more=2), deadline=None)
@given(st.data())
def test_random_selections(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 70))
    length, rows = data.draw(st.integers(count, 400)), data.draw(st.integers(1, 3))
    element, descending = data.draw(st.sampled_from(list(DTYPES))), data.draw(st.booleans())
    axis = data.draw(st.integers(0, 1))
    x = numbers((length, rows) if axis == 0 else (rows, length), DTYPES[element])
    check_sort(x, element, axis, count, descending=descending, levels=False)


@settings(max_examples=examples(4, more=2), deadline=None)
@given(st.lists(st.integers(0, 7), min_size=1, max_size=4), st.data())
def test_random_shapes_and_axes(shape: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    count = data.draw(st.integers(0, shape[axis]))
    element = data.draw(st.sampled_from(list(DTYPES)))
    x = numbers(tuple(shape), DTYPES[element])
    check_sort(x, element, axis, count, descending=data.draw(st.booleans()))


def test_long_rows_in_parallel() -> None:
    x = RNG.standard_normal((8, 20_011)).astype(np.float32)
    for count in (20_011, 100):
        module = sort_module(x.shape, "f32", 1, count, descending=False)
        values, indices = compile(module, cache=False, threads=2).run([x])
        order = np.argsort(x, axis=1, kind="stable")[:, :count]
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))
