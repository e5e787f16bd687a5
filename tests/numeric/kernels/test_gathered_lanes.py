"""Rows read at a stride, and padded rows, compute the same for any number of lanes in the last vector."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay


@pytest.mark.parametrize("channels_last", [False, True])
def test_rows_of_a_transposed_operand(channels_last: bool) -> None:
    """The rows of the result are 12 channels, or tiles of rows of dynamic length."""
    channels = 40 if channels_last else 12
    rng = np.random.default_rng(0)
    text = f"""
    !x = tensor<{"?x?x40" if channels_last else "?x12x?"}xf32, #relay.dims<b, n>>
    !u = !relay.incomplete
    func.func @main(%x: !x) -> !u {{
      %t = relay.transpose(%x) {{axes = [0, 2, 1]}} : (!x) -> !u
      %s = relay.multiply(%t, %t) : (!u, !u) -> !u
      %a = relay.add(%s, %t) : (!u, !u) -> !u
      %m = relay.multiply(%a, %t) : (!u, !u) -> !u
      %r = relay.subtract(%m, %s) : (!u, !u) -> !u
      func.return %r : !u
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    for n in (1, 5, 16, 19):
        x = rng.integers(-4, 5, (2, n, channels) if channels_last else (2, channels, n)).astype(np.float32)
        t = x.transpose(0, 2, 1)
        np.testing.assert_array_equal(model(x)[0], (t * t + t) * t - t * t)


def test_padded_rows() -> None:
    rng = np.random.default_rng(0)
    text = """
    !x = tensor<?x?xf32, #relay.dims<b, n>>
    func.func @main(%x: !x) -> !relay.incomplete {
      %v = relay.constant dense<5.0> : tensor<f32>
      %y = relay.nn.pad(%x, %v) {pad_width = [1, 0, 2, 3]} : (!x, tensor<f32>) -> !relay.incomplete
      func.return %y : !relay.incomplete
    }"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    for n in (0, 1, 11, 14, 40):
        x = rng.standard_normal((2, n), np.float32)
        np.testing.assert_array_equal(model(x)[0], np.pad(x, ((1, 0), (2, 3)), constant_values=5.0))


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 5])
def test_windows_at_a_stride(stride: int) -> None:
    """The windows of a row of dynamic length are reduced in lanes, which read elements at the stride."""
    rng = np.random.default_rng(0)
    text = f"""
    !x = tensor<?x?x?x?xf32, #relay.dims<b, c, h, w>>
    func.func @main(%x: !x) -> !relay.incomplete {{
      %y = relay.nn.max_pool2d(%x) {{pool_size = [2, 3], strides = [1, {stride}]}} : (!x) -> !relay.incomplete
      func.return %y : !relay.incomplete
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    for columns in (1, 2, 15, 17, 64, 150):
        x = rng.standard_normal((2, 3, 3, (columns - 1) * stride + 3), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3), (2, 3))[:, :, :, ::stride]
        np.testing.assert_array_equal(model(x)[0], windows.max((-1, -2)))
