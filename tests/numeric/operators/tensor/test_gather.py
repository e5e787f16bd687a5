"""Reads at computed indices agree with numpy at every level; an index out of range is an error at each."""

from __future__ import annotations

import re
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.kernels.topi_kernels import Array, check_kernel, check_refused, kernel_module
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

import xrelay
from xrelay.dialects.topi.build import Body, compute, variables
from xrelay.dialects.topi.shapes import shape_of, tensor_type
from xrelay.errors import ExecutionError

RNG = np.random.default_rng(5)
DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ELEMENTS = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64"]


def taken(x: SSAValue, at: SSAValue, axis: int, *, separate: bool) -> list[Operation]:
    """`x` at `at` along `axis`, as in `numpy.take`; indices are checked in a separate compute, or at the read."""
    shape, places = shape_of(x), shape_of(at)
    behind = axis + len(places)

    def checked(b: Body) -> list[SSAValue]:
        return [b.checked_index(b.read(at, *b.spatial), shape[axis], from_end=True)]

    def take(b: Body) -> list[SSAValue]:
        place = b.spatial[axis:behind]
        if separate:
            index = b.read(indices.tensors[0], *place)
        else:
            index = b.checked_index(b.read(at, *place), shape[axis], from_end=True)
        return [b.read(x, *b.spatial[:axis], b.as_index(index), *b.spatial[behind:])]

    indices = compute("indices", variables("k", places), [IndexType()], checked)
    extents = variables("i", (*shape[:axis], *places, *shape[axis + 1 :]))
    result = compute("take", extents, [tensor_type(x).element_type], take)
    return [indices, result] if separate else [result]


def check_take(x: Array, at: Array, axis: int, *, separate: bool) -> None:
    module = kernel_module([x, at], lambda args: taken(*args, axis, separate=separate))
    check_kernel(module, [x, at], np.take(x, at.astype(np.int64), axis))


def values(dtype: str, *shape: int) -> Array:
    return RNG.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


def places(dtype: str, size: int, *shape: int) -> Array:
    least = 0 if dtype.startswith("u") else -size
    return RNG.integers(least, size, shape).astype(dtype)


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_indices_of_every_type(dtype: str):
    check_take(values("float32", 11, 6), places(dtype, 11, 13), 0, separate=True)


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", ELEMENTS)
def test_elements_of_every_type(dtype: str):
    check_take(values(dtype, 5, 37), places("int64", 37, 3, 19), 1, separate=dtype == "float32")


@settings(max_examples=examples(4, more=2), deadline=None)
@given(
    st.lists(st.sampled_from([1, 2, 5, 17]), min_size=1, max_size=3),
    st.lists(st.sampled_from([0, 1, 3, 16, 31]), max_size=2),
    st.integers(0, 2),
    st.booleans(),
)
def test_every_shape(shape: list[int], indices: list[int], axis: int, separate: bool):
    axis %= len(shape)
    check_take(values("float32", *shape), places("int32", shape[axis], *indices), axis, separate=separate)


def test_large_rows_are_spread_over_threads():
    check_take(values("float32", 50, 300), places("int64", 50, 700), 0, separate=True)


@pytest.mark.grid(3)
@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("wrong", [11, -12, 2**63 - 1, -(2**63)])
def test_an_index_out_of_range_is_an_error(wrong: int, separate: bool):
    x, at = values("float32", 11, 6), places("int64", 11, 29)
    module = kernel_module([x, at], lambda args: taken(*args, 0, separate=separate))
    message = re.escape(f"index out of range: {wrong} is not in [-11, 11)")
    for place in (0, 15, 28):
        bad = at.copy()
        bad[place] = wrong
        check_refused(module, [x, bad], f"(topi.checked_index: |loop.checked_index: )?{message}")


def test_threads_report_one_of_their_indices():
    x, at = values("float32", 50, 300), np.arange(100, 800)
    module = kernel_module([x, at], lambda args: taken(*args, 0, separate=False))
    model = xrelay.compile(module, threads=2, cache=False)
    for _ in range(20):
        with pytest.raises(ExecutionError, match=r"out of range: [1-7]\d\d is not in \[-50, 50\)"):
            model(x, at)
    np.testing.assert_array_equal(model(x, at % 50)[0], x[at % 50])


def test_nothing_can_be_taken_of_nothing():
    x = values("float32", 0, 6)
    for count in (0, 4):
        at = np.zeros(count, np.int64)
        module = kernel_module([x, at], lambda args: taken(*args, 0, separate=True))
        if count:
            check_refused(module, [x, at], r"((topi|loop).checked_index: )?index out of range: 0 is not")
        else:
            check_kernel(module, [x, at], x[:0])


def test_a_check_is_made_where_its_element_is_not_read():
    """The check is in a compute, and its reader uses only every second element."""
    x, at = values("float32", 11), places("int64", 11, 8)

    def every_second(args: list[SSAValue]) -> list[Operation]:
        *before, take = taken(*args, 0, separate=True)
        half = compute("half", {"i": 4}, [tensor_type(args[0]).element_type],
                       lambda b: [b.read(take.results[0], b.spatial[0] * 2)])  # fmt: skip
        return [*before, take, half]

    module = kernel_module([x, at], every_second)
    check_kernel(module, [x, at], x[at][::2])
    at[3] = 11
    check_refused(module, [x, at], r"(topi.checked_index: |loop.checked_index: )?index out of range: 11 is not in")


def test_what_is_not_guarded_for_is_not_checked():
    """Inside a guard, the check runs only if the condition holds."""
    x, at = values("float32", 8), np.arange(8)
    at[5] = 99

    def guarded(args: list[SSAValue]) -> list[Operation]:
        table, index = args

        def body(b: Body) -> list[SSAValue]:
            element = tensor_type(table).element_type
            inside = b.in_bounds([b.spatial[0]], [5])
            return [b.guard(inside, element, lambda: b.read(table, b.as_index(
                b.checked_index(b.read(index, *b.spatial), 8))), lambda: b.constant(-1, element))]  # fmt: skip

        return [compute("some", {"i": 8}, [tensor_type(table).element_type], body)]

    expected = np.where(np.arange(8) < 5, x, np.float32(-1))
    check_kernel(kernel_module([x, at], guarded), [x, at], expected)
    assert prod(expected.shape) == 8
