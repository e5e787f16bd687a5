"""Space to depth or batch and back, and dilated tensors: against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.one_op import applied

import xrelay
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]


def rising(*shape: int, dtype: str = "float32") -> Array:
    return np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(dtype)


@pytest.mark.grid(2)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(mode: str, layout: str) -> None:
    image = rising(2, 12, 3, 5)
    data = image if layout == "NCHW" else np.ascontiguousarray(image.transpose(0, 2, 3, 1))
    found = applied("nn.depth_to_space", data, block_size=2, mode=mode, layout=layout)
    found = found if layout == "NCHW" else found.transpose(0, 3, 1, 2)
    for k, i, j in ((0, 0, 0), (1, 1, 0), (2, 0, 1)):
        channel = (i * 2 + j) * 3 + k if mode == "DCR" else (k * 2 + i) * 2 + j
        np.testing.assert_array_equal(found[:, k, i::2, j::2], image[:, channel])


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_space_to_depth_is_undone(layout: str) -> None:
    shape = (2, 2, 6, 9) if layout == "NCHW" else (2, 6, 9, 2)
    data = rising(*shape, dtype="int8")
    deep = applied("nn.space_to_depth", data, block_size=3, layout=layout)
    np.testing.assert_array_equal(applied("nn.depth_to_space", deep, block_size=3, layout=layout), data, strict=True)
    if layout == "NCHW":
        np.testing.assert_array_equal(deep[:, (1 * 3 + 2) * 2 + 1], data[:, 1, 1::3, 2::3])


@pytest.mark.parametrize("dtype", ["float32", "int32", "float16"])
def test_space_to_batch(dtype: str) -> None:
    data = rising(2, 3, 5, 4, dtype=dtype)
    found = applied("nn.space_to_batch_nd", data, block_shape=(2, 3), paddings=((0, 1), (1, 0)), pad_value=-2.0)
    filled = np.pad(data, [(0, 0), (0, 1), (1, 0), (0, 0)], constant_values=-2)
    for i in range(2):
        for j in range(3):
            np.testing.assert_array_equal(found[(i * 3 + j) * 2 :][:2], filled[:, i::2, j::3])
    back = applied("nn.batch_to_space_nd", found, block_shape=(2, 3), crops=((0, 1), (1, 0)))
    np.testing.assert_array_equal(back, data, strict=True)


def test_batches_and_axes_without_elements() -> None:
    for shape in ((0, 4, 2), (2, 0, 2), (2, 4, 0)):
        data = np.zeros(shape, np.float32)
        found = applied("nn.space_to_batch_nd", data, block_shape=(2,), paddings=(0, 0))
        assert found.shape == (2 * shape[0], shape[1] // 2, shape[2])
        assert applied("nn.batch_to_space_nd", found, block_shape=(2,), crops=(0, 0)).shape == shape
    data = np.zeros((0, 4, 6, 2), np.float32)
    found = applied("nn.space_to_batch_nd", data, block_shape=(2, 3), paddings=((0, 0), (0, 0)))
    assert found.shape == (0, 2, 2, 2)
    assert applied("nn.depth_to_space", np.zeros((2, 0, 3, 3), np.float32), block_size=2).shape == (2, 0, 6, 6)


@pytest.mark.grid(2)
@pytest.mark.parametrize("strides", [(1, 1), (2, 1), (1, 3), (3, 2)])
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (0, 4)])
def test_dilate(shape: tuple[int, int], strides: tuple[int, int]) -> None:
    data = rising(*shape)
    found = applied("nn.dilate", data, strides=strides, dilation_value=7.0)
    wanted = np.full([max(0, (n - 1) * s + 1) for n, s in zip(shape, strides, strict=True)], 7, np.float32)
    wanted[:: strides[0], :: strides[1]] = data
    np.testing.assert_array_equal(found, wanted, strict=True)


NAMED = """
!x = tensor<?x8x?x?xf32, #relay.dims<n, h, 3 * w>>
func.func @main(%x: !x) -> (!relay.incomplete, !relay.incomplete) {
  %d = relay.nn.depth_to_space(%x) {block_size = 2} : (!x) -> !relay.incomplete
  %b = relay.nn.space_to_batch_nd(%d) {block_shape = [1, 2], paddings = [0, 0, 0, 0]}
    : (!relay.incomplete) -> !relay.incomplete
  %s = relay.nn.space_to_depth(%x) {block_size = 3} : (!x) -> !relay.incomplete
  %t = relay.nn.batch_to_space_nd(%b) {block_shape = [1, 2], crops = [0, 0, 0, 1]}
    : (!relay.incomplete) -> !relay.incomplete
  %e = relay.nn.dilate(%s) {strides = [1, 1, 2, 1]} : (!relay.incomplete) -> !relay.incomplete
  func.return %t, %e : !relay.incomplete, !relay.incomplete
}
"""


def test_sizes_that_the_run_tells() -> None:
    module = parse_module(full_context(), NAMED, "space.mlir")
    infer_types(module)
    native = xrelay.compile(module, cache=False)
    for n, h, w in ((1, 3, 1), (2, 6, 2), (0, 3, 1)):
        data = rising(n, 8, h, 3 * w)
        for found, wanted in zip(native.run([data]), run_relay(module, [data]), strict=True):
            np.testing.assert_array_equal(found, wanted, strict=True)
