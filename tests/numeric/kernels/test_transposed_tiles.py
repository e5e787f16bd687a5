"""Transpositions in registers, of all widths of elements, with whole and with partial tiles."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_op import applied, check

from xrelay import relay


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "bool"])
def test_transpose(dtype: str) -> None:
    data = (np.arange(2 * 35 * 41).reshape(2, 35, 41) % (2 if dtype == "bool" else 117)).astype(dtype)
    found = applied("transpose", data, axes=(0, 2, 1))
    np.testing.assert_array_equal(found, data.transpose(0, 2, 1), strict=True)


@pytest.mark.parametrize("shape", [(1, 35, 20, 20), (2, 16, 7, 7), (1, 17, 6, 12)])
def test_images_with_partial_tiles_in_a_row(shape: tuple[int, ...]) -> None:
    data = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    found = applied("transpose", data, axes=(0, 2, 3, 1))
    np.testing.assert_array_equal(found, data.transpose(0, 2, 3, 1), strict=True)


@pytest.mark.parametrize(("rows", "heads", "size"), [(35, 3, 64), (16, 2, 20), (37, 4, 12), (128, 8, 2)])
def test_heads_of_a_line(rows: int, heads: int, size: int) -> None:
    x = relay.var("x", shape=(2, rows, heads * size))
    module = relay.Module.from_expr(relay.transpose(relay.reshape(x, (2, rows, heads, size)), axes=(0, 2, 3, 1)))
    check(module, [np.arange(2 * rows * heads * size, dtype=np.float32).reshape(2, rows, heads * size)])


def test_cast_and_sum_of_a_transposed_tile() -> None:
    x = relay.var("x", shape=(32, 48), dtype="float16")
    y = relay.var("y", shape=(48, 32), dtype="float32")
    module = relay.Module.from_expr(relay.transpose(x).astype("float32") + y)
    rng = np.random.default_rng(0)
    check(module, [rng.standard_normal((32, 48)).astype(np.float16), rng.standard_normal((48, 32)).astype(np.float32)])


def test_rows_that_share_lines() -> None:
    x = relay.var("x", shape=(1, 3, 9, 8, 16))
    phases = relay.reshape(relay.layout_transform(x, "NCHW16c", "NCHW"), (1, 2, 2, 12, 9, 8))
    image = relay.reshape(relay.transpose(phases, axes=(0, 3, 4, 1, 5, 2)), (1, 12, 18, 16))
    check(relay.Module.from_expr(image), [np.arange(3 * 9 * 8 * 16, dtype=np.float32).reshape(1, 3, 9, 8, 16)])
