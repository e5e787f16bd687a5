"""Products with sparse matrices: numpy, the interpreter, every level and native code agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.levels import check_exact, check_levels, check_native, check_refused, outputs
from support.sparse_matrices import Array, dense_of, sparse, values
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay
from xrelay.errors import ExecutionError


def module_of(x: Array, parts: list[Array], **attributes: Any) -> ModuleOp:
    names = ["x", "data", "indices", "indptr"]
    arrays = [x, *parts]
    inputs = [relay.var(name, shape=a.shape, dtype=str(a.dtype)) for name, a in zip(names, arrays, strict=True)]
    result = relay.nn.sparse_dense(inputs[0], inputs[1:], **attributes)
    return relay.Module.from_expr(relay.Function(inputs, result))


def check(x: Array, parts: list[Array], is_left: bool = False) -> None:
    product = x.astype(np.float64) @ dense_of(parts, x.shape[1]).T
    expected = (product.T if is_left else product).astype(x.dtype)
    check_exact(module_of(x, parts, sparse_lhs=is_left), [x, *parts], expected)


@pytest.mark.grid(12)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("block", [None, (4, 1), (2, 3)])
@pytest.mark.parametrize("is_left", [False, True])
def test_every_type(dtype: str, block: tuple[int, int] | None, is_left: bool):
    check(values(dtype, 3, 12), sparse(8, 12, block, dtype), is_left)


@settings(max_examples=examples(3, more=4), deadline=None)
@given(
    st.sampled_from([0, 1, 5, 8, 19]),
    st.sampled_from([1, 2, 6]),
    st.sampled_from([0, 1, 7]),
    st.sampled_from([None, (1, 1), (16, 1), (1, 5), (3, 2)]),
    st.sampled_from(["int32", "int64", "uint8"]),
    st.booleans(),
)
def test_every_shape(rows: int, columns: int, count: int, block: tuple[int, int] | None, index: str, is_left: bool):
    """Few and many rows are summed in different orders."""
    high, wide = block or (1, 1)
    x = values("float32", rows, columns * wide)
    check(x, sparse(count * high, columns * wide, block, "float32", index), is_left)


def test_what_is_in_no_row_is_not_used():
    """Values before the first row and after the last are unused, and missing elements of a row are not multiplied."""
    x = np.array([[1, np.inf, np.nan, 2]], np.float32)
    parts = [values("float32", 6), np.array([1, 0, 3, 3, 2, 2]), np.array([1, 3, 3, 4])]
    module = module_of(x, parts)
    data = parts[0]
    np.testing.assert_array_equal(outputs(module, [x, *parts])[0], [[data[1] + 2 * data[2], 0, 2 * data[3]]])
    check_native(module, [x, *parts], rtol=0)
    check_levels(module, [x, *parts], rtol=0)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("part", "wrong", "limits"), [(1, 4, "[0, 4)"), (1, -1, "[0, 4)"), (2, 7, "[0, 7)"), (2, -2, "[0, 7)")]
)
@pytest.mark.parametrize("rows", [1, 9])
def test_what_is_out_of_range_names_the_value(part: int, wrong: int, limits: str, rows: int):
    parts = [values("float32", 6, 2, 3), np.zeros(6, np.int64), np.array([0, 2, 6])]
    parts[part][1] = wrong
    x = values("float32", rows, 12)
    message = f"index out of range: {wrong} is not in {limits}"
    check_refused(module_of(x, parts), [x, *parts], message, node="sparse_dense")


def test_sizes_may_be_open():
    names = {"x": (relay.Any(), 6), "data": (relay.Any(), 2, 3), "indices": (relay.Any(),), "indptr": (relay.Any(),)}
    x, *inputs = (
        relay.var(name, shape=shape, dtype="int32" if name.startswith("ind") else "float32")
        for name, shape in names.items()
    )
    product = relay.nn.relu(relay.nn.sparse_dense(x, inputs))
    model = xrelay.compile(relay.Module.from_expr(relay.Function([x, *inputs], product)), cache=False)
    for rows, high in [(1, 4), (9, 0), (0, 2)]:
        data, parts = values("float32", rows, 6), sparse(high, 6, (2, 3), "float32")
        np.testing.assert_array_equal(model(data, *parts)[0], np.maximum(data @ dense_of(parts, 6).T, 0))
    with pytest.raises(ExecutionError, match="blocks, and their columns"):
        model(values("float32", 1, 6), values("float32", 2, 2, 3), np.zeros(1, np.int32), np.zeros(2, np.int32))


@dataclass
class Matrix:
    """A sparse matrix with scipy's attribute names."""

    data: Array
    indices: Array
    indptr: Array


def test_a_matrix_in_one_piece():
    """Its arrays are constants."""
    parts = sparse(6, 8, None, "float32")
    matrix = Matrix(*parts)
    x = relay.var("x", shape=(2, 8))
    module = relay.Module.from_expr(relay.Function([x], relay.nn.sparse_dense(x, matrix, sparse_lhs=True)))
    data = values("float32", 2, 8)
    np.testing.assert_array_equal(xrelay.compile(module, cache=False)(data)[0], dense_of(parts, 8) @ data.T)
