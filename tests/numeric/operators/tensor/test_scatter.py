"""Updates at computed indices: every level and native code agree with a loop over the updates."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.kernels.topi_kernels import Array, check_kernel, check_refused, kernel_module
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.topi import Combine
from xrelay.dialects.topi.build import Body, compute, scatter, variables
from xrelay.dialects.topi.shapes import shape_of

RNG = np.random.default_rng(5)
FUNCTIONS: dict[Combine, Any] = {
    Combine.UPDATE: lambda old, new: new,
    Combine.ADD: np.add,
    Combine.MUL: np.multiply,
    Combine.MIN: np.minimum,
    Combine.MAX: np.maximum,
}
ELEMENTS = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"]


def updated(args: list[SSAValue], axis: int, combine: Combine) -> list[Operation]:
    """`x` with updates `u` at the indices `at` along `axis`; each index corresponds to a row of `u`."""
    x, at, u = args
    size = shape_of(x)[axis]
    checked = compute("at", variables("k", shape_of(at)), [IndexType()],
                      lambda b: [b.checked_index(b.read(at, *b.spatial), size, from_end=True)])  # fmt: skip

    def body(b: Body) -> tuple[list[SSAValue], SSAValue]:
        places = list(b.variables)
        places[axis] = b.read(checked.tensors[0], b.spatial[axis])
        return places, b.read(u, *b.spatial)

    return [checked, scatter("rows", variables("i", shape_of(u)), combine, x, body)]


def expected(x: Array, at: Array, u: Array, axis: int, combine: Combine) -> Array:
    """Applies the updates one by one, each step in the data's type."""
    result = np.moveaxis(x.copy(), axis, 0)
    with np.errstate(all="ignore"):
        for place, row in zip(at, np.moveaxis(u, axis, 0), strict=True):
            result[place] = np.asarray(FUNCTIONS[combine](result[place], row), x.dtype)
    return np.moveaxis(result, 0, axis)


def check(x: Array, at: Array, u: Array, axis: int, combine: Combine) -> None:
    module = kernel_module([x, at, u], lambda args: updated(args, axis, combine))
    check_kernel(module, [x, at, u], expected(x, at, u, axis, combine))


def values(dtype: str, *shape: int) -> Array:
    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    if kind.kind in "iu":
        return RNG.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True)
    return (RNG.integers(0, 2, shape) if kind.kind == "b" else RNG.standard_normal(shape) * 3).astype(kind)


@pytest.mark.grid(14)
@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("combine", Combine)
def test_every_type_and_combination(combine: Combine, dtype: str):
    """Indices repeat: ten updates of six rows."""
    if dtype == "bool" and combine in (Combine.ADD, Combine.MUL):
        return
    check(values(dtype, 6, 5), RNG.integers(-6, 6, 10), values(dtype, 10, 5), 0, combine)


@settings(max_examples=examples(4, more=2), deadline=None)
@given(
    st.lists(st.sampled_from([1, 2, 7, 16, 37]), min_size=1, max_size=3),
    st.sampled_from([0, 1, 3, 17]),
    st.integers(0, 2),
    st.sampled_from(list(Combine)),
)
def test_every_shape(shape: list[int], count: int, axis: int, combine: Combine):
    axis %= len(shape)
    wide = [*shape[:axis], count, *shape[axis + 1 :]]
    check(values("float32", *shape), RNG.integers(0, shape[axis], count), values("float32", *wide), axis, combine)


@pytest.mark.grid(6)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("combine", [Combine.UPDATE, Combine.ADD])
def test_threads_change_nothing(axis: int, combine: Combine):
    """Enough work for two threads; each element gets its updates in order."""
    shape = (24, 40, 72)
    wide = [*shape[:axis], 60, *shape[axis + 1 :]]
    x, at, u = values("float32", *shape), RNG.integers(0, shape[axis], 60), values("float32", *wide)
    check(x, at, u, axis, combine)


def test_special_values():
    """NaN propagates through minima and maxima, infinities cancel to NaN."""
    x = np.array([[0.0, np.nan, np.inf, -np.inf, 1.0]], np.float32).repeat(3, axis=0)
    u = np.array([np.nan, 1.0, -np.inf, np.inf, 2.0], np.float32)[:, None] * np.ones(5, np.float32)
    for combine in Combine:
        check(x, np.array([0, 1, 1, 2, 0]), u, 0, combine)


def test_a_scalar_is_updated_by_all():
    x, u = np.array(2, np.float32), values("float32", 9)

    def body(b: Body) -> tuple[list[SSAValue], SSAValue]:
        return [], b.read(source, *b.spatial)

    def build(args: list[SSAValue]) -> list[Operation]:
        nonlocal source
        source = args[1]
        return [scatter("all", {"i": 9}, Combine.MAX, args[0], body)]

    source: SSAValue
    check_kernel(kernel_module([x, u], build), [x, u], np.asarray(max(x, u.max())))


def test_nothing_is_updated_where_there_is_nothing():
    for shape, count in (((0, 4), 0), ((3, 0), 2), ((3, 4), 0)):
        x, u = values("float32", *shape), values("float32", count, *shape[1:])
        check(x, np.zeros(count, np.int64), u, 0, Combine.ADD)


@pytest.mark.parametrize("wrong", [6, -7, 2**40])
def test_an_index_out_of_range_is_an_error(wrong: int):
    x, at, u = values("float32", 6, 50), RNG.integers(0, 6, 30), values("float32", 30, 50)
    at[17] = wrong
    module = kernel_module([x, at, u], lambda args: updated(args, 0, Combine.ADD))
    check_refused(module, [x, at, u], rf"(\S*: )?index out of range: {wrong} is not in \[-6, 6\)")


def test_an_index_out_of_nothing_is_an_error():
    x, at, u = values("float32", 0, 3), np.zeros(2, np.int64), values("float32", 2, 3)
    module = kernel_module([x, at, u], lambda args: updated(args, 0, Combine.ADD))
    check_refused(module, [x, at, u], r"(\S*: )?index out of range: 0 is not in \[0, 0\)")
