"""Kernels that differ in the number of channels alone are compiled once, and compute the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

import xrelay
from xrelay import relay
from xrelay.runtime.host_cpu import host_features

CHANNELS = (64, 96, 128, 192)


def convolved(x: NDArray[np.float32], w: NDArray[np.float32]) -> NDArray[np.float32]:
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1))), 3, axis=2)
    return np.maximum(np.einsum("bcnk,ock->bon", windows, w), 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_convolutions_of_other_numbers_of_channels(threads: int) -> None:
    rng = np.random.default_rng(0)
    weights = [rng.integers(-2, 3, (o, i, 3)).astype(np.float32) for i, o in pairwise(CHANNELS)]
    lines: list[str] = []
    for k, w in enumerate(weights):
        type, text = f"tensor<{w.shape[0]}x{w.shape[1]}x3xf32>", w.tobytes().hex().upper()
        lines.append(f"""%w{k} = relay.constant dense<"0x{text}"> : {type}
            %c{k} = relay.nn.conv1d(%x{k}, %w{k}) {{padding = [1, 1]}} : ({"!x" if k == 0 else "!u"}, {type}) -> !u
            %x{k + 1} = relay.nn.relu(%c{k}) : (!u) -> !u""")
    body = "\n".join(lines)
    text = f"""
    !x = tensor<?x{CHANNELS[0]}x?xf32, #relay.dims<b, n>>
    !u = !relay.incomplete
    func.func @main(%x0: !x) -> !u {{
      {body}
      func.return %x{len(weights)} : !u
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=threads, cache=False)
    names = [kernel.symbol for kernel in model.artifact.metadata.kernels]
    assert sum("conv" in name for name in names) == 1, names
    for n in (1, 5, 13, 30):
        x = rng.integers(-2, 3, (2, CHANNELS[0], n)).astype(np.float32)
        expected = x
        for w in weights:
            expected = convolved(expected, w)
        np.testing.assert_array_equal(model(x)[0], expected)


def test_products_of_parts_with_other_numbers_of_terms() -> None:
    rng = np.random.default_rng(0)
    sizes = (128, 192, 256, 320)
    inputs = [relay.var(f"x{k}", shape=(48, terms)) for k, terms in enumerate(sizes)]
    weights = [rng.integers(-9, 10, (96, terms)).astype(np.float32) for terms in sizes]
    products = relay.Tuple([relay.nn.dense(x, w) for x, w in zip(inputs, weights, strict=True)])
    model = xrelay.compile(relay.Module.from_expr(relay.Function(inputs, products)), threads=1, cache=False)
    data = [rng.integers(-9, 10, (48, terms)).astype(np.float32) for terms in sizes]
    for found, x, w in zip(model.run(data), data, weights, strict=True):
        np.testing.assert_array_equal(found, x @ w.T)
    names = [kernel.symbol for kernel in model.artifact.metadata.kernels]
    assert sum("dense_split" in name for name in names) == ("amx-bf16" in host_features()), names
