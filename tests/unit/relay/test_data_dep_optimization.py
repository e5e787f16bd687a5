"""`relay.data_dep_optimization`: functions and their parameters compute the same before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import nd, relay, transform
from xrelay.errors import InputError
from xrelay.passes.infra.pass_info import PassArgumentError, PassTypeError

Array = NDArray[Any]
RNG = np.random.default_rng(5)


def thin(rows: int, columns: int, block: tuple[int, int], used: float = 0.2) -> Array:
    """A sparse matrix of integers with some nonzero blocks."""
    high, wide = block
    mask = (RNG.random((rows // high, columns // wide)) < used).repeat(high, 0).repeat(wide, 1)
    return (RNG.integers(1, 5, (rows, columns)) * mask).astype(np.float32)


def run(function: relay.Function, x: Array, params: dict[str, Any]) -> Array:
    """The result of a function for its first parameter and the others by name."""
    module = relay.Module.from_expr(relay.build_module.bind_params_by_name(function, params))
    return np.asarray(xrelay.compile(module, cache=False)(x)[0])


def operators(function: relay.Function) -> set[str]:
    return set(relay.analysis.list_op_freqs(relay.Module.from_expr(function)))


def dense_net() -> tuple[relay.Function, dict[str, Any]]:
    x, w, v = relay.var("x", shape=(1, 16)), relay.var("w", shape=(32, 16)), relay.var("v", shape=(8, 32))
    y = relay.nn.dense(relay.nn.relu(relay.nn.dense(relay.nn.relu(x), w)), v)
    params = {"w": nd.array(thin(32, 16, (8, 1))), "v": nd.array(RNG.integers(1, 4, (8, 32)).astype(np.float32))}
    return relay.Function([x, w, v], y), params


def test_dense_weights_with_enough_zeros():
    func, params = dense_net()
    x = RNG.integers(-3, 4, (1, 16)).astype(np.float32)
    expected = run(func, x, dict(params))
    new, after = relay.data_dep_optimization.bsr_dense.convert(func, params, (8, 1), 0.5)
    assert after is params
    assert set(params) == {"v", "w.data", "w.indices", "w.indptr"}
    assert [param.name_hint for param in new.params] == ["x", "v", "w.data", "w.indices", "w.indptr"]
    assert {"nn.sparse_dense", "nn.dense"} <= operators(new)
    np.testing.assert_array_equal(run(new, x, dict(params)), expected)


def test_dense_weights_that_stay():
    func, params = dense_net()
    convert = relay.data_dep_optimization.bsr_dense.convert
    new, _ = convert(func, params, (8, 1), 1.1)
    assert "nn.sparse_dense" not in operators(new)
    assert set(params) == {"w", "v"}
    with pytest.raises(InputError, match="blocks of 5 by 1 do not divide the weight 'w' of 32 by 16 elements"):
        convert(func, params, (5, 1), 0.5)
    with pytest.raises(InputError, match="params has no array for the weight 'v'"):
        convert(func, {"w": params["w"]}, (8, 1), 1.1)


@pytest.mark.grid(2)
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize(("size", "block"), [(1, (8, 1)), (1, (4, 2)), (3, (4, 1))])
def test_conv2d_weights_with_enough_zeros(layout: str, size: int, block: tuple[int, int]):
    matrix = thin(16, 6 * size * size, block)
    if layout == "NHWC":
        shape, weight, kernel_layout = (1, 5, 5, 6), matrix.T.reshape(size, size, 6, 16).copy(), "HWIO"
    else:
        shape, weight, kernel_layout = (1, 6, 5, 5), matrix.reshape(16, 6, size, size), "OIHW"
    x, w = relay.var("x", shape=shape), relay.var("w", shape=weight.shape)
    conv = relay.nn.conv2d(x, w, padding=size // 2, data_layout=layout, kernel_layout=kernel_layout)
    func, data = relay.Function([x, w], relay.nn.relu(conv)), RNG.integers(-3, 4, shape).astype(np.float32)
    expected = run(func, data, {"w": weight})
    params: dict[str, Any] = {"w": weight}
    new, _ = relay.data_dep_optimization.bsr_conv2d.convert(func, params, block, 0.3, layout, size)
    assert set(params) == {"w.data", "w.indices", "w.indptr"}
    assert params["w.data"].ndim == (2 if size == block[1] == 1 else 3)
    bound = relay.build_module.bind_params_by_name(func, {"w": weight})
    constant, left = relay.data_dep_optimization.bsr_conv2d.convert2(bound, {}, block, 0.3, layout, size)
    assert left == {}
    for function, arrays in [(new, params), (constant, {})]:
        assert "nn.sparse_conv2d" in operators(function)
        np.testing.assert_array_equal(run(function, data, dict(arrays)), expected)


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize(("channels", "filters"), [(3, 0), (0, 2), (0, 0)])
def test_conv2d_weights_without_elements(layout: str, channels: int, filters: int):
    shape, kernel, kernel_layout = (1, 2, 2, channels), (1, 1, channels, filters), "HWIO"
    if layout == "NCHW":
        shape, kernel, kernel_layout = (1, channels, 2, 2), (filters, channels, 1, 1), "OIHW"
    x, w = relay.var("x", shape=shape), relay.const(np.zeros(kernel, np.float32))
    func = relay.Function([x], relay.nn.conv2d(x, w, data_layout=layout, kernel_layout=kernel_layout))
    new, _ = relay.data_dep_optimization.bsr_conv2d.convert2(func, {}, (1, 1), 0.5, layout, 1)
    assert "nn.sparse_conv2d" in operators(new)
    data = np.ones(shape, np.float32)
    np.testing.assert_array_equal(run(new, data, {}), run(func, data, {}), strict=True)


def test_conv2d_weights_that_stay():
    """Strides, another layout, another size; then too few zeros."""
    x, w = relay.var("x", shape=(1, 6, 5, 5)), relay.var("w", shape=(16, 6, 1, 1))
    weight, convert = thin(16, 6, (8, 1)).reshape(16, 6, 1, 1), relay.data_dep_optimization.bsr_conv2d.convert
    strided = relay.Function([x, w], relay.nn.conv2d(x, w, strides=2))
    plain = relay.Function([x, w], relay.nn.conv2d(x, w))
    for func, layout, size, least in [(strided, "NCHW", 1, 0.1), (plain, "NHWC", 1, 0.1), (plain, "NCHW", 3, 0.1),
                                      (plain, "NCHW", 1, 1.1)]:  # fmt: skip
        params: dict[str, Any] = {"w": weight}
        new, _ = convert(func, params, (8, 1), least, layout, size)
        assert "nn.sparse_conv2d" not in operators(new)
        assert set(params) == {"w"}


def test_transposed_weights():
    x, w, v = relay.var("x", shape=(1, 4)), relay.var("w", shape=(4, 6)), relay.var("v", shape=(6, 6))
    y = relay.nn.dense(relay.nn.dense(x, relay.transpose(w, axes=[1, 0])), relay.transpose(v))
    func = relay.Function([x, w, v], relay.add(y, relay.sum(v)))
    arrays = {name: RNG.integers(-3, 4, shape).astype(np.float32) for name, shape in [("w", (4, 6)), ("v", (6, 6))]}
    data = RNG.integers(-3, 4, (1, 4)).astype(np.float32)
    params: dict[str, Any] = {name: nd.array(array) for name, array in arrays.items()}
    optimization = relay.data_dep_optimization.simplify_fc_transpose
    assert optimization.search_fc_transpose(func) == ["w", "v"]
    new, after = optimization.convert(func, params)
    assert after is params
    assert set(params) == {"w.T", "v", "v.T"}
    assert "transpose" not in operators(new)
    np.testing.assert_array_equal(run(new, data, dict(params)), run(func, data, arrays))


def test_the_passes_by_relays_names():
    x, w = relay.var("x", shape=(1, 8)), relay.var("w", shape=(8, 8))
    module = relay.Module.from_expr(relay.Function([x, w], relay.nn.dense(x, w)))
    sparse = transform.DenseToSparse(["w"], [[5, 4, 2, 5, 3]])
    assert (sparse.info.name, sparse.info.opt_level, list(sparse.info.required)) == (
        "DenseToSparse", 4, ["DeadCodeElimination"],
    )  # fmt: skip
    after = relay.Module.of(sparse(module))
    assert [param.name_hint for param in after["main"].params] == ["x", "w.data", "w.indices", "w.indptr"]
    assert relay.Module.of(transform.Conv2dToSparse([], [], "NCHW", 3)(module)).is_structurally_equivalent(module)
    assert transform.Conv2dToSparse2("NCHW", 3, (16, 1), 0.2).info.opt_level == 5
    assert transform.SimplifyFCTranspose(["w"]).info.opt_level == 4
    with pytest.raises(PassTypeError, match="'weight_shape' must be a list of lists of extents"):
        transform.DenseToSparse(["w"], 5)
    with pytest.raises(PassArgumentError, match="takes 2 positional options"):
        transform.DenseToSparse(["w"], [[1]], "NCHW")
