"""Register tiles of a dynamic number of rows compute the same for any number of rows in the last tile."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_a_product(threads: int) -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((40, 24), np.float32)
    text = f"""
    func.func @main(%x: tensor<?x?x24xf32, #relay.dims<b, n>>) -> !relay.incomplete {{
      %w = relay.constant dense<"0x{w.tobytes().hex().upper()}"> : tensor<40x24xf32>
      %d = relay.nn.dense(%x, %w) : (tensor<?x?x24xf32, #relay.dims<b, n>>, tensor<40x24xf32>) -> !relay.incomplete
      %r = relay.nn.relu(%d) : (!relay.incomplete) -> !relay.incomplete
      func.return %r : !relay.incomplete
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=threads, cache=False)
    for b, n in ((0, 3), *((2, n) for n in range(30))):
        x = rng.standard_normal((b, n, 24), np.float32)
        np.testing.assert_allclose(model(x)[0], np.maximum(x @ w.T, 0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("threads", [1, 2])
def test_columns_of_a_product(threads: int) -> None:
    text = """
    func.func @main(%x: tensor<?x?xf32, #relay.dims<m, k>>, %y: tensor<?x?xf32, #relay.dims<k, n>>)
        -> !relay.incomplete {
      %p = relay.nn.matmul(%x, %y)
        : (tensor<?x?xf32, #relay.dims<m, k>>, tensor<?x?xf32, #relay.dims<k, n>>) -> !relay.incomplete
      func.return %p : !relay.incomplete
    }"""
    model, rng = xrelay.compile(xrelay.parse(text), threads=threads, cache=False), np.random.default_rng(3)
    for m, k, n in ((0, 3, 5), (3, 0, 5), (3, 5, 0), *((m, 7, n) for m in (1, 4, 17) for n in range(1, 70, 3))):
        x, y = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
        np.testing.assert_allclose(model(x, y)[0], x @ y, rtol=1e-4, atol=1e-4)


def test_columns_of_a_padded_convolution() -> None:
    rng = np.random.default_rng(1)
    w = rng.standard_normal((32, 16, 3), np.float32)
    text = f"""
    func.func @main(%x: tensor<1x16x?xf32, #relay.dims<n>>) -> !relay.incomplete {{
      %w = relay.constant dense<"0x{w.tobytes().hex().upper()}"> : tensor<32x16x3xf32>
      %c = relay.nn.conv1d(%x, %w) {{padding = [1, 1]}}
        : (tensor<1x16x?xf32, #relay.dims<n>>, tensor<32x16x3xf32>) -> !relay.incomplete
      func.return %c : !relay.incomplete
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    for n in range(1, 33):
        x = rng.standard_normal((1, 16, n), np.float32)
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, 3, axis=2)
        expected = np.einsum("bcnk,ock->bon", windows, w)
        np.testing.assert_allclose(model(x)[0], expected, rtol=1e-3, atol=1e-3)


def test_lanes_of_a_padded_depthwise_convolution() -> None:
    rng = np.random.default_rng(2)
    w = rng.standard_normal((18, 1, 5), np.float32)
    text = f"""
    func.func @main(%x: tensor<?x18x?xf32, #relay.dims<b, n>>) -> !relay.incomplete {{
      %w = relay.constant dense<"0x{w.tobytes().hex().upper()}"> : tensor<18x1x5xf32>
      %c = relay.nn.conv1d(%x, %w) {{padding = [2, 2], groups = 18}}
        : (tensor<?x18x?xf32, #relay.dims<b, n>>, tensor<18x1x5xf32>) -> !relay.incomplete
      func.return %c : !relay.incomplete
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    for n in (1, 2, 5, 15, 16, 17, 24, 32, 40):
        x = rng.standard_normal((2, 18, n), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (2, 2))), 5, axis=2)
        expected = np.einsum("bcnk,ck->bcn", windows, w[:, 0])
        np.testing.assert_allclose(model(x)[0], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("stride", [1, 2])
def test_columns_of_a_padded_depthwise_convolution_in_blocks(stride: int) -> None:
    rng = np.random.default_rng(3)
    w = rng.standard_normal((16, 1, 3, 3), np.float32)
    text = f"""
    func.func @main(%x: tensor<1x16x?x?xf32, #relay.dims<h, w>>) -> !relay.incomplete {{
      %w = relay.constant dense<"0x{w.tobytes().hex().upper()}"> : tensor<16x1x3x3xf32>
      %c = relay.nn.conv2d(%x, %w) {{padding = [1, 1, 1, 1], strides = [{stride}, {stride}], groups = 16}}
        : (tensor<1x16x?x?xf32, #relay.dims<h, w>>, tensor<16x1x3x3xf32>) -> !relay.incomplete
      func.return %c : !relay.incomplete
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    for n in (*range(1, 29), 37):
        x = rng.standard_normal((1, 16, 3, n), np.float32)
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::stride, ::stride]
        expected = np.einsum("bcnmyx,cyx->bcnm", windows, w[:, 0])
        np.testing.assert_allclose(model(x)[0], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("threads", [1, 2])
def test_vectors_of_a_pooled_row(threads: int) -> None:
    text = """
    func.func @main(%x: tensor<?x5x?x?xf32, #relay.dims<b, h, w>>) -> !relay.incomplete {
      %m = relay.nn.max_pool2d(%x) {pool_size = [3, 3]}
        : (tensor<?x5x?x?xf32, #relay.dims<b, h, w>>) -> !relay.incomplete
      %r = relay.exp(%m) : (!relay.incomplete) -> !relay.incomplete
      func.return %r : !relay.incomplete
    }"""
    model = xrelay.compile(xrelay.parse(text), threads=threads, cache=False)
    rng = np.random.default_rng(4)
    for n in (3, 4, 17, 18, 19, 34, 50, 65, 66, 67, 82, 83, 140):
        x = rng.standard_normal((2, 5, 6, n), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
        np.testing.assert_allclose(model(x)[0], np.exp(windows.max((4, 5))), rtol=1e-4)


@pytest.mark.parametrize("dtype", ["f32", "i8"])
def test_lanes_of_the_rows_of_planes(dtype: str) -> None:
    planes = f"tensor<?x?x?x{dtype}, #relay.dims<c, h, w>>"
    text = f"""
    func.func @main(%x: {planes}) -> (!relay.incomplete, !relay.incomplete) {{
      %m = relay.max(%x) {{axis = [1, 2]}} : ({planes}) -> !relay.incomplete
      %s = relay.sum(%x) {{axis = [1, 2]}} : ({planes}) -> !relay.incomplete
      func.return %m, %s : !relay.incomplete, !relay.incomplete
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    rng = np.random.default_rng(5)
    for h, w in ((1, 1), (3, 7), (7, 15), (5, 16), (2, 17), (4, 64), (3, 100)):
        x = (rng.standard_normal((3, h, w)) * 9 - 20).astype(np.float32 if dtype == "f32" else np.int8)
        largest, total = model(x)
        np.testing.assert_array_equal(largest, x.max((1, 2)))
        np.testing.assert_allclose(total, x.sum((1, 2), dtype=x.dtype), rtol=1e-4)


@pytest.mark.parametrize("stride", [1, 2])
def test_means_of_padded_windows_of_a_row(stride: int) -> None:
    text = f"""
    func.func @main(%x: tensor<1x3x?x?xf32, #relay.dims<h, w>>) -> !relay.incomplete {{
      %m = relay.nn.avg_pool2d(%x) {{pool_size = [3, 3], padding = [1, 1, 1, 1], strides = [{stride}, {stride}]}}
        : (tensor<1x3x?x?xf32, #relay.dims<h, w>>) -> !relay.incomplete
      func.return %m : !relay.incomplete
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    rng = np.random.default_rng(6)
    for n in (1, 2, 15, 16, 17, 33, 64, 70, 130):
        x = rng.standard_normal((1, 3, 4, n), np.float32)
        padded = np.pad(np.stack([x, np.ones_like(x)]), ((0, 0), (0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(3, 4))[..., ::stride, ::stride, :, :]
        totals, counts = windows.sum((5, 6))
        np.testing.assert_allclose(model(x)[0], totals / counts, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_overlapping_windows(threads: int) -> None:
    """A tile of a plain depthwise convolution has four rows of a vector; both the rows and the columns are dynamic."""
    rng = np.random.default_rng(0)
    w = rng.integers(-4, 5, (3, 1, 5, 5)).astype(np.float32)
    text = f"""
    !x = tensor<?x?x?x?xf32, #relay.dims<b, c, h, w>>
    func.func @main(%x: !x) -> !relay.incomplete {{
      %w = relay.constant dense<"0x{w.tobytes().hex().upper()}"> : tensor<3x1x5x5xf32>
      %y = relay.nn.conv2d(%x, %w) {{groups = 3, padding = [2, 2, 2, 2]}}
        : (!x, tensor<3x1x5x5xf32>) -> !relay.incomplete
      func.return %y : !relay.incomplete
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=threads, cache=False)
    for h, width in ((1, 1), (2, 16), (3, 17), (4, 7), (5, 33), (7, 5), (31, 47)):
        x = rng.integers(-4, 5, (2, 3, h, width)).astype(np.float32)
        padded = np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), (2, 3))
        np.testing.assert_array_equal(model(x)[0], np.einsum("bchwyx,cyx->bchw", windows, w[:, 0]))
