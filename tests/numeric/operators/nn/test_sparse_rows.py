"""Sums, transposes and convolutions with sparse matrices: numpy, the interpreter, every level and native code agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.levels import check_exact, check_refused, outputs
from support.sparse_matrices import Array, dense_of, sparse, values
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay


def module_of(make: Callable[..., relay.Expr], *arrays: Array) -> ModuleOp:
    names = [f"x{n}" for n in range(len(arrays))]
    inputs = [relay.var(name, shape=a.shape, dtype=str(a.dtype)) for name, a in zip(names, arrays, strict=True)]
    return relay.Module.from_expr(relay.Function(inputs, make(*inputs)))


def added(x: relay.Expr, *parts: relay.Expr) -> relay.Expr:
    return relay.nn.sparse_add(x, parts)


def transposed(*parts: relay.Expr) -> relay.Expr:
    return relay.nn.sparse_transpose(parts)


@pytest.mark.grid(8)
@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("rows", "columns"), [(5, 8), (1, 1), (7, 0), (0, 3)])
def test_add(dtype: str, rows: int, columns: int):
    x, parts = values(dtype, rows, columns), sparse(rows, columns, None, dtype)
    expected = (x.astype(np.float64) + dense_of(parts, columns)).astype(x.dtype)
    check_exact(module_of(added, x, *parts), [x, *parts], expected)


def test_nothing_is_added_beside_the_values():
    x, parts = np.array([[-0.0, np.nan, np.inf]], np.float32), [np.ones(1, np.float32), np.array([2]), np.array([0, 1])]
    module = module_of(added, x, *parts)
    assert np.signbit(xrelay.compile(module, cache=False)(x, *parts)[0][0, 0])
    check_exact(module, [x, *parts], x)


@pytest.mark.grid(6)
@pytest.mark.parametrize("size", [0, 1, 6, 30])
@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
def test_transpose(size: int, index: str):
    """Values of one position keep their order: transposed columns ascend, and equal ones stay adjacent."""
    parts = sparse(size, size, None, "float32", index)
    data, indices, indptr = parts
    rows = np.repeat(np.arange(size), np.diff(indptr.astype(np.int64)))
    order = np.argsort(indices, kind="stable")
    begins = np.searchsorted(np.sort(indices), np.arange(size + 1)).astype(index)
    expected = [data[order], rows[order].astype(index), begins]
    check_exact(module_of(transposed, *parts), parts, *expected)
    np.testing.assert_array_equal(dense_of(expected, size), dense_of(parts, size).T)


@pytest.mark.parametrize("open_one", [0, 1])
def test_as_many_columns_as_values(open_one: int):
    """If one of the two extents is named, the results have the length of the values."""
    parts = sparse(6, 6, None, "float32")
    shapes: list[tuple[int | str]] = [part.shape for part in parts]
    shapes[open_one] = ("n",)
    names = [relay.var(name, shape=s, dtype=str(p.dtype)) for name, s, p in zip("dip", shapes, parts, strict=True)]
    module = relay.Module.from_expr(relay.Function(names, transposed(*names)))
    for found, wanted in zip(xrelay.compile(module, cache=False).run(parts), outputs(module, parts), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.grid(8)
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize(("size", "block"), [(1, (4, 1)), (3, (4, 3)), (3, (2, 1)), (5, (1, 2))])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_conv2d(layout: str, size: int, block: tuple[int, int], dtype: str):
    """As `nn.conv2d` with the dense weight."""
    parts = sparse(8, 6 * size * size, block, dtype)
    weight = dense_of(parts, 6 * size * size).astype(dtype)
    if layout == "NHWC":
        kernel, shape, kernel_layout = weight.T.reshape(size, size, 6, 8), (2, 5, 7, 6), "HWIO"
    else:
        kernel, shape, kernel_layout = weight.reshape(8, 6, size, size), (2, 6, 5, 7), "OIHW"
    x = values(dtype, *shape)
    if block[1] == 1:
        parts[0] = parts[0].reshape(-1, block[0])

    def dense(v: relay.Expr) -> relay.Expr:
        weight = relay.const(kernel)
        return relay.nn.conv2d(v, weight, padding=size // 2, data_layout=layout, kernel_layout=kernel_layout)

    def thin(*inputs: relay.Expr) -> relay.Expr:
        return relay.nn.sparse_conv2d(*inputs, layout=layout, kernel_size=size)

    reference, module = module_of(dense, x), module_of(thin, x, *parts)
    check_exact(module, [x, *parts], *outputs(reference, [x]))


def test_images_may_be_open():
    parts = sparse(8, 6, (4, 1), "float32")
    x = relay.var("x", shape=(relay.Any(), 6, relay.Any(), relay.Any()))
    conv = relay.nn.sparse_conv2d(x, *map(relay.const, parts), layout="NCHW")
    model = xrelay.compile(relay.Module.from_expr(relay.Function([x], relay.nn.relu(conv))), cache=False)
    for shape in [(1, 6, 3, 4), (2, 6, 1, 1), (0, 6, 5, 5)]:
        data = values("float32", *shape)
        expected = np.einsum("nchw,oc->nohw", data, dense_of(parts, 6))
        np.testing.assert_array_equal(model(data)[0], np.maximum(expected, 0))


def test_images_of_no_columns_have_no_window():
    x, parts = values("float32", 1, 2, 5, 0), sparse(4, 18, (2, 1), "float32")

    def conv(*inputs: relay.Expr) -> relay.Expr:
        return relay.nn.sparse_conv2d(*inputs, layout="NCHW", kernel_size=3)

    check_exact(module_of(conv, x, *parts), [x, *parts], np.zeros((1, 4, 5, 0), np.float32))


@pytest.mark.grid(2)
@pytest.mark.parametrize("op", [added, transposed])
@pytest.mark.parametrize(
    ("part", "wrong", "said"),
    [(1, 3, "3 is not in [0, 3)"), (2, -1, "-1 is not in [0, 7)"), (2, 1, "is not in [0, 3)")],
)
def test_what_is_out_of_range_or_in_no_row_is_named(op: Callable[..., relay.Expr], part: int, wrong: int, said: str):
    parts = [values("float32", 6), np.zeros(6, np.int64), np.array([0, 2, 4, 6])]
    parts[part][-1 if part == 2 else 4] = wrong
    arrays = [values("float32", 3, 3), *parts] if op is added else parts
    node = "sparse_add" if op is added else "sparse_transpose"
    check_refused(module_of(op, *arrays), arrays, said, node=node)
